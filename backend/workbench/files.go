package workbench

import (
	"context"

	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/backend"
)

// listFiles lists the files of the project. Their contents come with their authors,
// from files.blame.
func (w *Workbench) listFiles(ctx context.Context, _ backend.Empty) (FilesReply, error) {
	return ofFolder(ctx, w, "", func(ctx context.Context, f *changes.Folder) (FilesReply, error) {
		files, more, err := f.Files(ctx)
		return FilesReply{Files: files, More: more}, err
	})
}

// FilesReply answers files.list: paths in order, without ignored files.
type FilesReply struct {
	Files []string `json:"files,omitempty"`
	// More says that there are files that are not listed.
	More bool `json:"more,omitempty"`
}
