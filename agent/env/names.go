package env

import (
	"os"
	"path/filepath"

	"atelier.dev/atelier/agent/internal/typography"
)

// Namer is implemented by environments in which one file may go by several paths.
type Namer interface {
	// Absolute returns a path as an absolute one, and a file of the working directory
	// always under the same path, by whatever links the directory is named.
	Absolute(path string) string
	// Spelled returns a path with the names that files really have, where it differs only
	// in signs that look the same: composed and decomposed characters, spaces, quotes and
	// dashes. A path that exists, or that several files resemble, is returned unchanged.
	Spelled(path string) string
}

var _ Namer = (*Local)(nil)

// Absolute returns the path of an environment's file as [Namer] does.
func Absolute(h Host, path string) string {
	if n, ok := h.(Namer); ok {
		return n.Absolute(path)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.WorkingDirectory(), path)
	}
	return filepath.Clean(path)
}

// Spelled returns the path of an environment's file as [Namer] does.
func Spelled(h Host, path string) string {
	if n, ok := h.(Namer); ok {
		return n.Spelled(path)
	}
	return path
}

// Absolute implements [Namer].
func (l *Local) Absolute(path string) string {
	abs, err := l.absolute(path)
	if err != nil {
		return filepath.Join(l.dir, path)
	}
	if rel, inside := l.within(abs); inside {
		return filepath.Join(l.dir, rel)
	}
	return abs
}

// maxAlike limits the names of a directory that are compared.
const maxAlike = 20_000

// Spelled implements [Namer].
func (l *Local) Spelled(path string) string {
	abs, err := l.absolute(path)
	if err != nil || exists(abs) {
		return path
	}
	dir, missing := deepest(abs)
	for missing != "." && missing != "" {
		name, rest := splitFirst(missing)
		only, ok := alike(dir, name)
		if !ok {
			return path
		}
		dir, missing = filepath.Join(dir, only), rest
		for { // what exists again
			name, rest := splitFirst(missing)
			if name == "" || !exists(filepath.Join(dir, name)) {
				break
			}
			dir, missing = filepath.Join(dir, name), rest
		}
	}
	return l.shown(dir)
}

// splitFirst splits a relative path after its first name.
func splitFirst(path string) (name, rest string) {
	for i := range len(path) {
		if os.IsPathSeparator(path[i]) {
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}

// alike returns the only name in a directory that looks like the given one.
func alike(dir, name string) (only string, ok bool) {
	folded := typography.Fold(name)
	for _, other := range namesIn(dir) {
		if typography.Fold(other) != folded {
			continue
		}
		if ok {
			return "", false
		}
		only, ok = other, true
	}
	return only, ok
}

// namesIn returns names in a directory, at most maxAlike.
func namesIn(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxAlike)
	return names
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !os.IsNotExist(err)
}
