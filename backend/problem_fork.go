package backend

// Problems of forks, of their worktrees, and of taking over what a branch changed.
const (
	ProblemForkPlace      ProblemID = "fork_place"
	ProblemForkFolder     ProblemID = "fork_folder"
	ProblemForkReadOnly   ProblemID = "fork_read_only"
	ProblemWorktreeUnmade ProblemID = "worktree_unmade"
	ProblemWorktreeGone   ProblemID = "worktree_gone"
	ProblemWorktreeKept   ProblemID = "worktree_kept"
	ProblemTakeReadOnly   ProblemID = "take_read_only"
	ProblemTakeStale      ProblemID = "take_stale"
	ProblemTakeConflict   ProblemID = "take_conflict"
	ProblemMergeNoTree    ProblemID = "merge_no_tree"
	ProblemMergeStale     ProblemID = "merge_stale"
	ProblemRaceRuns       ProblemID = "race_runs"
	ProblemStopUnreached  ProblemID = "stop_unreached"
	ProblemAsideQuestion  ProblemID = "aside_question"
	ProblemAsideFailed    ProblemID = "aside_failed"
)

var forkProblems = map[ProblemID]problem{
	ProblemForkPlace:  {code: CodeNotFound, message: "The session does not have this message.", kept: "Nothing was forked.", next: "Choose another message."},
	ProblemForkFolder: {code: CodeInvalid, message: "A fork cannot work in “{0}”.", next: "Choose its worktree, the project, or neither."},
	ProblemForkReadOnly: {
		code: CodeInvalid, message: "Nothing may be changed here, so a fork cannot have a worktree.", next: "Fork the session without a worktree.",
	},
	ProblemWorktreeUnmade: {
		code: CodeInternal, message: "The worktree could not be made.", kept: "Nothing was forked.", next: "See the details, or fork the session without a worktree.",
	},
	ProblemWorktreeKept: {
		code: CodeInternal, message: "The worktrees could not be read or removed.", kept: "Nothing was removed.", next: "See the details, or use git worktree list and git worktree remove.",
	},
	ProblemWorktreeGone: {
		code: CodeNotFound, message: "The worktree of this session, {0}, no longer exists.", kept: keptAll,
		next: "Fork the session into the project's folder to go on there, or bring the worktree back with git worktree add.",
	},
	ProblemTakeReadOnly: {code: CodeInvalid, message: "Nothing may be changed here, so nothing was taken over.", kept: keptAll},
	ProblemTakeStale:    {code: CodeInvalid, message: "{0} has changed since it was shown.", kept: keptAll, next: "Look at it again."},
	ProblemTakeConflict: {
		code: CodeInvalid, message: "{0} has since been changed at the same place, or cannot be written.", kept: keptAll, next: "Take other parts of it, or edit the file.",
	},
	ProblemMergeNoTree: {
		code: CodeInvalid, message: "There is no worktree of this run that could be merged here.", kept: keptAll, next: "See the details, and compare the runs again.",
	},
	ProblemMergeStale: {code: CodeInvalid, message: "A file has changed since it was shown.", kept: keptAll, next: "Look at the files again."},
	ProblemRaceRuns:   {code: CodeInvalid, message: "A race has two to four runs.", kept: "Nothing was started.", next: "Choose more models, or fewer."},
	ProblemStopUnreached: {
		code: CodeInternal, message: "Nothing that could stop the session runs for {0}.", kept: "It was not stopped.", next: "If a command line works on it, stop it there.",
	},
	ProblemAsideQuestion: {code: CodeInvalid, message: "A side question has 1 to 32,000 characters.", kept: keptAll, next: "Shorten it, or write it into a file."},
	ProblemAsideFailed:   {code: CodeInternal, message: "The side question was not answered.", kept: keptAll, next: "See the details, and ask again."},
	ProblemSessionTaken:  {code: CodeInvalid, message: "There is a session {0} already.", next: "Choose another id."},
}
