package backend

// Problems of what a person has at hand: terminals, notes and keys.
const (
	ProblemTerminalGone   ProblemID = "terminal_gone"
	ProblemTerminalMany   ProblemID = "terminal_many" // how many there may be
	ProblemTerminalNone   ProblemID = "terminal_none"
	ProblemTerminalFailed ProblemID = "terminal_failed" // the shell's name
	ProblemTerminalDeaf   ProblemID = "terminal_deaf"

	ProblemMemoEmpty  ProblemID = "memo_empty"
	ProblemMemoLong   ProblemID = "memo_long"
	ProblemMemoFailed ProblemID = "memo_failed" // the path of the file

	ProblemKeysUnsaved ProblemID = "keys_unsaved" // the path of the file
)

var terminalProblems = map[ProblemID]problem{
	ProblemTerminalGone: {code: CodeNotFound, message: "This terminal is closed.", kept: keptAll, next: "Open a new one."},
	ProblemTerminalMany: {code: CodeBusy, message: "No more than {0} terminals can be open.", kept: keptAll, next: "Close one that you do not need."},
	ProblemTerminalNone: {code: CodeInvalid, message: "Atelier has no terminals on this system yet.", kept: keptAll, next: "Use the system's own terminal."},
	ProblemTerminalFailed: {
		code: CodeInvalid, message: "The shell {0} could not be started.", kept: keptAll,
		next: "Check the variable SHELL and the folder. The details have the system's words.",
	},
	ProblemTerminalDeaf: {
		code: CodeBusy, message: "The program in this terminal does not read what is typed.",
		kept: "It may have read a part of it.", next: "Wait for it, or press Ctrl+C there.",
	},
	ProblemMemoEmpty: {code: CodeInvalid, message: "There is nothing to remember.", kept: keptAll, next: "Write what agents should know."},
	ProblemMemoLong:  {code: CodeInvalid, message: "A note may have at most 4,000 bytes.", kept: keptAll, next: "Shorten it, or write it into the file yourself."},
	ProblemMemoFailed: {
		code: CodeInvalid, message: "The file {0} could not be used.", kept: keptAll,
		next: "Check that it is a text file that may be written. The details have the system's words.",
	},
	ProblemKeysUnsaved: {
		code: CodeInvalid, message: "The keys could not be saved in {0}.", kept: keptAll,
		next: "Repair the file, or remove it. The details say what is wrong with it.",
	},
}
