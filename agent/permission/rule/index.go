package rule

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent/internal/gitindex"
)

// gitFolder returns the folder of the repository that a folder belongs to. That
// of a second work tree refers to it.
func gitFolder(dir string) (string, bool) {
	for {
		path := filepath.Join(dir, ".git")
		if info, err := os.Stat(path); err == nil {
			if info.IsDir() {
				return path, true
			}
			text, _ := gitindex.Read(path)
			at, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
			if !filepath.IsAbs(at) {
				at = filepath.Join(dir, at)
			}
			return at, ok
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
		dir = filepath.Dir(dir)
	}
}

// tracked returns the files that the index of a folder's repository lists, by
// their paths in the work tree, which begins at root. It reports false if the
// index cannot be read. Without an index nothing is tracked.
func tracked(dir string) (root string, names []string, ok bool) {
	repository, ok := gitFolder(dir)
	if !ok {
		return "", nil, false
	}
	for root = dir; ; root = filepath.Dir(root) {
		if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil {
			break
		}
	}
	data, err := gitindex.Read(filepath.Join(repository, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return root, nil, true
	}
	if err != nil {
		return "", nil, false
	}
	names, ok = gitindex.Names(data)
	return root, names, ok
}
