package backend

// Problems of undoing.
const (
	ProblemUndoNothing    ProblemID = "undo_nothing"
	ProblemRedoNothing    ProblemID = "redo_nothing"
	ProblemUndoStale      ProblemID = "undo_stale"
	ProblemUndoWorking    ProblemID = "undo_working"
	ProblemUndoUnsaved    ProblemID = "undo_unsaved"
	ProblemRewindNothing  ProblemID = "rewind_nothing"
	ProblemRewindFollowed ProblemID = "rewind_followed"

	// Problems of what a person decides about a context.
	ProblemContextItem    ProblemID = "context_item"
	ProblemPreviewBudget  ProblemID = "preview_budget"
	ProblemSummaryInvalid ProblemID = "summary_invalid"
	ProblemCompactionGone ProblemID = "compaction_gone"
)

const keptFiles = "No file was changed."

var undoProblems = map[ProblemID]problem{
	ProblemUndoNothing: {code: CodeNotFound, message: "There is nothing to undo: no file was changed there, or it was undone already.", kept: keptFiles},
	ProblemRedoNothing: {code: CodeNotFound, message: "There is nothing to redo: nothing was undone, or it was brought back already.", kept: keptFiles},
	ProblemUndoStale: {
		code: CodeBusy, message: "A file has changed since it was shown.",
		kept: keptFiles, next: "Look at the files again, then decide.",
	},
	ProblemUndoWorking: {
		code: CodeBusy, message: "This session, or an agent that it started, is working.",
		kept: "Nothing was undone.", next: "Wait until it is done, or stop it.",
	},
	ProblemUndoUnsaved: {
		code: CodeStoreFailed, message: "The record of what was undone could not be saved.",
		kept: "The old and the new contents of the files are kept.", next: "Check that the disk is not full, then open the session again.",
	},
	ProblemRewindNothing: {code: CodeNotFound, message: "There is no such message to go back to.", kept: "The conversation was not changed."},
	ProblemRewindFollowed: {
		code: CodeInvalid, message: "This cannot be brought back any more, because the conversation went on.",
		kept: "The conversation was not changed.", next: "Its text can still be shown and copied.",
	},
	ProblemContextItem: {
		code: CodeNotFound, message: "This is not in the context any more, or it cannot be pinned or taken out.",
		kept: "The context was not changed.", next: "Look at the list again: a compaction may have replaced it.",
	},
	ProblemPreviewBudget: {
		code: CodeInvalid, message: "The rest of the session's budget does not cover a summary.",
		kept: "The conversation was not changed.", next: "Raise the budget, or take items out instead.",
	},
	ProblemSummaryInvalid: {
		code: CodeInvalid, message: "The summary is empty or longer than 48 KB.",
		kept: "The conversation was not changed.", next: "Write what the model needs to go on.",
	},
	ProblemCompactionGone: {code: CodeNotFound, message: "This compaction was undone already.", kept: "The conversation was not changed."},
}
