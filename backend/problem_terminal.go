package backend

// Problems of the user's terminals.
const (
	ProblemTerminalGone   ProblemID = "terminal_gone"
	ProblemTerminalMany   ProblemID = "terminal_many" // how many there may be
	ProblemTerminalNone   ProblemID = "terminal_none"
	ProblemTerminalFailed ProblemID = "terminal_failed" // the shell's name
	ProblemTerminalDeaf   ProblemID = "terminal_deaf"
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
}
