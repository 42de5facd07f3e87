package changes

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

// The limits of an answer. Items beyond a limit are counted, not shown.
const (
	MaxFiles     = 5000
	MaxDiff      = 1 << 20 // bytes of a diff
	MaxDiffLines = 20_000
	MaxLines     = 500 // lines in an answer of Lines
	MaxBranches  = 200
)

// ChangeScope selects which changes are meant.
type ChangeScope string

// The scopes. The first two are edits of a session, the others are git's.
const (
	ScopeSession     ChangeScope = "session"     // all edits of the session's tools
	ScopeTurn        ChangeScope = "turn"        // those of its last turn
	ScopeUncommitted ChangeScope = "uncommitted" // the working tree against HEAD
	ScopeBranch      ChangeScope = "branch"      // the working tree against where the branch left its base
)

// FileState says what happened to a file.
type FileState string

// The states of a file.
const (
	Added      FileState = "added"
	Modified   FileState = "modified"
	Deleted    FileState = "deleted"
	Renamed    FileState = "renamed"
	Untracked  FileState = "untracked"
	Conflicted FileState = "conflicted"
	Link       FileState = "link"      // a symbolic link was added or changed
	Submodule  FileState = "submodule" // a repository within the repository
)

// ModeChange says how the permission to execute a file changed, the only one that
// git keeps.
type ModeChange string

// The changes of a mode.
const (
	ModeKept       ModeChange = ""
	MadeExecutable ModeChange = "executable"
	MadePlain      ModeChange = "plain"
)

// Staged says whether a change is in git's index, so that it will be committed. A file of
// which only a part is staged has two changes.
type Staged string

// The two groups.
const (
	StagedNone Staged = "none" // from the index to the working tree
	StagedAll  Staged = "all"  // from the last commit to the index
)

// GitState says whether git can answer here.
type GitState string

// The answers.
const (
	GitReady   GitState = "ready"
	GitNone    GitState = "none"    // the folder is not in a repository
	GitMissing GitState = "missing" // the program is not installed
	GitRefused GitState = "refused" // git does not open the repository
)

// GitOperation is an operation of git that waits to be finished.
type GitOperation string

// The operations.
const (
	Merging       GitOperation = "merge"
	Rebasing      GitOperation = "rebase"
	CherryPicking GitOperation = "cherry-pick"
	Reverting     GitOperation = "revert"
	Applying      GitOperation = "am"
	Bisecting     GitOperation = "bisect"
)

// File is one changed file. Paths are relative to the folder, with slashes; see
// [Quote] for names that are not UTF-8. A file outside the folder, which only a
// session's edits can name, has an absolute path.
type File struct {
	Path    string
	From    string // the old path of a renamed file
	State   FileState
	Added   int
	Removed int
	Binary  bool
	Large   bool // too large to compare, so that the lines are not counted
	Staged  Staged
}

// Listing is what changed.
type Listing struct {
	Git    GitState
	Why    string // what git said if it refused
	Branch string // empty if HEAD is detached
	Base   string // of [ScopeBranch]
	Bases  []string
	State  GitOperation
	Files  []File
	More   int // files beyond [MaxFiles]
	// Added and Removed include the files that are not listed. Uncounted says that the
	// lines of some files are not in them.
	Added, Removed int
	Uncounted      bool
	// Commit is what is staged.
	Commit Sums
}

// Sums adds up changes.
type Sums struct{ Files, Added, Removed int }

// Diff is the change of one file.
type Diff struct {
	Path string
	// Diff is unified, without file headers, like that of [agent.FileChange].
	Diff           string
	Added, Removed int
	Mode           ModeChange
	Binary         bool
	Large          bool // beyond [MaxDiff] or [MaxDiffLines]
	Vanished       bool // the file was there a moment ago
	// Seen identifies the file's present content for [Folder.PutBack].
	Seen string
	// Edits are a session's edits of the file, one after another, if they do
	// not add up to one difference from the present content.
	Edits []agent.FileChange
}

// Query selects changes.
type Query struct {
	Scope ChangeScope
	Base  string // of [ScopeBranch]; empty means a guess
	// Staged is a group of [ScopeUncommitted], for one of its files; empty means the
	// working tree against the last commit.
	Staged Staged
	// Edits, of [ScopeSession] and [ScopeTurn], are in order. More counts those that
	// are not known one by one.
	Edits []Edit
	More  int
}

// Edit is one change that a session's tool made, or that the user took back.
type Edit struct {
	agent.FileChange
	ByUser bool
	// Unshown says that the contents before or after are not known, too large or
	// not text; Binary that they are not text.
	Unshown, Binary bool
}

