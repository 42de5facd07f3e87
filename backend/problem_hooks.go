package backend

// Problems of hooks. The first argument names the hook or the file.
const (
	ProblemHookMissing      ProblemID = "hook_missing"
	ProblemHookEntry        ProblemID = "hook_entry"
	ProblemHookDraft        ProblemID = "hook_draft"
	ProblemHookScope        ProblemID = "hook_scope"
	ProblemHookInput        ProblemID = "hook_input"
	ProblemHooksUntrustable ProblemID = "hooks_untrustable"
	ProblemHookNotKept      ProblemID = "hook_not_kept"
	ProblemHookUntrusted    ProblemID = "hook_untrusted"
	ProblemHookUnwritten    ProblemID = "hook_unwritten"
	ProblemHooksFile        ProblemID = "hooks_file"
	ProblemHooksFileUnread  ProblemID = "hooks_file_unread"
)

const keptHooks = "The hooks were not changed."

var hookProblems = map[ProblemID]problem{
	ProblemHookMissing: {code: CodeNotFound, message: "This hook no longer exists.", kept: keptHooks, next: "Look at the list of hooks again."},
	ProblemHookEntry:   {code: CodeNotFound, message: "This entry is no longer in the log of hooks.", kept: keptAll},
	ProblemHookDraft:   {code: CodeInvalid, message: "The hook cannot run as it is written. {0}", kept: keptHooks},
	ProblemHookScope:   {code: CodeInvalid, message: "Hooks cannot be kept there.", kept: keptHooks},
	ProblemHooksUntrustable: {
		code: CodeInvalid, message: "Not all hooks could be trusted, because not everything that they would run can be checked.",
		kept: "Nothing was sent.", next: "Look at them with atelier hooks list. Without --trust-hooks, a run leaves them out.",
	},
	ProblemHookInput: {code: CodeInvalid, message: "The hook's input is not a JSON object with the members of its event.", kept: keptAll},
	ProblemHookNotKept: {
		code: CodeInvalid, message: "The log did not keep the whole input of this hook, so it cannot be run again with it.", kept: keptAll,
	},
	ProblemHookUntrusted: {
		code: CodeInvalid, message: "The hook {0} does not run before you trust it.",
		kept: keptAll, next: "Look at what it does and decide about it.",
	},
	ProblemHookUnwritten: {
		code: CodeFolder, message: "The hook could not be written to {0}.",
		kept: keptHooks, next: "Check that it is a file of JSON that you may write.",
	},
	ProblemHooksFile: {
		code: CodeInvalid, message: "{0} cannot be read from line {1} on, so its hooks do not run.",
		kept: "The file was not changed.", next: "Correct it.",
	},
	ProblemHooksFileUnread: {
		code: CodeInvalid, message: "{0} cannot be read, so its hooks do not run.",
		kept: "The file was not changed.", next: "Make it a file that you may read.",
	},
}
