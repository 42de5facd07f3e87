package applypatch

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"atelier.dev/atelier/agent/internal/fileattr"
)

// stage does everything that can fail for lack of space or permission before
// any file changes: it writes the new contents, and the old ones that will be
// overwritten, so that undoing only has to rename.
func (t *transaction) stage() error {
	for i := range t.steps {
		if err := t.prepare(&t.steps[i]); err != nil {
			return fmt.Errorf("write %s: %w", t.steps[i].path, err)
		}
	}
	return nil
}

func (t *transaction) prepare(s *step) error {
	dir := filepath.Dir(s.path)
	temporary := func() string { return filepath.Join(dir, ".atelier-"+rand.Text()) }
	if s.old != nil {
		s.kept = temporary()
	}
	if s.deletes {
		return nil
	}
	if err := t.mkdir(dir); err != nil {
		return err
	}
	s.next = temporary()
	if err := t.write(s.next, s.data, s.like, true); err != nil {
		return err
	}
	if s.old == nil {
		return nil
	}
	return t.write(s.kept, s.before, s.old, false)
}

// mkdir makes a directory and its missing parents, and remembers which it made.
func (t *transaction) mkdir(dir string) error {
	if _, err := t.files.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := t.mkdir(parent); err != nil {
			return err
		}
	}
	if err := t.files.Mkdir(dir, 0o777); err != nil {
		return err
	}
	t.made = append(t.made, dir)
	return nil
}

// write makes a new file with the attributes of another one.
func (t *transaction) write(name string, data []byte, like *fileattr.Attributes, durable bool) error {
	f, err := t.files.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && like != nil {
		err = like.Give(f)
	}
	if err == nil && durable {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// discard removes temporary files, if they exist.
func (t *transaction) discard(names ...string) {
	for _, name := range names {
		if name != "" {
			_ = t.files.Remove(name)
		}
	}
}

// sync makes the names in a directory durable, if the system can.
func (t *transaction) sync(dir string) {
	if d, err := t.files.OpenFile(dir, os.O_RDONLY, 0); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
