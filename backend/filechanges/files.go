package filechanges

import (
	"context"

	"atelier.dev/atelier/agent/changes"
)

// files lists the files of the project, or of a session's worktree. Their contents come with their authors,
// from files.blame.
func (c *Changes) files(ctx context.Context, in FilesRequest) (FilesReply, error) {
	return inFolder(ctx, c, in.Session, func(ctx context.Context, f *changes.Folder) (FilesReply, error) {
		files, more, err := f.Files(ctx)
		return FilesReply{Files: files, More: more}, err
	})
}

// FilesRequest is for files.list. A session with a worktree has its files there.
type FilesRequest struct {
	Session string `json:"session,omitempty"`
}

// FilesReply answers files.list: paths in order, without ignored files.
type FilesReply struct {
	Files []string `json:"files,omitempty"`
	// More says that there are files that are not listed.
	More bool `json:"more,omitempty"`
}
