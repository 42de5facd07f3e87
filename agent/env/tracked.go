package env

import (
	"errors"
	"io/fs"
	"path/filepath"

	"atelier.dev/atelier/agent/internal/gitindex"
	"atelier.dev/atelier/agent/internal/sensitive"
	"atelier.dev/atelier/agent/repository"
)

// trackedSecrets returns the files that may hold secrets among those that git
// tracks in the repository of dir, which must be plain. It reports false if
// that is unknown. Files that exist only in commits are not included; see
// committedSecrets.
func trackedSecrets(dir string) (paths []string, ok bool) {
	root, names, ok := tracked(dir)
	for _, name := range names {
		if sensitive.Secret("/" + name) {
			paths = append(paths, filepath.Join(root, filepath.FromSlash(name)))
		}
	}
	return paths, ok
}

// tracked returns the names that git tracks, with slashes and relative to the root of
// the repository of dir, which must be plain. There may be no files of these names.
func tracked(dir string) (root string, names []string, ok bool) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", nil, false
	}
	found, ok := repository.Find(real)
	if !ok {
		return "", nil, false
	}
	index, err := gitindex.Read(filepath.Join(found.Dir(), "index"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found.Tree(), nil, true // nothing was added yet
	case err != nil:
		return "", nil, false
	}
	names, ok = gitindex.Names(index)
	return found.Tree(), names, ok
}
