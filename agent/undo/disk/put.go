package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/fileattr"
)

// Put puts content under a name if what stands there is still the version from.
// Each file changes at once or not at all. A file that is replaced passes its other
// attributes on. Folders that are missing are made, an empty one that has the name makes
// way, and those that a removal leaves empty are removed. token makes the names of
// temporary files; after a crash, [Disk.Clear] with the same token removes them. An
// error may come when the content is in place already; Read tells.
func (d *Disk) Put(name, token string, from agent.FileVersion, to Content) error {
	if err := d.check(name); err != nil {
		return err
	}
	p := d.at(name, token, from, to.Version())
	made, err := p.put(to)
	if err == nil {
		return nil
	}
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) || errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: %w", ErrOccupied, err)
	}
	err = errors.Join(err, p.clear())
	for _, dir := range slices.Backward(made) {
		_ = d.tree.Remove(dir) // fails unless it is empty
	}
	return fmt.Errorf("restore a file: %w", err)
}

// put is one file to put something in place of. The new content is prepared under the
// name fresh. Under the name aside are complete files only: the new one until it gets its
// name, and then the old one until it is removed.
type put struct {
	*Disk
	name, fresh, aside string
	from, to           agent.FileVersion
}

func (d *Disk) at(name, token string, from, to agent.FileVersion) put {
	return put{Disk: d, name: name, fresh: beside(name, "new-", token), aside: beside(name, "old-", token), from: from, to: to}
}

// beside returns the name of a temporary file in the same folder.
func beside(name, prefix, token string) string {
	return filepath.ToSlash(filepath.Join(filepath.Dir(name), ".atelier-"+prefix+token))
}

// put returns the folders that it made.
func (p put) put(to Content) (made []string, err error) {
	if to.Kind == "" {
		return nil, p.remove()
	}
	if !p.from.Exists() {
		if made, err = p.folders(filepath.Dir(p.name)); err != nil {
			return made, err
		}
	}
	if err := p.prepare(to); err != nil {
		return made, err
	}
	if err := p.swap(); err != nil {
		return made, err
	}
	p.sync()
	return made, nil
}

// prepare makes a complete file or link beside the name.
func (p put) prepare(to Content) error {
	if to.Kind == agent.SymbolicLink {
		return p.links.Symlink(string(to.Data), p.fresh)
	}
	mode := fs.FileMode(0o666)
	if to.Private || p.from.Private || to.Mode != 0 {
		mode = 0o600 // until it is complete
	}
	f, err := p.tree.OpenFile(p.fresh, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(to.Data)
	return errors.Join(err, p.dress(f, to), f.Sync(), f.Close())
}

// dress gives the new file the attributes of the one that it replaces, and the
// permissions of its own, if they are known.
func (p put) dress(f *os.File, to Content) error {
	info, err := p.tree.Lstat(p.name)
	if err == nil && info.Mode().IsRegular() {
		old, _ := p.tree.OpenFile(p.name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be writable but not readable
		err = fileattr.Of(info, old).Give(f)
		if old != nil {
			_ = old.Close()
		}
		if err != nil {
			return err
		}
	}
	if info, err = f.Stat(); err != nil {
		return err
	}
	if to.Mode == 0 {
		to.Mode = uint32(info.Mode().Perm())
	}
	mode := info.Mode()&^fs.ModePerm | fs.FileMode(to.Agreed().Mode)
	if mode == info.Mode() {
		return nil
	}
	return f.Chmod(mode)
}

// swap gives what was prepared the name, if what has it is still what it was.
func (p put) swap() error {
	if !p.from.Exists() {
		return p.take()
	}
	if err := p.tree.Rename(p.fresh, p.aside); err != nil {
		return err
	}
	info, err := p.verify(p.name)
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() && fileattr.Links(info) > 1 {
		return ErrLinked
	}
	x, ok := p.tree.(exchanger)
	if !ok {
		return p.tree.Rename(p.aside, p.name) // what was saved since verify is lost
	}
	switch err := x.Exchange(p.aside, p.name); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrChanged, err)
	case err != nil: // the file system cannot do it
		return p.tree.Rename(p.aside, p.name)
	}
	if _, err := p.verify(p.aside); err != nil { // somebody saved it since
		return errors.Join(err, x.Exchange(p.aside, p.name))
	}
	return p.tree.Remove(p.aside)
}

