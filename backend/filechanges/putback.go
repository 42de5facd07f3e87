package filechanges

import (
	"context"
	"path/filepath"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/undoing"
)

// putBack takes a change out of a file again. It needs no session at rest,
// because nothing is touched that is not as it was shown; an agent that knew
// the file finds it changed and reads it again.
func (c *Changes) putBack(ctx context.Context, in PutBackRequest) (backend.Empty, error) {
	q, err := c.query(ctx, ChangesRequest{Session: in.Session, Scope: in.Scope, Base: in.Base})
	if err != nil {
		return backend.Empty{}, err
	}
	q.Staged = in.Staged
	return inFolder(ctx, c, in.Session, func(ctx context.Context, f *changes.Folder) (backend.Empty, error) {
		return backend.Empty{}, c.reverted(ctx, in, func() error {
			return f.PutBack(ctx, q, changes.Part{Path: in.Path, From: in.From, Hunk: in.Hunk, Seen: in.Seen})
		})
	})
}

// reverted takes a change out with do, and records it as an event of the session, so that
// it can itself be undone. Files outside the session's folder are not its own.
func (c *Changes) reverted(ctx context.Context, in PutBackRequest, do func() error) error {
	if in.Session == "" || c.cfg.ReadOnly {
		return do()
	}
	began := false
	revert := func(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) error {
		began = true
		return c.revert(ctx, info, in, do, record)
	}
	err := c.cfg.Undo.Exclusively(ctx, in.Session, revert)
	if began || err == nil || backend.AsError(err).Code != backend.CodeBusy {
		return err
	}
	info, err := c.cfg.Project.Session(ctx, in.Session)
	if err != nil {
		return err
	}
	edits, err := c.cfg.Undo.Logs().Edits(ctx, info)
	if err != nil {
		return err
	}
	return revert(ctx, info, func(p agent.Payload) error {
		return c.cfg.Publish(context.WithoutCancel(ctx), info.ID, edits.Turn, p)
	})
}

// revert does the work of reverted.
func (c *Changes) revert(ctx context.Context, info backend.SessionInfo, in PutBackRequest, do func() error, record func(agent.Payload) error) error {
	var records []agent.FileRecord
	var paths []string
	for _, path := range []string{in.Path, in.From} {
		name := filepath.Join(c.cfg.Project.Bounds(info), filepath.FromSlash(changes.Unquote(path)))
		rel, err := filepath.Rel(c.cfg.Project.Folder(info), name)
		switch {
		case path == "":
		case err != nil || !filepath.IsLocal(rel):
			return do()
		default:
			paths = append(paths, changes.Quote(filepath.ToSlash(rel)))
			records = append(records, agent.FileRecord{Path: paths[len(paths)-1]})
		}
	}
	folder, done, err := c.cfg.Undo.Files(info)
	if err != nil {
		return err
	}
	defer done()
	var changed agent.FilesChanged
	c.cfg.Journal.Apart(ctx, c.cfg.Project.Folder(info), records, func() { changed, err = folder.Recorded(ctx, paths, do) })
	if err != nil || len(changed.Files) == 0 {
		return err
	}
	return record(agent.FilesRestored{ID: undoing.NewID(), Reverted: true, FilesChanged: changed})
}

func (c *Changes) stage(ctx context.Context, in PathsRequest) (backend.Empty, error) {
	return inFolder(ctx, c, in.Session, func(ctx context.Context, f *changes.Folder) (backend.Empty, error) {
		return backend.Empty{}, f.Stage(ctx, in.Paths)
	})
}

func (c *Changes) unstage(ctx context.Context, in PathsRequest) (backend.Empty, error) {
	return inFolder(ctx, c, in.Session, func(ctx context.Context, f *changes.Folder) (backend.Empty, error) {
		return backend.Empty{}, f.Unstage(ctx, in.Paths)
	})
}

func (c *Changes) commit(ctx context.Context, in CommitRequest) (CommitReply, error) {
	return inFolder(ctx, c, in.Session, func(ctx context.Context, f *changes.Folder) (CommitReply, error) {
		made, err := f.Commit(ctx, in.Message, in.Paths)
		return CommitReply{ID: made.ID, HooksSkipped: made.HooksSkipped, Unsigned: made.Unsigned}, err
	})
}

func (c *Changes) newBranch(ctx context.Context, in BranchRequest) (backend.Empty, error) {
	return inFolder(ctx, c, in.Session, func(ctx context.Context, f *changes.Folder) (backend.Empty, error) {
		return backend.Empty{}, f.Branch(ctx, in.Name)
	})
}

// PutBackRequest is for changes.put_back.
type PutBackRequest struct {
	Session string              `json:"session,omitempty"`
	Scope   changes.ChangeScope `json:"scope"`
	Base    string              `json:"base,omitempty"`
	Path    string              `json:"path"`
	From    string              `json:"from,omitempty"`   // of a renamed file
	Staged  changes.Staged      `json:"staged,omitempty"` // of uncommitted changes
	// Hunk is a hunk of the diff as it was shown, with its line of @@; empty
	// means the whole file, for which Seen must be that of the shown diff.
	Hunk string `json:"hunk,omitempty"`
	Seen string `json:"seen,omitempty"`
}

// PathsRequest is for changes.stage and changes.unstage. Of a renamed file both
// paths are meant.
type PathsRequest struct {
	Session string   `json:"session,omitempty"`
	Paths   []string `json:"paths,omitempty"`
}

// CommitRequest is for changes.commit: what is staged, or these files as they
// are now.
type CommitRequest struct {
	Session string   `json:"session,omitempty"`
	Message string   `json:"message"`
	Paths   []string `json:"paths,omitempty"`
}

// CommitReply answers changes.commit.
type CommitReply struct {
	ID string `json:"id"` // shortened
	// HooksSkipped names the repository's hooks that did not run, because they
	// are programs that it brings along.
	HooksSkipped []string `json:"hooks_skipped,omitempty"`
	// Unsigned says that git is configured to sign commits, and that this one
	// is not signed.
	Unsigned bool `json:"unsigned,omitempty"`
}

// BranchRequest is for changes.branch, which makes a branch and switches to it.
type BranchRequest struct {
	Session string `json:"session,omitempty"`
	Name    string `json:"name"`
}
