// Package filetree reads folders that others write: a project's files through links that stay
// in the project, the user's own wherever they lie.
package filetree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Why a file is not read.
var (
	ErrOutside = errors.New("it leads out of the project")
	ErrLarge   = errors.New("it is too large")
	errSpecial = errors.New("it is not a regular file")
)

// MaxEntries limits the entries of one folder.
const MaxEntries = 2000

// Tree opens files by their real paths. Those of a project have to lie in it: what was swapped
// for a link since its real path was looked up is not opened either. Those of the user may lie
// anywhere.
type Tree struct {
	root *os.Root // nil for the user's
	base string
}

// Open returns the tree of a folder, out of which no link is followed. Without a folder,
// all files can be opened.
func Open(within string) (*Tree, error) {
	if within == "" {
		return &Tree{}, nil
	}
	base, err := realPath(within)
	if err != nil {
		return nil, err
	}
	r, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	return &Tree{r, base}, nil
}

// Close releases the folder.
func (t *Tree) Close() {
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

// Sub returns the tree of a folder, whose files are opened without going through what is above it.
func (t *Tree) Sub(path string) (*Tree, error) {
	if t.root == nil {
		return &Tree{}, nil
	}
	rel, err := filepath.Rel(t.base, path)
	if err != nil {
		return nil, err
	}
	r, err := t.root.OpenRoot(rel)
	if err != nil {
		return nil, err
	}
	return &Tree{r, path}, nil
}

// Or returns the tree, or another one if the tree does not have a file.
func (t *Tree) Or(other *Tree, path string) *Tree {
	if t.root == nil || t.has(path) {
		return t
	}
	return other
}

// Real returns the real path of a file. It fails if the file may not be read.
func (t *Tree) Real(path string) (string, error) {
	path, err := realPath(path)
	if err == nil && t.root != nil && !t.has(path) {
		err = ErrOutside
	}
	return path, err
}

// Follow returns the real path of an entry of a folder, whose real path is given.
func (t *Tree) Follow(folder string, entry fs.DirEntry) (string, error) {
	path := filepath.Join(folder, entry.Name())
	if entry.Type()&fs.ModeSymlink == 0 {
		return path, nil
	}
	return t.Real(path)
}

func (t *Tree) has(path string) bool {
	rel, err := filepath.Rel(t.base, path)
	return err == nil && filepath.IsLocal(rel)
}

// open opens a file by its real path. It does not wait for a pipe's other end.
func (t *Tree) open(path string) (*os.File, error) {
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

func (t *Tree) stat(path string) (fs.FileInfo, error) {
	if t.root == nil {
		return os.Lstat(path)
	}
	rel, err := filepath.Rel(t.base, path)
	if err != nil {
		return nil, err
	}
	return t.root.Lstat(rel)
}

// IsFolder reports whether a real path is a folder's.
func (t *Tree) IsFolder(path string) bool {
	info, err := t.stat(path)
	return err == nil && info.IsDir()
}

// Entries lists a folder by its names, up to the limit.
func (t *Tree) Entries(path string) (list []fs.DirEntry, more bool, err error) {
	f, err := t.open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	list, err = f.ReadDir(MaxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if more = len(list) > MaxEntries; more {
		list = list[:MaxEntries]
	}
	return list, more, nil
}

// Read reads a regular file, unless it is longer than a limit.
func (t *Tree) Read(path string, limit int64) (string, error) {
	text, _, err := t.Begin(path, limit+1)
	if err == nil && int64(len(text)) > limit {
		return "", ErrLarge
	}
	return text, err
}

// Begin reads the beginning of a regular file.
func (t *Tree) Begin(path string, most int64) (string, fs.FileInfo, error) {
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

// Walk says how far [Tree.Texts] goes.
type Walk struct {
	// Depth is how many folders deep it goes.
	Depth int
	// Read is told how many entries a folder has, and whether there are more than were
	// read. Texts goes on as long as Full reports false.
	Read func(entries int, more bool)
	Full func() bool
}

// Texts visits the Markdown files of a folder and of those below it, whose real path is given: by
// their real paths and their paths below the folder, with slashes. A file that may not be read is
// visited with the error. What begins with a dot is left out. Links to folders are followed, to each
// folder once.
func (t *Tree) Texts(path string, w Walk, visit func(path, below string, err error)) error {
	return t.texts(path, "", w, map[string]bool{}, visit)
}

func (t *Tree) texts(path, below string, w Walk, been map[string]bool, visit func(path, below string, err error)) error {
	if been[path] {
		return nil
	}
	been[path] = true
	list, more, err := t.Entries(path)
	w.Read(len(list), more)
	if err != nil {
		return err
	}
	for _, entry := range list {
		if w.Full() {
			break
		}
		name := entry.Name()
		file, err := t.Follow(path, entry)
		isFolder := entry.IsDir() || entry.Type()&fs.ModeSymlink != 0 && err == nil && t.IsFolder(file)
		switch {
		case strings.HasPrefix(name, "."):
		case isFolder && strings.Count(below, "/") < w.Depth:
			_ = t.texts(file, below+name+"/", w, been, visit) // its neighbours are read all the same
		case !isFolder && len(name) > len(".md") && strings.EqualFold(filepath.Ext(name), ".md"):
			visit(file, below+name, err)
		}
	}
	return nil
}
