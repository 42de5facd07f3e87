package workbench

import (
	"context"
	"errors"
	"strings"

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
	all, listing := w.cfg.Store.Sessions(ctx, w.cfg.Folder)
	if listing != nil {
		return info, listing
	}
	found := 0
	for _, each := range all {
		if len(each.ID) > len(id) && strings.EqualFold(each.ID[:len(id)], id) {
			info = each
			found++
		}
	}
	switch found {
	case 0:
		return backend.SessionInfo{}, err
	case 1:
		return info, nil
	}
	return backend.SessionInfo{}, backend.Problem(backend.ProblemSessionAmbiguous, id)
}
