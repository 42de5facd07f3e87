package workbench

import (
	"context"
	"errors"

	"atelier.dev/atelier/backend"
)

// FindSession returns the session of this folder with an id, or with the only id
// that begins so, in any case.
func (w *Workbench) FindSession(ctx context.Context, id string) (backend.SessionInfo, error) {
	info, err := w.session(ctx, id)
	var missing *backend.Error
	if err == nil || !errors.As(err, &missing) || missing.Code != backend.CodeNotFound {
		return info, err
	}
	some := backend.SessionFilter{View: backend.ViewAll, Prefix: id}
	page, listing := w.cfg.Store.SessionPage(ctx, backend.SessionQuery{Folder: w.cfg.Folder, SessionFilter: some, Limit: 1})
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
