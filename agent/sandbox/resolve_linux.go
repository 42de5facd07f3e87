package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
)

// resolver follows links in the paths of one profile. Most of them share their
// folders, which are looked at once: the paths of a home's secrets alone would
// take hundreds of system calls otherwise.
type resolver map[string]place

// place is where a path leads.
type place struct {
	path string
	info fs.FileInfo // of what is there; nil for the root
	err  error
}

// follow returns where a path leads, which exists.
func (r resolver) follow(path string) (string, error) {
	at := r.place(filepath.Clean(path))
	return at.path, at.err
}

// isDir reports whether a path that exists leads to a folder.
func (r resolver) isDir(path string) bool {
	at := r.place(filepath.Clean(path))
	return at.info == nil || at.info.IsDir()
}

func (r resolver) place(path string) place {
	if at, ok := r[path]; ok {
		return at
	}
	at := r.look(path)
	r[path] = at
	return at
}

func (r resolver) look(path string) place {
	folder := filepath.Dir(path)
	if folder == path {
		return place{path: path}
	}
	parent := r.place(folder)
	if parent.err != nil {
		return place{err: parent.err}
	}
	at := place{path: filepath.Join(parent.path, filepath.Base(path))}
	if at.info, at.err = os.Lstat(at.path); at.err != nil || at.info.Mode()&fs.ModeSymlink == 0 {
		return at
	}
	if at.path, at.err = filepath.EvalSymlinks(at.path); at.err == nil {
		at.info, at.err = os.Lstat(at.path)
	}
	return at
}
