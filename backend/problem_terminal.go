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

// Problems of external agents.
const (
	ProblemExternalUnnamed ProblemID = "external_unnamed" // the greatest length
	ProblemExternalCommand ProblemID = "external_command"
	ProblemExternalEnv     ProblemID = "external_env" // the name
	ProblemExternalFull    ProblemID = "external_full"
	ProblemExternalGone    ProblemID = "external_gone"
	ProblemExternalFailed  ProblemID = "external_failed" // its name
)

var externalProblems = map[ProblemID]problem{
	ProblemExternalUnnamed: {code: CodeInvalid, message: "An external agent needs a name of at most {0} characters.", kept: keptAll},
	ProblemExternalCommand: {
		code: CodeInvalid, message: "The command is not a program with its arguments.", kept: keptAll, next: "Enter it as in a terminal, such as goose acp.",
	},
	ProblemExternalEnv:    {code: CodeInvalid, message: "“{0}” is not the name of a variable.", kept: keptAll, next: "Enter names alone, such as ANTHROPIC_API_KEY."},
	ProblemExternalFull:   {code: CodeInvalid, message: "No more than {0} external agents can be added.", kept: keptAll, next: "Remove one that you do not need."},
	ProblemExternalGone:   {code: CodeNotFound, message: "This external agent no longer exists.", kept: keptAll, next: "Add it again."},
	ProblemExternalFailed: {code: CodeInternal, message: "{0} could not be started.", kept: keptAll, next: "See the details. Try its command in a terminal, and log in there if it asks for it."},
}
