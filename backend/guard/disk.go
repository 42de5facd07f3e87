package guard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"atelier.dev/atelier/agent"
)

// reading is what was last read of a file.
type reading struct {
	content
	there bool
	info  fs.FileInfo
	// settled says that the file was old enough when it was read: a later change
	// shows in its time.
	settled bool
	err     error
}

// settles is how old a file must be for that, with file systems that keep seconds.
const settles = 2 * time.Second

// seal stands for everything that a file allows.
func (r reading) seal() string { return digest(r.pins()...) }

// pins stand for each part of a file that the user may accept.
func (r reading) pins() []string {
	var pins []string
	for _, w := range r.rules {
		if w.Decision == agent.Allow && w.err == nil {
			pins = append(pins, pin(w.Rule))
		}
	}
	if r.sandbox != nil {
		pins = append(pins, digest("sandbox", string(r.sandbox)))
	}
	return pins
}

// read reads the file, or returns what was read before if it has not changed
// since. No link leads it out of its folder.
func (f file) read(before reading) reading {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return reading{err: absent(err), there: absent(err) != nil}
	}
	defer root.Close()
	info, err := root.Stat(f.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return reading{}
	case err != nil:
		return reading{there: true, err: err}
	case before.settled && os.SameFile(info, before.info) && info.ModTime().Equal(before.info.ModTime()) && info.Size() == before.info.Size():
		return before
	}
	r := reading{there: true, info: info, settled: time.Since(info.ModTime()) > settles}
	b, err := contents(root, f.name, info)
	if err == nil {
		r.content, err = parse(b, f.scope)
	}
	r.err = err
	return r
}

func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func contents(root *os.Root, name string, info fs.FileInfo) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	return b, err
}

// attempts is how often an edit begins again because somebody else wrote the file
// meanwhile.
const attempts = 3

// edit changes a list of rules in the file, which is replaced as a whole.
func (f file) edit(decision agent.Decision, change func([]member) ([]member, error)) error {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(f.name), 0o755); err != nil {
		return err
	}
	for range attempts {
		before, mode, err := f.present(root)
		if err != nil {
			return err
		}
		if _, err := parse(before, f.scope); err != nil {
			return err // nothing is added to what cannot be read
		}
		after, err := edited(before, decision, func(items []member) ([]member, error) { return change(slices.Clone(items)) })
		if err != nil {
			return err
		}
		if done, err := f.replace(root, before, after, mode); done || err != nil {
			return err
		}
	}
	return errors.New("another program keeps writing it")
}

// present returns the bytes of the file, none if there is no such file.
func (f file) present(root *os.Root) ([]byte, fs.FileMode, error) {
	info, err := root.Stat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		if f.scope == agent.ScopeProject {
			return nil, 0o644, nil
		}
		return nil, 0o600, nil
	}
	if err != nil {
		return nil, 0, err
	}
	b, err := contents(root, f.name, info)
	return b, info.Mode().Perm(), err
}

// replace replaces the file, unless it has other bytes than before by now.
func (f file) replace(root *os.Root, before, after []byte, mode fs.FileMode) (done bool, err error) {
	name := f.name + "." + strconv.Itoa(os.Getpid()) + ".tmp"
	if link, err := root.Lstat(f.name); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		return false, errors.New("it is a symbolic link")
	}
	_ = root.Remove(name) // one that a crash left
	tmp, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return false, err
	}
	defer root.Remove(name) //nolint:errcheck // it has been renamed, or is of no use
	_, err = tmp.Write(after)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return false, err
	}
	if now, _, err := f.present(root); err != nil || !bytes.Equal(now, before) {
		return false, err
	}
	return true, root.Rename(name, f.name)
}
