package filechanges

import (
	"context"
	"errors"

	"atelier.dev/atelier/agent/blame"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/backend/authors"
)

// blame returns who wrote lines of a file.
func (c *Changes) blame(ctx context.Context, in BlameRequest) (authors.BlameReply, error) {
	tree, err := c.cfg.Project.WorktreeOf(ctx, in.Session)
	if err != nil {
		return authors.BlameReply{}, err
	}
	return inFolder(ctx, c, in.Session, func(ctx context.Context, f *changes.Folder) (authors.BlameReply, error) {
		path, data, err := f.Text(ctx, in.Path, blame.MaxSize)
		if err != nil {
			return authors.BlameReply{}, err
		}
		r := authors.Reader{Log: c.cfg.Store, Folder: c.cfg.Project.Dir, Worktree: tree, Contents: c.cfg.Journal.Objects().Contents}
		reply, err := r.File(ctx, authors.Query{Path: path, Present: data, From: in.From, To: in.To, Texts: in.Texts})
		if errors.Is(err, blame.ErrTooLarge) {
			return reply, &changes.Error{Kind: changes.TooLarge, Path: path, Err: err}
		}
		return reply, err
	})
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
