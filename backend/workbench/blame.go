package workbench

import (
	"context"
	"errors"

	"atelier.dev/atelier/agent/blame"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/backend/authors"
)

// blame returns who wrote lines of a file.
func (w *Workbench) blame(ctx context.Context, in BlameRequest) (authors.BlameReply, error) {
	tree, err := w.worktreeOf(ctx, in.Session)
	if err != nil {
		return authors.BlameReply{}, err
	}
	return ofFolder(ctx, w, in.Session, func(ctx context.Context, f *changes.Folder) (authors.BlameReply, error) {
		path, data, err := f.Text(ctx, in.Path, blame.MaxSize)
		if err != nil {
			return authors.BlameReply{}, err
		}
		r := authors.Reader{Log: w.cfg.Store, Folder: w.cfg.Folder, Worktree: tree, Contents: w.journal.Objects().Contents}
		reply, err := r.File(ctx, authors.Query{Path: path, Present: data, From: in.From, To: in.To, Texts: in.Texts})
		if errors.Is(err, blame.ErrTooLarge) {
			return reply, &changes.Error{Kind: changes.TooLarge, Path: path, Err: err}
		}
		return reply, err
	})
}

// worktreeOf returns the worktree of a session below the project, with slashes; empty if
// it has none.
func (w *Workbench) worktreeOf(ctx context.Context, session string) (string, error) {
	if session == "" {
		return "", nil
	}
	info, err := w.session(ctx, session)
	if err != nil || info.Helper != nil {
		return "", err
	}
	return info.Worktree, nil
}

// BlameRequest is for files.blame. The file is in the worktree of the session, if it has
// one, else in the project. From and To count lines from 1; 0 leaves a side open.
type BlameRequest struct {
	Session string `json:"session,omitempty"`

	Path string `json:"path"`
	From int    `json:"from,omitempty"`
	To   int    `json:"to,omitempty"`
	// Texts asks for the lines themselves, too.
	Texts bool `json:"texts,omitempty"`
}
