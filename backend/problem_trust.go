package backend

// Problems of trust. The first argument names the item.
const (
	ProblemTrustMissing ProblemID = "trust_missing"
	ProblemTrustChanged ProblemID = "trust_changed"
	ProblemTrustBlocked ProblemID = "trust_blocked"
)

const keptTrust = "Nothing was accepted, and it does not run."

var trustProblems = map[ProblemID]problem{
	ProblemTrustMissing: {code: CodeNotFound, message: "This is no longer in the project's files.", kept: "Nothing was changed.", next: "Look at the list again."},
	ProblemTrustChanged: {code: CodeBusy, message: "{0} has changed since it was shown.", kept: keptTrust, next: "Look at it again, then decide."},
	ProblemTrustBlocked: {
		code: CodeInvalid, message: "{0} cannot be trusted, because not everything that it runs can be checked.",
		kept: keptTrust, next: "Read the notes beside it.",
	},
}
