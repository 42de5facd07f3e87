package filechanges

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/backend"
)

// maxTime limits how long one answer about changes may take.
const maxTime = 20 * time.Second

// errSlow answers a request that took too long.
var errSlow = backend.Problem(backend.ProblemChangesSlow, strconv.Itoa(int(maxTime/time.Second)))

// inFolder answers a request about the changes in the project, or in the worktree of a
// session that has one, in limited time.
func inFolder[Out any](ctx context.Context, c *Changes, session string, answer func(context.Context, *changes.Folder) (Out, error)) (Out, error) {
	var none Out
	folder := c.cfg.Project.Dir
	if session != "" {
		info, err := c.cfg.Project.Session(ctx, session)
		if err == nil {
			err = c.cfg.Project.CheckTree(info)
		}
		if err != nil {
			return none, err
		}
		folder = c.cfg.Project.Bounds(info)
	}
	local, err := env.NewLocal(folder)
	if err != nil {
		return none, backend.Problem(backend.ProblemFolderUnread, folder).Because(err)
	}
	defer func() { _ = local.Cleanup(context.WithoutCancel(ctx)) }()
	where := env.Environment(local)
	if c.cfg.ReadOnly {
		where = env.ReadOnly(local)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, errSlow)
	defer cancel()
	out, err := answer(ctx, changes.Of(where))
	if err != nil {
		return none, problem(err)
	}
	return out, nil
}

// problem returns the problem that stands for a refusal.
func problem(err error) error {
	var refused *changes.Error
	if !errors.As(err, &refused) {
		return err
	}
	p := backend.Problem(backend.ProblemID("changes_"+string(refused.Kind)), refused.Path)
	return p.Because(refused).Detailed(refused.Detail)
}

func (c *Changes) list(ctx context.Context, in ChangesRequest) (ChangesReply, error) {
	q, err := c.query(ctx, in)
	if err != nil {
		return ChangesReply{}, err
	}
	return inFolder(ctx, c, in.Session, func(ctx context.Context, f *changes.Folder) (ChangesReply, error) {
		l, err := f.List(ctx, q)
		if err != nil {
			return ChangesReply{}, err
		}
		reply := ChangesReply{
			Scope: in.Scope, Git: l.Git, Why: l.Why, Branch: l.Branch, Base: l.Base, Bases: l.Bases, State: l.State,
			ChangesTotals: ChangesTotals{l.More, l.Added, l.Removed, l.Uncounted, ChangesSums(l.Commit)},
		}
		for _, file := range l.Files {
			reply.Files = append(reply.Files, ChangedFile{
				Path: file.Path, From: file.From, State: file.State, Added: file.Added, Removed: file.Removed,
				Binary: file.Binary, Large: file.Large, Staged: cmp.Or(file.Staged, changes.StagedNone),
			})
		}
		return reply, nil
	})
}

func (c *Changes) diff(ctx context.Context, in DiffRequest) (DiffReply, error) {
	q, err := c.query(ctx, ChangesRequest{Session: in.Session, Scope: in.Scope, Base: in.Base})
	if err != nil {
		return DiffReply{}, err
	}
	q.Staged = in.Staged
	shape := changes.Shape{IgnoreSpace: in.Whitespace == IgnoreWhitespace, Context: in.Context}
	return inFolder(ctx, c, in.Session, func(ctx context.Context, f *changes.Folder) (DiffReply, error) {
		d, err := f.Diff(ctx, q, in.Path, in.From, shape)
		return DiffReply{
			Path: d.Path, Diff: d.Diff, Added: d.Added, Removed: d.Removed, Mode: d.Mode, Binary: d.Binary, Large: d.Large,
			Vanished: d.Vanished, Seen: d.Seen, Edits: d.Edits,
		}, err
	})
}

// Material returns what a commit would have, as a text of at most limit bytes for a model.
func (c *Changes) Material(ctx context.Context, session string, limit int) (string, error) {
	return inFolder(ctx, c, session, func(ctx context.Context, f *changes.Folder) (string, error) { return f.Material(ctx, limit) })
}

func (c *Changes) lines(ctx context.Context, in LinesRequest) (LinesReply, error) {
	return inFolder(ctx, c, in.Session, func(ctx context.Context, f *changes.Folder) (LinesReply, error) {
		lines, total, err := f.Lines(ctx, in.Path, in.From, in.To)
		return LinesReply{Lines: lines, Total: total}, err
	})
}