// OfRecord describes what a step did to a file, such as a command, of which the
// contents before and after are kept. Contents returns those of a version.
func OfRecord(r agent.FileRecord, contents func(agent.FileVersion) ([]byte, error)) Edit {
	created, deleted := !r.Before.Exists(), !r.After.Exists()
	e := Edit{FileChange: agent.FileChange{Path: filepath.FromSlash(Unquote(r.Path)), Created: created, Deleted: deleted}}
	before, err := contents(r.Before)
	after, other := contents(r.After)
	if err != nil || other != nil {
		e.Unshown = true
		return e
	}
	e.FileChange = change(Unquote(r.Path), string(before), string(after), created, deleted)
	e.Unshown = e.Diff == "" && !bytes.Equal(before, after)
	e.Binary = isBinary(before) || isBinary(after)
	return e
}

// Shape says how a diff is drawn.
type Shape struct {
	IgnoreSpace bool
	Context     int // lines around a change; 0 means 3
}

// Folder is a working folder. It is safe for concurrent use.
type Folder struct {
	env  env.Environment
	tree env.Tree // nil if nothing can be written
	// counting is how long the lines of untracked files are counted.
	counting time.Duration
}

// Of returns the working folder of an environment.
func Of(e env.Environment) *Folder {
	tree, _ := e.(env.Tree)
	return &Folder{env: e, tree: tree, counting: countTime}
}

// List returns what changed. Without git, the edits of a session are still
// listed, and the answer says why there is no git.
func (f *Folder) List(ctx context.Context, q Query) (Listing, error) {
	r, err := f.open(ctx)
	l := Listing{Git: GitReady}
	var problem *Error
	switch {
	case err == nil:
		l.State = r.progress(ctx)
	case errors.As(err, &problem) && problem.absent() != "":
		l.Git, l.Why, err = problem.absent(), problem.Detail, nil
	default:
		return l, err
	}
	switch {
	case q.Scope == ScopeSession || q.Scope == ScopeTurn:
		if r != nil {
			l.Branch = r.branch(ctx)
		}
		f.listEdits(ctx, q.Edits, &l)
		l.More += q.More
	case r == nil:
	default:
		err = r.list(ctx, q, &l)
	}
	if ctx.Err() != nil {
		return l, context.Cause(ctx)
	}
	slices.SortStableFunc(l.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return l, err
}

// Diff returns the change of one file. from is its old path if it was renamed.
func (f *Folder) Diff(ctx context.Context, q Query, name, from string, shape Shape) (Diff, error) {
	if q.Scope == ScopeSession || q.Scope == ScopeTurn {
		return f.diffEdits(ctx, q.Edits, name, shape)
	}
	name, err := f.inside(name)
	if err != nil {
		return Diff{}, err
	}
	if from != "" {
		if from, err = f.inside(from); err != nil {
			return Diff{}, err
		}
	}
	r, err := f.open(ctx)
	if err != nil {
		return Diff{}, err
	}
	return r.diff(ctx, q, name, from, shape)
}

// Lines returns lines from and to of a text file, counted from 1, and how many
// lines it has; at most [MaxLines].
func (f *Folder) Lines(ctx context.Context, name string, from, to int) (lines []string, total int, err error) {
	name, err = f.inside(name)
	if err != nil {
		return nil, 0, err
	}
	from = max(from, 1)
	page, err := f.env.ReadLines(ctx, name, from, min(max(to-from+1, 0), MaxLines))
	if err != nil {
		return nil, 0, f.unreadable(name, err)
	}
	return page.Lines, page.Total, nil
}

// inside returns the name of a file in the folder, as the environment takes it,
// for a path as lists show it.
func (f *Folder) inside(shown string) (string, error) {
	name := Unquote(shown)
	if !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) == "." || strings.ContainsRune(name, 0) {
		return "", &Error{Kind: Outside, Path: shown}
	}
	name = path.Clean(name)
	for part := range strings.SplitSeq(strings.ToLower(name), "/") {
		// Its contents belong to git, and could make git run programs. Windows
		// ignores dots and spaces at the end, and knows short names and streams.
		part, _, _ = strings.Cut(part, ":")
		if part = strings.TrimRight(part, ". "); part == ".git" || part == "git~1" {
			return "", &Error{Kind: Outside, Path: shown}
		}
	}
	return name, nil
}

// unreadable returns the error of a file that cannot be read.
func (f *Folder) unreadable(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &Error{Kind: Vanished, Path: Quote(name), Err: err}
	}
	return &Error{Kind: Unreadable, Path: Quote(name), Detail: err.Error(), Err: err}
}
