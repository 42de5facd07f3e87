package env

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"atelier.dev/atelier/internal/text"
)

// place is the target of a path: a name below an open root.
type place struct {
	root  *os.Root
	name  string
	given string // the path as the caller wrote it, for errors
}

func (p place) close() { _ = p.root.Close() }

// within returns path relative to the working directory, if it is inside.
func (l *Local) within(path string) (string, bool) {
	for _, base := range []string{l.dir, l.real} {
		if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

// longestPath limits paths, so that no call makes thousands of nested folders: programs
// cannot open longer ones on any system, and Linux takes as many bytes.
const longestPath = 4096

// absolute returns path as a clean absolute path.
func (l *Local) absolute(path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New("no path was given")
	case len(path) > longestPath:
		return "", &Error{Path: text.Shorten(path, 200), Problem: "is not a valid path: it is longer than paths can be"}
	case strings.ContainsRune(path, 0):
		return "", &Error{Path: strings.ReplaceAll(path, "\x00", `\0`), Problem: "is not a valid path: it holds a NUL character"}
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	}
	return filepath.Join(l.dir, path), nil
}

// locate opens the root that contains path: the working directory, or for other
// paths their deepest existing parent with links resolved.
func (l *Local) locate(path string) (place, error) {
	abs, err := l.absolute(path)
	if err != nil {
		return place{}, err
	}
	base := l.real
	rel, inside := l.within(abs)
	if !inside {
		base, rel = deepest(abs)
	}
	root, err := os.OpenRoot(base)
	if inside && errors.Is(err, fs.ErrNotExist) {
		return place{}, errGone(base)
	}
	if err != nil {
		return place{}, explain(path, err)
	}
	return place{root: root, name: rel, given: path}, nil
}

// deepest splits path into its deepest existing parent directory and the rest.
// An existing path is split at its target's name.
func deepest(path string) (dir, rest string) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		if real == filepath.Dir(real) { // the file system's root
			return real, "."
		}
		return filepath.Dir(real), filepath.Base(real)
	}
	dir = filepath.Dir(path)
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			rest, _ = filepath.Rel(dir, path)
			return dir, rest
		}
		dir = filepath.Dir(dir)
	}
}

// open opens a regular file for reading.
func (p place) open() (*os.File, fs.FileInfo, error) {
	info, err := p.root.Stat(p.name)
	if err != nil {
		return nil, nil, explain(p.given, err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, notRegular(p.given, info.Mode())
	}
	// Open without blocking and check again: it may have become a pipe.
	f, err := p.root.OpenFile(p.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, explain(p.given, err)
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = notRegular(p.given, info.Mode())
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, explain(p.given, err)
	}
	return f, info, nil
}