// ChangesRequest is for changes.list. The scopes of a session need one; the others are
// those of its worktree, if it has one.
type ChangesRequest struct {
	Session string              `json:"session,omitempty"`
	Scope   changes.ChangeScope `json:"scope"`
	Base    string              `json:"base,omitempty"` // of the branch; empty means a guess
}

// ChangesReply answers changes.list, ordered by path.
type ChangesReply struct {
	Scope  changes.ChangeScope  `json:"scope"`
	Git    changes.GitState     `json:"git"`
	Why    string               `json:"why,omitempty"`    // what git said if it refused
	Branch string               `json:"branch,omitempty"` // empty if HEAD is detached
	Base   string               `json:"base,omitempty"`
	Bases  []string             `json:"bases,omitempty"` // what Base can be, the newest first
	State  changes.GitOperation `json:"state,omitempty"` // what git is in the middle of
	Files  []ChangedFile        `json:"files,omitempty"`
	ChangesTotals
}

// ChangesTotals adds up what changed.
type ChangesTotals struct {
	More    int `json:"more,omitempty"` // files that are not listed
	Added   int `json:"added"`          // includes files that are not listed, if git knows them
	Removed int `json:"removed"`
	// Uncounted says that the lines of some files are not in Added.
	Uncounted bool `json:"uncounted,omitempty"`
	// Commit is what is staged.
	Commit ChangesSums `json:"commit"`
}

// ChangesSums adds up changes.
type ChangesSums struct {
	Files   int `json:"files"`
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// ChangedFile is one file of a ChangesReply. Its paths go back unchanged in
// requests about it: a name that is not UTF-8 stands in quotation marks, with
// escapes.
type ChangedFile struct {
	Path    string            `json:"path"`
	From    string            `json:"from,omitempty"` // the old path of a renamed file
	State   changes.FileState `json:"state"`
	Added   int               `json:"added"`
	Removed int               `json:"removed"`
	Binary  bool              `json:"binary,omitempty"`
	Large   bool              `json:"large,omitempty"` // the lines are not counted
	Staged  changes.Staged    `json:"staged"`
}

// Whitespace says whether differences in spaces are shown.
type Whitespace string

// The choices.
const (
	ShowWhitespace   Whitespace = ""
	IgnoreWhitespace Whitespace = "ignore"
)

// DiffRequest is for changes.diff.
type DiffRequest struct {
	Session    string              `json:"session,omitempty"`
	Scope      changes.ChangeScope `json:"scope"`
	Base       string              `json:"base,omitempty"`
	Path       string              `json:"path"`
	From       string              `json:"from,omitempty"`
	Staged     changes.Staged      `json:"staged,omitempty"` // of uncommitted changes
	Whitespace Whitespace          `json:"whitespace,omitempty"`
	Context    int                 `json:"context,omitempty"` // lines around each change; 0 means 3
}

// DiffReply answers changes.diff.
type DiffReply struct {
	Path    string `json:"path"`
	Diff    string `json:"diff"` // without file headers; empty if Binary, Large or Edits is set
	Added   int    `json:"added"`
	Removed int    `json:"removed"`

	Mode     changes.ModeChange `json:"mode,omitempty"` // of the scopes of git
	Binary   bool               `json:"binary,omitempty"`
	Large    bool               `json:"large,omitempty"`
	Vanished bool               `json:"vanished,omitempty"`

	// Seen goes back in changes.put_back of the whole file; empty if the file is
	// too large for that.
	Seen string `json:"seen,omitempty"`
	// Edits are a session's edits one after another, if they do not add up to
	// one difference from the file as it is now.
	Edits []agent.FileChange `json:"edits,omitempty"`
}

// LinesRequest is for changes.lines: From and To count from 1, and at most 500
// lines are returned.
type LinesRequest struct {
	Session string `json:"session,omitempty"`
	Path    string `json:"path"`
	From    int    `json:"from"`
	To      int    `json:"to"`
}

// LinesReply answers changes.lines. Total is -1 if the file is too large to
// count.
type LinesReply struct {
	Lines []string `json:"lines,omitempty"`
	Total int      `json:"total"`
}
