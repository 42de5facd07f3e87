package skill

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"atelier.dev/atelier/agent"
)

var (
	errOutside = errors.New("it leads out of the project")
	errSpecial = errors.New("it is not a regular file")
	errLarge   = errors.New("it is too large")
)

// tree opens files by their real paths. Those of a project have to lie in it: what was swapped
// for a link since its real path was looked up is not opened either. Those of the user may lie
// anywhere.
type tree struct {
	root *os.Root // nil for the user's
	base string
}

func openTree(root Root) (*tree, error) {
	if root.Scope != agent.ScopeProject {
		return &tree{}, nil
	}
	within := root.Within
	if within == "" {
		within = root.Path
	}
	base, err := realPath(within)
	if err != nil {
		return nil, err
	}
	r, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	return &tree{r, base}, nil
}

func (t *tree) close() {
	if t.root != nil {
		_ = t.root.Close()
	}
}

// realPath returns an absolute path without links.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// sub returns the tree of a folder, whose files are opened without going through what is above it.
func (t *tree) sub(path string) (*tree, error) {
	if t.root == nil {
		return &tree{}, nil
	}
	rel, err := filepath.Rel(t.base, path)
	if err != nil {
		return nil, err
	}
	r, err := t.root.OpenRoot(rel)
	if err != nil {
		return nil, err
	}
	return &tree{r, path}, nil
}

// or returns the tree, or another one if the tree does not have a file.
func (t *tree) or(other *tree, path string) *tree {
	if t.root == nil || t.has(path) {
		return t
	}
	return other
}

// real returns the real path of a file. It fails if the file may not be read.
func (t *tree) real(path string) (string, error) {
	path, err := realPath(path)
	if err == nil && t.root != nil && !t.has(path) {
		err = errOutside
	}
	return path, err
}

// follow returns the real path of an entry of a folder, whose real path is given.
func (t *tree) follow(folder string, entry fs.DirEntry) (string, error) {
	path := filepath.Join(folder, entry.Name())
	if entry.Type()&fs.ModeSymlink == 0 {
		return path, nil
	}
	return t.real(path)
}

func (t *tree) has(path string) bool {
	rel, err := filepath.Rel(t.base, path)
	return err == nil && filepath.IsLocal(rel)
}

// open opens a file by its real path. It does not wait for a pipe's other end.
func (t *tree) open(path string) (*os.File, error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	if t.root == nil {
		return os.OpenFile(path, flags, 0)
	}
	rel, err := filepath.Rel(t.base, path)
	if err != nil {
		return nil, err
	}
	return t.root.OpenFile(rel, flags, 0)
}

func (t *tree) stat(path string) (fs.FileInfo, error) {
	if t.root == nil {
		return os.Lstat(path)
	}
	rel, err := filepath.Rel(t.base, path)
	if err != nil {
		return nil, err
	}
	return t.root.Lstat(rel)
}

// isFolder reports whether a real path is a folder's.
func (t *tree) isFolder(path string) bool {
	info, err := t.stat(path)
	return err == nil && info.IsDir()
}

// entries lists a folder by its names, up to the limit.
func (t *tree) entries(path string) (list []fs.DirEntry, more bool, err error) {
	f, err := t.open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	list, err = f.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if more = len(list) > maxEntries; more {
		list = list[:maxEntries]
	}
	return list, more, nil
}

// read reads a regular file, unless it is longer than a limit.
func (t *tree) read(path string, limit int64) (string, error) {
	text, _, err := t.begin(path, limit+1)
	if err == nil && int64(len(text)) > limit {
		return "", errLarge
	}
	return text, err
}

// begin reads the beginning of a regular file.
func (t *tree) begin(path string, most int64) (string, fs.FileInfo, error) {
	f, err := t.open(path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", nil, err
	case !info.Mode().IsRegular():
		return "", info, errSpecial
	}
	data := make([]byte, min(most, info.Size()+1))
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return string(data[:n]), info, err
}
