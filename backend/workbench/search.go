package workbench

import (
	"context"

	"atelier.dev/atelier/backend"
)

// searchSessions finds texts in the sessions of this folder, or of all folders.
func (w *Workbench) searchSessions(ctx context.Context, in SearchRequest) (backend.Found, error) {
	if w.cfg.Search == nil {
		return backend.Found{}, backend.Problem(backend.ProblemSearchMissing)
	}
	search := backend.Search{Text: in.Text, Session: in.Session, Folder: w.cfg.Folder, Next: in.Next, Limit: in.Limit}
	if in.Everywhere {
		search.Folder = ""
	}
	return w.cfg.Search.Search(ctx, search)
}

// SearchRequest is for sessions.search. Session limits it to one session and those
// that it started; Next is where an earlier reply said to go on.
type SearchRequest struct {
	Text       string `json:"text"`
	Everywhere bool   `json:"everywhere,omitempty"`
	Session    string `json:"session,omitempty"`
	Next       string `json:"next,omitempty"`
	Limit      int    `json:"limit,omitempty"`
}
