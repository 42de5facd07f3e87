package workbench

import (
	"context"

	"atelier.dev/atelier/backend"
)

// The bounds of the page's scale, in percent.
const (
	minZoom = 50
	maxZoom = 200
)

// zoom scales the page, if the host can.
func (w *Workbench) zoom(_ context.Context, in ZoomRequest) (backend.Empty, error) {
	if w.cfg.Zoom != nil {
		w.cfg.Zoom(min(max(in.Percent, minZoom), maxZoom))
	}
	return backend.Empty{}, nil
}

// ZoomRequest is for host.zoom. A scale beyond the bounds is brought within them.
type ZoomRequest struct {
	Percent int `json:"percent"`
}

// notify shows a notice outside the page, if the host can. Its texts are cut,
// because they hold what a model or a user wrote.
func (w *Workbench) notify(_ context.Context, in backend.Notice) (backend.Empty, error) {
	if w.cfg.Notify != nil {
		in.Title, in.Body = backend.TitleFrom(in.Title), backend.TitleFrom(in.Body)
		w.cfg.Notify(in)
	}
	return backend.Empty{}, nil
}

// pickFolder asks the user for a folder with the host's own dialog.
func (w *Workbench) pickFolder(_ context.Context, in PickFolderRequest) (PickedFolder, error) {
	if w.cfg.PickFolder == nil {
		return PickedFolder{}, nil
	}
	folder, err := w.cfg.PickFolder(backend.TitleFrom(in.Title))
	if err != nil {
		return PickedFolder{}, backend.Problem(backend.ProblemPickFolder).Because(err)
	}
	return PickedFolder{Folder: folder}, nil
}

// PickFolderRequest is for host.pick_folder, with the title of the dialog.
type PickFolderRequest struct {
	Title string `json:"title"`
}

// PickedFolder is the user's choice; empty if there was none.
type PickedFolder struct {
	Folder string `json:"folder,omitempty"`
}
