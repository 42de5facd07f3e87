package backend

// Problems of the search over all sessions; the second has the path of its index.
const (
	ProblemSearchMissing ProblemID = "search_missing"
	ProblemSearchFailed  ProblemID = "search_failed"
)

var searchProblems = map[ProblemID]problem{
	ProblemSearchMissing: {code: CodeNotFound, message: "This program was built without full-text search.", kept: keptAll, next: "Build it with scripts/build.sh, or use the tag sqlite_fts5."},
	ProblemSearchFailed: {
		code: CodeStoreFailed, message: "Atelier could not search the sessions.",
		kept: keptAll, next: "Check that the disk is not full and that you may write {0}; it is only an index and may be deleted.",
	},
}
