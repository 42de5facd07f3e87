package env

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"atelier.dev/atelier/agent/internal/gitindex"
	"atelier.dev/atelier/agent/internal/sensitive"
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
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", nil, false
	}
	for !exists(filepath.Join(root, ".git")) {
		if root == filepath.Dir(root) {
			return "", nil, false
		}
		root = filepath.Dir(root)
	}
	git := filepath.Join(root, ".git")
	if named, ok := strings.CutPrefix(textOf(git), "gitdir: "); ok { // a worktree
		git = named
	}
	f, err := os.OpenFile(filepath.Join(git, "index"), os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe
	if os.IsNotExist(err) {
		return root, nil, true // nothing was added yet
	}
	if err != nil {
		return "", nil, false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", nil, false
	}
	index, err := io.ReadAll(io.LimitReader(f, gitindex.MaxSize+1))
	if err != nil || len(index) > gitindex.MaxSize {
		return "", nil, false
	}
	names, ok = gitindex.Names(index)
	return root, names, ok
}
