package backend

// Problems of the list of sessions, and of what people say about them.
const (
	ProblemSessionID        ProblemID = "session_id"
	ProblemSessionAmbiguous ProblemID = "session_ambiguous"
	ProblemSessionDeleted   ProblemID = "session_deleted"
	ProblemAgentMarked      ProblemID = "agent_marked"
	ProblemSessionKept      ProblemID = "session_kept"
	ProblemTagsFull         ProblemID = "tags_full"
)

var sessionProblems = map[ProblemID]problem{
	ProblemSessionID: {
		code: CodeInvalid, message: "This is not the id of a session.",
		next: "An id has at most 128 bytes, and no slash, backslash, two dots or control character.",
	},
	ProblemSessionAmbiguous: {code: CodeInvalid, message: "Several sessions have ids that begin with {0}.", next: "Give more of the id."},
	ProblemSessionDeleted:   {code: CodeInvalid, message: "This session was deleted.", kept: keptAll, next: "Restore it to go on with it."},
	ProblemAgentMarked: {
		code: CodeInvalid, message: "An agent has no tags, and is not pinned, archived or deleted by itself.",
		next: "Do so with the session that started it.",
	},
	ProblemSessionKept: {
		code: CodeInvalid, message: "Only a deleted session can be removed for good.", kept: keptAll,
		next: "Delete it first: atelier sessions delete.",
	},
	ProblemTagsFull: {code: CodeInvalid, message: "A session has at most 20 tags.", kept: "It keeps its old tags.", next: "Remove some."},
}
