package rule

import (
	"errors"
	"fmt"
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
			text, _ := contents(path)
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

// contents returns what is in a file that is not too large; something else, such
// as a pipe, might never end.
func contents(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > gitindex.MaxSize) {
		err = fs.ErrInvalid
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", path, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
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
	data, err := contents(filepath.Join(repository, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return root, nil, true
	}
	if err != nil {
		return "", nil, false
	}
	names, ok = gitindex.Names(data)
	return root, names, ok
}
