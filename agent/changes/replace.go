package changes

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/fileattr"
)

// replace gives a file new content, under the condition that what stands under
// its name is still over. The new file has the attributes of the one that over
// describes; if the name was free, it is executable as given.
func (b putBack) replace(ctx context.Context, name string, over present, data []byte, executable bool) error {
	temporary, err := b.temporary(name)
	if err != nil {
		return b.unwritten(name, err)
	}
	f, err := b.tree.OpenFile(temporary, os.O_RDWR, 0)
	if err == nil {
		_, err = f.Write(data)
		if over.info != nil {
			err = errors.Join(err, b.likeness(over.info, f), f.Sync())
		} else {
			err = errors.Join(err, executableIf(f, executable), f.Sync())
		}
		err = errors.Join(err, f.Close())
	}
	return b.swap(ctx, name, temporary, over.seen, err)
}

// likeness gives a new file the attributes of the changed one, if there is one.
func (b putBack) likeness(info fs.FileInfo, f *os.File) error {
	if info == nil || !info.Mode().IsRegular() {
		return nil
	}
	old, err := b.tree.OpenFile(b.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil { // it may be writable but not readable
		return fileattr.Of(info, nil).Give(f)
	}
	defer old.Close()
	return fileattr.Of(info, old).Give(f)
}

// temporary makes an empty file beside a name, and the folders above it.
func (b putBack) temporary(name string) (string, error) {
	if err := b.folders(path.Dir(name)); err != nil {
		return "", err
	}
	temporary := path.Join(path.Dir(name), ".atelier-"+rand.Text())
	f, err := b.tree.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", err
	}
	return temporary, f.Close()
}

// folders makes missing folders.
func (b putBack) folders(dir string) error {
	if _, err := b.tree.Lstat(dir); dir == "." || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := b.folders(path.Dir(dir)); err != nil {
		return err
	}
	if err := b.tree.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// swap renames a complete temporary file over a name, if what stands there is
// still what was seen, and failed is nil. Otherwise it removes the temporary
// file.
func (b putBack) swap(ctx context.Context, name, temporary, seen string, failed error) error {
	err := failed
	if err != nil {
		err = b.unwritten(name, err)
	} else {
		err = b.claim(ctx, name, seen)
	}
	if err == nil {
		if err = b.tree.Rename(temporary, name); err == nil {
			b.sync(path.Dir(name))
			return nil
		}
		err = b.unwritten(name, err)
	}
	return errors.Join(err, b.tree.Remove(temporary))
}

// claim checks that what stands under a name is what was seen. A free name is
// taken, so that nobody else's new file is replaced.
func (b putBack) claim(ctx context.Context, name, seen string) error {
	if seen == absent {
		f, err := b.tree.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return b.unwritten(name, err)
		}
		return f.Close()
	}
	info, err := b.tree.Lstat(name)
	if err == nil && info.Mode().IsRegular() && fileattr.Links(info) > 1 {
		return b.refuse(NotPossible) // replacing it would part it from its other names
	}
	now, err := b.Folder.seen(ctx, name)
	if err == nil && now != seen {
		err = b.refuse(Changed)
	}
	return err
}

// discard removes a file if it is still what was seen, and the folders that are
// then empty. The file is moved aside first, so that the one that is compared is
// the one that is removed.
func (b putBack) discard(ctx context.Context, name, seen string) error {
	aside := path.Join(path.Dir(name), ".atelier-"+rand.Text())
	if err := b.tree.Rename(name, aside); err != nil {
		return b.unwritten(name, err)
	}
	now, err := b.Folder.seen(ctx, aside)
	if err == nil && now == seen {
		if err := b.tree.Remove(aside); err != nil {
			return b.unwritten(name, err)
		}
		b.sync(path.Dir(name))
		for dir := path.Dir(name); dir != "." && b.tree.Remove(dir) == nil; dir = path.Dir(dir) { // as git does with empty ones
		}
		return nil
	}
	if _, taken := b.tree.Lstat(name); !errors.Is(taken, fs.ErrNotExist) {
		return &Error{Kind: NotWritten, Path: Quote(name), Detail: "the old content is in " + aside}
	}
	if err := b.tree.Rename(aside, name); err != nil {
		return &Error{Kind: NotWritten, Path: Quote(name), Detail: "the old content is in " + aside, Err: err}
	}
	return errors.Join(err, b.refuse(Changed))
}

// relink puts a symbolic link in place of what was seen.
func (b putBack) relink(ctx context.Context, name, target, seen string) error {
	links, ok := b.tree.(env.Links)
	if !ok {
		return b.refuse(NotPossible)
	}
	if err := b.folders(path.Dir(name)); err != nil {
		return b.unwritten(name, err)
	}
	if seen == absent {
		if err := links.Symlink(target, name); err != nil {
			return b.unwritten(name, err)
		}
		return nil
	}
	temporary := path.Join(path.Dir(name), ".atelier-"+rand.Text())
	if err := links.Symlink(target, temporary); err != nil {
		return b.unwritten(name, err)
	}
	return b.swap(ctx, name, temporary, seen, nil)
}

// sync makes the names in a folder durable, if the system can.
func (b putBack) sync(dir string) {
	if d, err := b.tree.OpenFile(dir, os.O_RDONLY, 0); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
