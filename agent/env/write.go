package env

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"atelier.dev/atelier/agent/internal/fileattr"
)

// WriteFile implements [Files]. It writes and syncs a new file beside the old
// one and renames it over the old one. It refuses symbolic links and files with
// several names, because replacing those would change something that the caller
// did not name (K-39).
func (l *Local) WriteFile(_ context.Context, path string, data []byte) error {
	p, err := l.locateForWrite(path)
	if err != nil {
		return err
	}
	defer p.close()
	old, err := p.root.Lstat(p.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := p.root.MkdirAll(filepath.Dir(p.name), 0o777); err != nil {
			return explain(path, err)
		}
	case err != nil:
		return explain(path, err)
	default:
		if err := replaceable(path, old); err != nil {
			return err
		}
	}
	return explain(path, p.replace(old, data))
}

// locateForWrite is locate, but does not follow a link at the end of the path.
func (l *Local) locateForWrite(path string) (place, error) {
	abs, err := l.absolute(path)
	if err != nil {
		return place{}, err
	}
	if info, err := os.Lstat(abs); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return place{}, &Error{Path: path, Problem: "is a symbolic link; write to the file that it points to"}
	}
	return l.locate(path)
}

// replaceable returns an error if an existing file may not be replaced.
func replaceable(path string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return &Error{Path: path, Problem: "is a symbolic link; write to the file that it points to"}
	case !info.Mode().IsRegular():
		return notRegular(path, info.Mode())
	case fileattr.Links(info) > 1:
		return &Error{Path: path, Problem: fmt.Sprintf("has %d names (hard links); writing it would change the others or part from them", fileattr.Links(info))}
	case info.Mode().Perm()&0o200 == 0:
		return &Error{Path: path, Problem: "is read-only"}
	}
	return nil
}

// replace writes data to a new file and renames it over name. old is nil for
// a file that does not exist yet.
func (p place) replace(old fs.FileInfo, data []byte) (err error) {
	dir := filepath.Dir(p.name)
	temp := filepath.Join(dir, ".atelier-"+rand.Text())
	defer func() {
		if err != nil {
			_ = p.root.Remove(temp)
		}
	}()
	if err = p.draft(temp, old, data); err != nil {
		return err
	}
	if err = p.root.Rename(temp, p.name); err != nil {
		return err
	}
	if d, err := p.root.Open(dir); err == nil { // syncs the directory
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}

// draft writes data to a new file temp. If the file system supports it, the
// file gets its name only when it is complete, so that a killed program leaves
// nothing.
func (p place) draft(temp string, old fs.FileInfo, data []byte) error {
	dir := filepath.Dir(temp)
	if f, err := openUnnamed(p.root, dir); err == nil {
		if err = p.fill(f, old, data); err == nil {
			err = nameUnnamed(p.root, dir, filepath.Base(temp), f)
		}
		if err = errors.Join(err, f.Close()); err == nil {
			return nil
		}
	}
	f, err := p.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(p.fill(f, old, data), f.Close())
}

// fill writes and syncs the whole file, with the attributes of the old one.
func (p place) fill(f *os.File, old fs.FileInfo, data []byte) error {
	_, err := f.Write(data)
	if err == nil && old != nil {
		err = p.attributes(old).Give(f)
	}
	if err == nil {
		err = f.Sync()
	}
	return err
}

// attributes returns those of the existing file.
func (p place) attributes(info fs.FileInfo) *fileattr.Attributes {
	f, err := p.root.OpenFile(p.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fileattr.Of(info, nil) // it may be writable but not readable
	}
	defer f.Close()
	return fileattr.Of(info, f)
}
