package workbench

import (
	"context"
	"net/url"

	"atelier.dev/atelier/backend"
)

// openLink opens a web address outside Atelier.
func (w *Workbench) openLink(_ context.Context, in LinkRequest) (backend.Empty, error) {
	u, err := url.Parse(in.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return backend.Empty{}, backend.Problem(backend.ProblemLinkInvalid).Detailed(in.URL)
	}
	if w.cfg.OpenLink == nil {
		return backend.Empty{}, backend.Problem(backend.ProblemLinkHere)
	}
	return backend.Empty{}, w.cfg.OpenLink(u.String())
}

// LinkRequest is for host.open_link. Only http and https addresses are opened.
type LinkRequest struct {
	URL string `json:"url"`
}
