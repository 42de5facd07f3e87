package projects

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"atelier.dev/atelier/agent/project"
	"atelier.dev/atelier/backend"
)

// Resolve returns the project folder that path names, absolute and with
// links resolved. A missing or unreadable folder, or a path that is not a
// folder, is a *[backend.Error] of [backend.CodeFolder].
func Resolve(path string) (string, error) {
	refuse := func(id backend.ProblemID, err error) (string, error) {
		return "", backend.Problem(id, path).Because(err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return refuse(backend.ProblemFolderUnusable, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse(backend.ProblemFolderMissing, err)
	case err != nil:
		return refuse(backend.ProblemFolderUnopened, err)
	}
	dir, err := os.Open(real)
	if err != nil {
		return refuse(backend.ProblemFolderUnread, err)
	}
	defer dir.Close()
	info, err := dir.Stat()
	switch {
	case err != nil:
		return refuse(backend.ProblemFolderUnread, err)
	case !info.IsDir():
		return "", backend.Problem(backend.ProblemFolderIsFile, path)
	}
	if _, err := dir.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) {
		return refuse(backend.ProblemFolderUnread, err)
	}
	return real, nil
}

func (p *Projects) info(context.Context, backend.Empty) (ProjectInfo, error) {
	return ProjectInfo{
		Folder: p.cfg.Folder, Name: filepath.Base(p.cfg.Folder), Branch: project.Branch(p.cfg.Folder),
		Version: p.cfg.Version, Home: p.cfg.Home,
	}, nil
}

// ProjectInfo describes the folder that this process works on.
type ProjectInfo struct {
	Folder  string `json:"folder"`
	Name    string `json:"name"`
	Branch  string `json:"branch,omitempty"` // empty outside a git repository
	Version string `json:"version"`
	Home    string `json:"home"` // where Atelier keeps its data
}