// exchanger is a tree that can give two files each other's name in one step.
type exchanger interface {
	Exchange(one, other string) error
}

// verify checks that what stands under a name is what was expected.
func (p put) verify(name string) (fs.FileInfo, error) {
	now, info, err := p.read(name)
	switch {
	case err != nil:
		return nil, err
	case now.Other:
		return nil, ErrOccupied
	case !now.Is(p.from):
		return nil, ErrChanged
	}
	return info, nil
}

// take gives what was prepared a free name. Nobody else's new file is replaced.
func (p put) take() error {
	if info, err := p.tree.Lstat(p.name); err == nil && info.IsDir() {
		if err := p.tree.Remove(p.name); err != nil { // it is not empty
			return err
		}
	}
	if l, ok := p.tree.(interface{ Link(from, to string) error }); ok {
		switch err := l.Link(p.fresh, p.name); {
		case err == nil:
			return p.tree.Remove(p.fresh)
		case errors.Is(err, fs.ErrExist):
			return err
		}
	}
	if _, err := p.tree.Lstat(p.name); !errors.Is(err, fs.ErrNotExist) { // where files have one name only
		return errors.Join(fs.ErrExist, err)
	}
	return p.tree.Rename(p.fresh, p.name)
}

// remove removes what stands under the name. It is moved aside first, so that what
// is compared is what is removed.
func (p put) remove() error {
	if !p.from.Exists() {
		return nil
	}
	if _, err := p.verify(p.name); err != nil {
		return err
	}
	if err := p.tree.Rename(p.name, p.aside); err != nil {
		return err
	}
	if _, err := p.verify(p.aside); err != nil { // it gets its name back
		return err
	}
	if err := p.tree.Remove(p.aside); err != nil {
		return err
	}
	p.sync()
	p.prune()
	return nil
}

// prune removes the folders of the name that are empty, as git does.
func (p put) prune() {
	for dir := filepath.Dir(p.name); dir != "." && !filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		info, err := p.tree.Lstat(dir)
		if err == nil && (!info.IsDir() || p.tree.Remove(dir) != nil) {
			return
		}
	}
}

// folders makes missing folders and returns them, the outermost first.
func (p put) folders(dir string) (made []string, err error) {
	if _, err := p.tree.Lstat(dir); dir == "." || !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if made, err = p.folders(filepath.Dir(dir)); err != nil {
		return made, err
	}
	switch err := p.tree.Mkdir(dir, 0o777); {
	case err == nil:
		return append(made, dir), nil
	case !errors.Is(err, fs.ErrExist):
		return made, err
	}
	return made, nil
}

// sync makes the names in the file's folder durable, if the system can.
func (p put) sync() {
	if d, err := p.tree.OpenFile(filepath.Dir(p.name), os.O_RDONLY, 0); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Clear removes what a [Disk.Put] left behind that a crash cut off. What somebody saved
// while it was replaced or removed gets its name back.
func (d *Disk) Clear(name, token string, from, to agent.FileVersion) error {
	if err := d.check(name); err != nil {
		return err
	}
	p := d.at(name, token, from, to)
	err := p.clear()
	if now, _, e := p.read(name); e == nil && now.Kind == "" && !now.Other {
		p.prune()
	}
	if err != nil {
		return fmt.Errorf("clear up after a restoration: %w", err)
	}
	return nil
}

func (p put) clear() error {
	if err := p.tree.Remove(p.fresh); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	c, _, err := p.read(p.aside)
	switch {
	case err != nil:
		return err
	case c.Kind == "" && !c.Other:
	case c.Is(p.from) || c.Is(p.to):
		err = p.tree.Remove(p.aside)
	default:
		err = p.giveBack()
	}
	return err
}

// giveBack gives what was moved aside its name again, unless somebody has taken it since.
func (p put) giveBack() error {
	now, _, err := p.read(p.name)
	switch {
	case err != nil:
		return err
	case now.Kind == "" && !now.Other || now.Is(p.to):
		return p.tree.Rename(p.aside, p.name)
	}
	return fmt.Errorf("%s is kept: %w", p.aside, ErrOccupied)
}
