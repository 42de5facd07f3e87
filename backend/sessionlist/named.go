package sessionlist

import (
	"context"
	"errors"
	"slices"

	"atelier.dev/atelier/backend"
)

// Find returns the session of this folder with an id, or with the only id
// that begins so, in any case.
func (l *List) Find(ctx context.Context, id string) (backend.SessionInfo, error) {
	info, err := l.cfg.Project.Session(ctx, id)
	var missing *backend.Error
	if err == nil || !errors.As(err, &missing) || missing.Code != backend.CodeNotFound {
		return info, err
	}
	some := backend.SessionFilter{View: backend.ViewAll, Prefix: id}
	page, listing := l.cfg.Store.SessionPage(ctx, backend.SessionQuery{Folder: l.cfg.Project.Dir, SessionFilter: some, Limit: 1})
	switch {
	case listing != nil:
		return info, listing
	case page.Next != nil:
		return info, backend.Problem(backend.ProblemSessionAmbiguous, id)
	case len(page.Sessions) == 0:
		return info, err
	}
	return page.Sessions[0], nil
}

// Newest returns the newest session of the list that a person started.
func (l *List) Newest(ctx context.Context) (backend.SessionInfo, error) {
	page, err := l.cfg.Store.SessionPage(ctx, backend.SessionQuery{Folder: l.cfg.Project.Dir, Limit: defaultList})
	if err != nil {
		return backend.SessionInfo{}, err
	}
	at := slices.IndexFunc(page.Sessions, func(info backend.SessionInfo) bool { return info.Helper == nil })
	if at < 0 {
		return backend.SessionInfo{}, backend.Problem(backend.ProblemSessionNone)
	}
	return page.Sessions[at], nil
}
