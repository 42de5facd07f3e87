package undo

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/undo/disk"
)

// folding is an environment whose file system ignores case, as most on macOS and Windows.
type folding struct {
	*env.Local
	full *bool // nothing can be renamed
}

// found returns the name that is there for a name.
func (x folding) found(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		entries, _ := os.ReadDir(filepath.Join(x.WorkingDirectory(), filepath.Join(parts[:i]...)))
		for _, e := range entries {
			if strings.EqualFold(e.Name(), part) {
				parts[i] = e.Name()
			}
		}
	}
	return filepath.Join(parts...)
}

func (x folding) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return x.Local.OpenFile(x.found(name), flag, perm)
}
func (x folding) Lstat(name string) (fs.FileInfo, error) { return x.Local.Lstat(x.found(name)) }
func (x folding) Rename(from, to string) error {
	if *x.full {
		return syscall.ENOSPC
	}
	return x.Local.Rename(x.found(from), x.found(to))
}
func (x folding) Remove(name string) error   { return x.Local.Remove(x.found(name)) }
func (x folding) Link(from, to string) error { return x.Local.Link(x.found(from), x.found(to)) }
func (x folding) Exchange(one, other string) error {
	return x.Local.Exchange(x.found(one), x.found(other))
}

// A file or folder whose name changed in its case only gets its old name back where the
// file system ignores case, and can get the new one again.
func TestOtherCase(t *testing.T) {
	t.Parallel()
	local, err := env.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	full := true
	d, err := disk.Of(folding{local, &full})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: local.WorkingDirectory(), disk: d, kept: memory{}}
	w.folder = New(d, w.kept)
	a, b := w.version(plain("a\n")), w.version(plain("b\n"))
	stage(t, filepath.Join(w.dir, "File"), plain("b\n"))
	stage(t, filepath.Join(w.dir, "Dir/in"), plain("a\n"))
	names := func(what string, want ...string) {
		t.Helper()
		var got []string
		for _, pattern := range []string{"*", "*/*"} {
			found, _ := filepath.Glob(filepath.Join(w.dir, pattern))
			for _, path := range found {
				rel, _ := filepath.Rel(w.dir, path)
				got = append(got, filepath.ToSlash(rel))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	r := w.prepared([]agent.FileRecord{
		{Path: "file", Before: a}, {Path: "File", After: b},
		{Path: "dir/in", Before: a}, {Path: "Dir/in", After: a},
	})
	if left := w.folder.Recover(r); len(left.Files) > 0 {
		t.Errorf("before it began, it is said to have done %+v", left.Files)
	}
	if left := w.folder.Carry(t.Context(), r); len(left.Files) > 0 {
		t.Errorf("nothing could be done, and it is said to have done %+v", left.Files)
	}
	full = false
	done := w.folder.Carry(t.Context(), r)
	names("undone", "dir", "file", "dir/in")
	if now, err := d.Read("file"); err != nil || !now.Is(a) || len(done.Conflicts) > 0 {
		t.Errorf("%+v, %v, %+v", now, err, done.Conflicts)
	}
	done = w.folder.Carry(t.Context(), w.prepared(done.Files))
	names("redone", "Dir", "File", "Dir/in")
	if now, err := d.Read("File"); err != nil || !now.Is(b) || len(done.Conflicts) > 0 {
		t.Errorf("%+v, %v, %+v", now, err, done.Conflicts)
	}
}
