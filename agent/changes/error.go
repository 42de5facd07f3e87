package changes

import "strings"

// Refusal names a reason why an answer was refused.
type Refusal string

// The reasons. Nothing was changed if one is returned.
const (
	NoGit         Refusal = "no_git"         // git is not installed
	NoRepository  Refusal = "no_repository"  // the folder is not in a repository
	Refused       Refusal = "refused"        // git failed; Detail is what it said
	Outside       Refusal = "outside"        // the path leaves the folder, or is git's own
	Vanished      Refusal = "vanished"       // the file is no longer there
	Unreadable    Refusal = "unreadable"     // the file cannot be read; Detail says why
	NoText        Refusal = "no_text"        // the file is binary
	TooLarge      Refusal = "too_large"      // the file or its change is too large for this
	Changed       Refusal = "changed"        // the file is not what was shown
	Ambiguous     Refusal = "ambiguous"      // the lines stand in several places
	Occupied      Refusal = "occupied"       // something stands where a file would be restored
	NotText       Refusal = "not_text"       // the lines are not UTF-8, so they are not known exactly
	NotPossible   Refusal = "not_possible"   // this kind of change cannot be put back
	NotWritten    Refusal = "not_written"    // writing failed; Detail says why
	ReadOnly      Refusal = "read_only"      // nothing may be written here
	HunkInvalid   Refusal = "hunk_invalid"   // the text is not a hunk of a diff
	BaseUnknown   Refusal = "base_unknown"   // Path names the branch
	BaseUnrelated Refusal = "base_unrelated" // no commit is common with the branch in Path
	Filtered      Refusal = "filtered"       // a program of the repository would have to run; Path is the file
	InProgress    Refusal = "in_progress"    // Path is the [GitOperation]
	NothingStaged Refusal = "nothing_staged"
	StagedOutside Refusal = "staged_outside" // files outside the folder are staged
	Conflicts     Refusal = "conflicts"      // files have conflicts
	NoIdentity    Refusal = "no_identity"    // git does not know the user's name
	NoMessage     Refusal = "no_message"     // the commit's message is empty or too long
	BranchInvalid Refusal = "branch_invalid" // Path is the name
	BranchExists  Refusal = "branch_exists"  // Path is the name
	Locked        Refusal = "locked"         // another git works on the repository
)

// Error is a refusal.
type Error struct {
	Kind   Refusal
	Path   string // what it is about
	Detail string
	Err    error // may be nil
}

// Error implements the error interface.
func (e *Error) Error() string {
	return strings.TrimSpace("changes: " + strings.Join([]string{string(e.Kind), e.Path, e.Detail}, " "))
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// absent says which [GitState] an error of opening a repository stands for; empty if
// for none.
func (e *Error) absent() GitState {
	switch e.Kind {
	case NoGit:
		return GitMissing
	case NoRepository:
		return GitNone
	case Refused:
		return GitRefused
	}
	return ""
}
