package env

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Tree gives step-by-step access to files, for a change of several files that
// must take effect as a whole or not at all. Environments with files on this
// machine implement it. Paths are as for [Files]: a path in the working
// directory cannot lead out of it through a symbolic link.
type Tree interface {
	OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error)
	Lstat(path string) (fs.FileInfo, error)
	Mkdir(path string, perm fs.FileMode) error
	// Rename replaces a file atomically. Both paths must be in one directory.
	Rename(from, to string) error
	Remove(path string) error
}

// Links reads and creates symbolic links without following them. Environments
// that are a [Tree] may implement it.
type Links interface {
	Readlink(path string) (target string, err error)
	// Symlink fails if something with the name exists.
	Symlink(target, path string) error
}

var (
	_ Tree  = (*Local)(nil)
	_ Links = (*Local)(nil)
)

// entry is locate for the name itself, without following a link.
func (l *Local) entry(path string) (place, error) {
	abs, err := l.absolute(path)
	if err != nil {
		return place{}, err
	}
	if _, inside := l.within(abs); inside {
		return l.locate(path)
	}
	dir, name := filepath.Split(abs)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return l.locate(path) // its deepest existing directory
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return place{}, explain(path, err)
	}
	return place{root: root, name: filepath.Clean(name), given: path}, nil
}

// OpenFile implements [Tree].
func (l *Local) OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	p, err := l.entry(path)
	if err != nil {
		return nil, err
	}
	defer p.close()
	f, err := p.root.OpenFile(p.name, flag, perm)
	return f, explain(path, err)
}

// Lstat implements [Tree].
func (l *Local) Lstat(path string) (fs.FileInfo, error) {
	p, err := l.entry(path)
	if err != nil {
		return nil, err
	}
	defer p.close()
	info, err := p.root.Lstat(p.name)
	return info, explain(path, err)
}

// Mkdir implements [Tree].
func (l *Local) Mkdir(path string, perm fs.FileMode) error {
	return l.at(path, func(p place) error { return p.root.Mkdir(p.name, perm) })
}

// Link gives a file a second name in the same directory. It fails if something has
// that name, or if the file system knows no such links.
func (l *Local) Link(from, to string) error {
	return l.at(from, func(p place) error {
		return p.root.Link(p.name, filepath.Join(filepath.Dir(p.name), filepath.Base(to)))
	})
}

// Rename implements [Tree].
func (l *Local) Rename(from, to string) error {
	return l.at(from, func(p place) error {
		return p.root.Rename(p.name, filepath.Join(filepath.Dir(p.name), filepath.Base(to)))
	})
}

// Remove implements [Tree].
func (l *Local) Remove(path string) error {
	return l.at(path, func(p place) error { return p.root.Remove(p.name) })
}

// Readlink implements [Links].
func (l *Local) Readlink(path string) (target string, err error) {
	err = l.at(path, func(p place) (err error) { target, err = p.root.Readlink(p.name); return err })
	return target, err
}

// Symlink implements [Links].
func (l *Local) Symlink(target, path string) error {
	return l.at(path, func(p place) error { return p.root.Symlink(target, p.name) })
}

// at calls do with the name that path stands for.
func (l *Local) at(path string, do func(place) error) error {
	p, err := l.entry(path)
	if err != nil {
		return err
	}
	defer p.close()
	return explain(path, do(p))
}
