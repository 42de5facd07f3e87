package sensitive

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// maxBelow limits how many names [Below] looks at.
const maxBelow = 50_000

var errTooMany = errors.New("too many files")

// Below returns the files below a folder that may hold secrets, which a search would
// print. It reports false if there is too much to look at. The folder of the version
// control is skipped, because it does not hold text.
func Below(root string, hidden bool) (paths []string, ok bool) {
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > maxBelow {
			return errTooMany
		}
		if err != nil {
			return nil // an unreadable file is not printed either
		}
		name := d.Name()
		switch {
		case path == root:
		case d.IsDir() && (name == ".git" || !hidden && strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case !d.IsDir() && (hidden || !strings.HasPrefix(name, ".")) && Secret(path[len(root):]):
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err == nil
}
