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
	return ofFolder(ctx, w, "", func(ctx context.Context, f *changes.Folder) (authors.BlameReply, error) {
		path, data, err := f.Text(ctx, in.Path, blame.MaxSize)
		if err != nil {
			return authors.BlameReply{}, err
		}
		r := authors.Reader{Log: w.cfg.Store, Folder: w.cfg.Folder, Contents: w.journal.Objects().Contents}
		reply, err := r.File(ctx, authors.Query{Path: path, Present: data, From: in.From, To: in.To, Texts: in.Texts})
		if errors.Is(err, blame.ErrTooLarge) {
			return reply, &changes.Error{Kind: changes.TooLarge, Path: path, Err: err}
		}
		return reply, err
	})
}

// BlameRequest is for files.blame. From and To count lines from 1; 0 leaves a side
// open.
type BlameRequest struct {
	Path string `json:"path"`
	From int    `json:"from,omitempty"`
	To   int    `json:"to,omitempty"`
	// Texts asks for the lines themselves, too.
	Texts bool `json:"texts,omitempty"`
}
