package workbench

import (
	"context"

	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/backend"
)

// putBack takes a change out of a file again. It needs no session at rest,
// because nothing is touched that is not as it was shown; an agent that knew
// the file finds it changed and reads it again.
func (w *Workbench) putBack(ctx context.Context, in PutBackRequest) (backend.Empty, error) {
	q, err := w.query(ctx, ChangesRequest{Session: in.Session, Scope: in.Scope, Base: in.Base})
	if err != nil {
		return backend.Empty{}, err
	}
	q.Staged = in.Staged
	return ofFolder(ctx, w, in.Session, func(ctx context.Context, f *changes.Folder) (backend.Empty, error) {
		done, err := f.PutBack(ctx, q, changes.Part{Path: in.Path, From: in.From, Hunk: in.Hunk, Seen: in.Seen})
		if err == nil && (in.Scope == changes.ScopeSession || in.Scope == changes.ScopeTurn) {
			w.wasPutBack(in.Session, done)
		}
		return backend.Empty{}, err
	})
}

func (w *Workbench) stage(ctx context.Context, in PathsRequest) (backend.Empty, error) {
	return ofFolder(ctx, w, in.Session, func(ctx context.Context, f *changes.Folder) (backend.Empty, error) {
		return backend.Empty{}, f.Stage(ctx, in.Paths)
	})
}

func (w *Workbench) unstage(ctx context.Context, in PathsRequest) (backend.Empty, error) {
	return ofFolder(ctx, w, in.Session, func(ctx context.Context, f *changes.Folder) (backend.Empty, error) {
		return backend.Empty{}, f.Unstage(ctx, in.Paths)
	})
}

func (w *Workbench) commit(ctx context.Context, in CommitRequest) (CommitReply, error) {
	return ofFolder(ctx, w, in.Session, func(ctx context.Context, f *changes.Folder) (CommitReply, error) {
		c, err := f.Commit(ctx, in.Message, in.Paths)
		return CommitReply{ID: c.ID, HooksSkipped: c.HooksSkipped, Unsigned: c.Unsigned}, err
	})
}

func (w *Workbench) newBranch(ctx context.Context, in BranchRequest) (backend.Empty, error) {
	return ofFolder(ctx, w, in.Session, func(ctx context.Context, f *changes.Folder) (backend.Empty, error) {
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
