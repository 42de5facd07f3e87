package backend

// Problems of the list of sessions, and of what people say about them.
const (
	ProblemSessionID        ProblemID = "session_id"
	ProblemSessionAmbiguous ProblemID = "session_ambiguous"
	ProblemSessionDeleted   ProblemID = "session_deleted"
	ProblemAgentMarked      ProblemID = "agent_marked"
	ProblemSessionKept      ProblemID = "session_kept"
	ProblemTagsFull         ProblemID = "tags_full"
	ProblemTaskText         ProblemID = "task_text"
	ProblemTaskGone         ProblemID = "task_gone"
	ProblemTaskFinal        ProblemID = "task_final"
	ProblemTaskTaken        ProblemID = "task_taken"
	ProblemTaskCycle        ProblemID = "task_cycle"
	ProblemBoardFull        ProblemID = "board_full"
)

const keptBoard = "The board is as it was."

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
	ProblemTaskText:  {code: CodeInvalid, message: "A task needs a subject of at most 300 bytes, and a description of at most 8000.", kept: keptBoard, next: "Shorten it."},
	ProblemTaskGone:  {code: CodeNotFound, message: "{0} is no longer on the board.", kept: keptBoard, next: "Look at the board again."},
	ProblemTaskFinal: {code: CodeInvalid, message: "{0} has ended, and its status stays.", kept: keptBoard, next: "Add a new task instead."},
	ProblemTaskTaken: {code: CodeBusy, message: "An agent works on {0}.", kept: keptBoard, next: "Stop the agent first, or cancel the task."},
	ProblemTaskCycle: {code: CodeInvalid, message: "These tasks would wait for each other.", kept: keptBoard, next: "Choose another task to wait for."},
	ProblemBoardFull: {code: CodeInvalid, message: "The board has as many tasks as it can hold.", kept: keptBoard, next: "Delete some that have ended."},
	ProblemTagsFull:  {code: CodeInvalid, message: "A session has at most 20 tags.", kept: "It keeps its old tags.", next: "Remove some."},
}
