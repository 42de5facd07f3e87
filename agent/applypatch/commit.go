package applypatch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"atelier.dev/atelier/agent/internal/fileattr"
)

// Files is where a plan is committed. [*os.Root] implements it, and refuses
// paths that lead out of its directory. Names are the cleaned paths of the
// patch, and others in the same directories.
type Files interface {
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
	Lstat(name string) (fs.FileInfo, error)
	Mkdir(name string, perm fs.FileMode) error
	// Rename replaces newname, if it exists, atomically. Both names are in the
	// same directory.
	Rename(oldname, newname string) error
	Remove(name string) error
}

// readFile reads a regular file. It does not follow links, because replacing
// one would change something that the patch does not name.
func readFile(files Files, path string) ([]byte, *fileattr.Attributes, error) {
	info, err := files.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if err := regular(info); err != nil {
		return nil, nil, err
	}
	// Open without blocking and check again: it may have become a pipe.
	f, err := files.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(f)
	return data, fileattr.Of(info, f), err
}

func regular(info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("it is a symbolic link; name the file that it points to")
	case info.IsDir():
		return errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	}
	return nil
}

// Commit writes the plan. It first writes and syncs the new contents beside the
// files, then renames all of them into place. Files keep their permissions, and
// a moved file takes its own along. At any time each file is either the old one
// or the new one.
//
// If a step fails, or if a file is no longer what the plan found, the earlier
// steps are undone and nothing of the patch remains. If undoing fails as well,
// the error says which files are affected and under which names their old
// contents are.
func (p *Plan) Commit(files Files) error {
	t := transaction{files: files}
	for i := range p.Changes {
		if err := t.add(&p.Changes[i]); err != nil {
			return &Error{Problem: "nothing was changed", Err: err}
		}
	}
	err := t.stage()
	for i := 0; err == nil && i < len(t.steps); i++ {
		err = t.do(&t.steps[i])
	}
	if err == nil {
		return t.finish()
	}
	lost := t.undo()
	if len(lost) == 0 {
		return &Error{Problem: "the patch failed and all files are as before", Err: err}
	}
	return &Error{Problem: "the patch failed and could not be undone altogether", Err: errors.Join(append([]error{err}, lost...)...)}
}

// transaction runs steps of which all or none take effect.
type transaction struct {
	files Files
	steps []step
	made  []string // directories
}

// step gives one path a new content or removes its file.
type step struct {
	path string
	// deletes says that the file is removed; otherwise data is its new content.
	deletes bool
	data    []byte
	// old is the existing file's attributes.
	old    *fileattr.Attributes
	before []byte
	// like has the permissions, owner and extended attributes for the new file;
	// nil for none.
	like *fileattr.Attributes
	// next and kept are the temporary files with the new and the old content.
	next, kept string
	done       bool
}

// add turns a change into steps. It fails if the files do not, or no longer,
// allow the change.
func (t *transaction) add(c *Change) error {
	if c.Unchanged() {
		return nil
	}
	file, err := t.look(c.Path, c.Before, c.Kind != Add || c.Overwrites, c.Kind != Delete)
	if err != nil {
		return err
	}
	if c.Kind != Delete && c.MoveTo == "" {
		file.data, file.like = []byte(c.After), file.old
		t.steps = append(t.steps, file)
		return nil
	}
	file.deletes = true
	t.steps = append(t.steps, file)
	if c.Kind == Delete {
		return nil
	}
	target, err := t.look(c.MoveTo, c.displaced, c.Overwrites, true)
	if err != nil {
		return err
	}
	target.data, target.like = []byte(c.After), file.old
	t.steps = slices.Insert(t.steps, len(t.steps)-1, target)
	return nil
}

// look starts a step on a path. If exists is set, the path must have a file
// with the given content, otherwise no file.
func (t *transaction) look(path, content string, exists, written bool) (step, error) {
	path = filepath.Clean(path)
	s := step{path: path}
	if !exists {
		return s, t.absent(path)
	}
	data, old, err := readFile(t.files, path)
	if err != nil {
		return s, fmt.Errorf("read %s: %w", path, err)
	}
	s.old, s.before = old, data
	switch n := fileattr.Links(old.Info); {
	case string(data) != content:
		return s, fmt.Errorf("%s has changed meanwhile; read it again", path)
	case old.Info.Mode().Perm()&0o200 == 0:
		return s, fmt.Errorf("%s is read-only", path)
	case n > 1 && written:
		return s, fmt.Errorf("%s has %d names (hard links); writing it would change the others or part from them", path, n)
	}
	for _, other := range t.steps {
		if other.old != nil && os.SameFile(other.old.Info, old.Info) {
			return s, fmt.Errorf("%s and %s are the same file; put all that is done to it into one operation", other.path, path)
		}
	}
	return s, nil
}

func (t *transaction) absent(path string) error {
	switch _, err := t.files.Lstat(path); {
	case err == nil:
		return fmt.Errorf("%s has come into being meanwhile", path)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look for %s: %w", path, err)
	}
	return nil
}

// do executes the step.
func (t *transaction) do(s *step) error {
	var err error
	switch {
	case s.deletes:
		err = t.files.Rename(s.path, s.kept)
	case s.old == nil:
		if err = t.absent(s.path); err != nil {
			return err
		}
		fallthrough
	default:
		err = t.files.Rename(s.next, s.path)
	}
	if err != nil {
		return fmt.Errorf("change %s: %w", s.path, err)
	}
	s.done = true
	return nil
}

// undo undoes the executed steps, the last one first, and returns what it could
// not undo.
func (t *transaction) undo() (lost []error) {
	for i := len(t.steps) - 1; i >= 0; i-- {
		s := &t.steps[i]
		var err error
		switch {
		case s.done && s.old == nil:
			err = t.files.Remove(s.path)
		case s.done:
			err = t.files.Rename(s.kept, s.path)
		}
		switch {
		case err == nil:
			t.discard(s.next, s.kept)
		case s.old == nil:
			lost = append(lost, fmt.Errorf("%s remains as a new file: %w", s.path, err))
		default:
			lost = append(lost, fmt.Errorf("the old content of %s is in %s: %w", s.path, s.kept, err))
		}
	}
	for _, dir := range slices.Backward(t.made) {
		_ = t.files.Remove(dir) // stays if something is in it by now
	}
	return lost
}

// finish removes what undoing would have needed.
func (t *transaction) finish() error {
	var errs []error
	synced := map[string]bool{}
	for _, s := range t.steps {
		if s.kept != "" {
			if err := t.files.Remove(s.kept); err != nil {
				errs = append(errs, fmt.Errorf("remove %s, the old content of %s: %w", s.kept, s.path, err))
			}
		}
		if dir := filepath.Dir(s.path); !synced[dir] {
			synced[dir] = true
			t.sync(dir)
		}
	}
	if len(errs) > 0 {
		return &Error{Problem: "the patch was applied, but left files behind", Err: errors.Join(errs...)}
	}
	return nil
}
