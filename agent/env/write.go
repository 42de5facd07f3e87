package env

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"atelier.dev/atelier/agent/internal/fileattr"
)

// WriteFile implements [Files]. It writes and syncs a new file beside the old
// one and renames it over the old one. It refuses symbolic links and files with
// several names, because replacing those would change something that the caller
// did not name (K-39). A file that cannot be renamed over, such as one that is
// mounted by itself or in a folder where no files may be made, is written in place.
func (l *Local) WriteFile(ctx context.Context, path string, data []byte) error {
	p, err := l.locateForWrite(path)
	if err != nil {
		return l.meant(err)
	}
	defer p.close()
	old, err := p.root.Lstat(p.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := p.root.MkdirAll(filepath.Dir(p.name), 0o777); err != nil {
			return l.meant(explain(path, err))
		}
	case err != nil:
		return l.meant(explain(path, err))
	default:
		if err := replaceable(path, old); err != nil {
			return err
		}
	}
	err = p.replace(ctx, old, data)
	if old != nil && NotReplaceable(err) {
		err = p.overwrite(ctx, old, data)
	}
	return explain(path, err)
}

// CheckWritable returns an error if [Files.WriteFile] would refuse to change an existing
// file, so that nobody is asked about that.
func CheckWritable(e Environment, path string) error {
	tree, ok := e.(Tree)
	if !ok {
		return nil
	}
	info, err := tree.Lstat(path)
	switch {
	case err != nil:
		return nil // a new file
	case info.Mode()&fs.ModeSymlink != 0:
		return IsLink(e, path)
	}
	return replaceable(path, info)
}

// NotReplaceable reports whether a file could not be renamed over although it may be writable.
func NotReplaceable(err error) bool {
	return errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) || errors.Is(err, fs.ErrPermission)
}

// overwrite writes data into the existing file. If that fails halfway, it puts the old
// content back.
func (p place) overwrite(ctx context.Context, old fs.FileInfo, data []byte) error {
	f, err := p.root.OpenFile(p.name, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !os.SameFile(old, info):
		return &Error{Path: p.given, Problem: "was replaced by somebody else meanwhile; read it again"}
	case info.Size() > MaxWhole:
		return &Error{Path: p.given, Problem: "is too large to be written in place"}
	}
	before, err := io.ReadAll(io.LimitReader(f, MaxWhole))
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	put := func(content []byte) error {
		_, err := f.WriteAt(content, 0)
		if err == nil {
			err = f.Truncate(int64(len(content)))
		}
		return errors.Join(err, f.Sync())
	}
	if err := put(data); err != nil {
		if again := put(before); again != nil {
			return &Error{Path: p.given, Problem: "could not be written, and is damaged: " + again.Error(), Err: err}
		}
		return err
	}
	return nil
}

// locateForWrite is locate, but does not follow a link at the end of the path.
func (l *Local) locateForWrite(path string) (place, error) {
	abs, err := l.absolute(path)
	if err != nil {
		return place{}, err
	}
	if info, err := os.Lstat(abs); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return place{}, IsLink(l, path)
	}
	return l.locate(path)
}

// replaceable returns an error if an existing file may not be replaced.
func replaceable(path string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return isLink(path, "")
	case !info.Mode().IsRegular():
		return notRegular(path, info.Mode())
	case fileattr.Links(info) > 1:
		return &Error{Path: path, Problem: fmt.Sprintf("has %d names (hard links); writing it would change the others or part from them", fileattr.Links(info))}
	case info.Mode().Perm()&0o200 == 0:
		return &Error{Path: path, Problem: "is read-only"}
	}
	return nil
}

// replace writes data to a new file and renames it over name, unless ctx ends before.
// old is nil for a file that does not exist yet.
func (p place) replace(ctx context.Context, old fs.FileInfo, data []byte) (err error) {
	dir := filepath.Dir(p.name)
	temp := filepath.Join(dir, ".atelier-"+rand.Text())
	defer func() {
		if err != nil {
			_ = p.root.Remove(temp)
		}
	}()
	if err = p.draft(ctx, temp, old, data); err == nil {
		err = ctx.Err()
	}
	if err != nil {
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
func (p place) draft(ctx context.Context, temp string, old fs.FileInfo, data []byte) error {
	dir := filepath.Dir(temp)
	if f, err := openUnnamed(p.root, dir); err == nil {
		if err = p.fill(ctx, f, old, data); err == nil {
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
	return errors.Join(p.fill(ctx, f, old, data), f.Close())
}

// fill writes and syncs the whole file, with the attributes of the old one.
func (p place) fill(ctx context.Context, f *os.File, old fs.FileInfo, data []byte) error {
	_, err := io.Copy(f, endingReader{ctx, bytes.NewReader(data)})
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
