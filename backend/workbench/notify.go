package workbench

import (
	"context"

	"atelier.dev/atelier/backend"
)

// notify shows a notice outside the page, if the host can. Its texts are cut,
// because they hold what a model or a user wrote.
func (w *Workbench) notify(_ context.Context, in backend.Notice) (backend.Empty, error) {
	if w.cfg.Notify != nil {
		in.Title, in.Body = backend.TitleFrom(in.Title), backend.TitleFrom(in.Body)
		w.cfg.Notify(in)
	}
	return backend.Empty{}, nil
}
