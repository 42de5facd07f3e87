package undo

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/undo/disk"
)

// troubled is an environment in which something happens before a file is touched.
type troubled struct {
	*env.Local
	before func(name string) error
}

func (x troubled) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if err := x.before(name); err != nil {
		return nil, err
	}
	return x.Local.OpenFile(name, flag, perm)
}

func (x troubled) Mkdir(name string, perm fs.FileMode) error {
	if err := x.before(name); err != nil {
		return err
	}
	return x.Local.Mkdir(name, perm)
}

func (x troubled) Rename(from, to string) error {
	if err := x.before(to); err != nil {
		return err
	}
	return x.Local.Rename(from, to)
}

func (x troubled) Remove(name string) error {
	if err := x.before(name); err != nil {
		return err
	}
	return x.Local.Remove(name)
}

func (x troubled) Symlink(target, name string) error {
	if err := x.before(name); err != nil {
		return err
	}
	return x.Local.Symlink(target, name)
}

func (x troubled) Link(from, to string) error {
	if err := x.before(to); err != nil {
		return err
	}
	return x.Local.Link(from, to)
}

func (x troubled) Exchange(one, other string) error {
	if err := x.before(other); err != nil {
		return err
	}
	return x.Local.Exchange(one, other)
}

// sides are files before and after a step that did everything that a step can do.
var sides = [2]map[string]disk.Content{
	{
		"changed": plain("a\n"), "link": link("a"), "deep/er/gone": plain("a\n"), "folder": plain("a\n"), "file/deep/in": plain("a\n"),
		"through/in": plain("a\n"), "vacant": executable("a\n"),
	},
	{
		"changed": executable("b\n"), "link": plain("b\n"), "new/and/deep": plain("b\n"), "folder/in": plain("b\n"), "file": plain("b\n"),
		"through": link("deep"),
	},
}

// torn is a restoration of sides[0] in a folder with sides[1], and what goes wrong.
type torn struct {
	*world
	r      agent.FilesRestored
	before func(name string) error
}

// tear prepares a restoration. before is called for each name that carrying it out
// touches.
func tear(t *testing.T, before func(x *torn, name string) error) *torn {
	t.Helper()
	local, err := env.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x := &torn{world: &world{t: t, dir: local.WorkingDirectory(), kept: memory{}}}
	x.before = func(string) error { return nil }
	if x.disk, err = disk.Of(troubled{local, func(name string) error { return x.before(name) }}); err != nil {
		t.Fatal(err)
	}
	x.folder = New(x.disk, x.kept)
	records := map[string]agent.FileRecord{}
	for name, c := range sides[1] {
		stage(t, filepath.Join(x.dir, name), c)
		records[name] = agent.FileRecord{Path: name, After: x.version(c)}
	}
	if err := os.Mkdir(filepath.Join(x.dir, "vacant"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range sides[0] {
		records[name] = agent.FileRecord{Path: name, Before: x.version(c), After: records[name].After}
	}
	x.r = x.prepared(slices.Collect(maps.Values(records)))
	if len(x.r.Conflicts) > 0 {
		t.Fatalf("%+v", x.r.Conflicts)
	}
	x.before = func(name string) error { return before(x, name) }
	return x
}

func stage(t *testing.T, path string, c disk.Content) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	switch c.Kind {
	case agent.SymbolicLink:
		err = errors.Join(err, os.Symlink(string(c.Data), path))
	case agent.ExecutableFile:
		err = errors.Join(err, os.WriteFile(path, c.Data, 0o755))
	default:
		err = errors.Join(err, os.WriteFile(path, c.Data, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// prepared returns the restoration of all that records changed.
func (w *world) prepared(records []agent.FileRecord) agent.FilesRestored {
	w.t.Helper()
	steps := []Step{{FilesChanged: agent.FilesChanged{Files: records}}}
	p, err := w.folder.Plan(w.t.Context(), steps)
	if err != nil {
		w.t.Fatal(err)
	}
	var all []Choice
	for _, f := range p.Files {
		all = append(all, Choice{Path: f.Path, Seal: f.Seal})
	}
	r, err := w.folder.Prepare(w.t.Context(), steps, all)
	if err != nil {
		w.t.Fatal(err)
	}
	w.made++
	r.ID = fmt.Sprint("id", w.made)
	return r
}

// check compares the files with what done says of them, and brings back what was done.
func (x *torn) check(when string, done agent.FilesRestored) {
	x.t.Helper()
	x.before = func(string) error { return nil }
	var undone, said []string
	for _, f := range x.r.Files {
		if now, err := x.disk.Read(f.Path); !stands(f, now, err) {
			undone = append(undone, f.Path)
		}
	}
	for _, f := range done.Files {
		said = append(said, f.Path)
	}
	if diff := cmp.Diff(undone, said); diff != "" {
		x.t.Errorf("%s: what is said to be done (-is +said): %s", when, diff)
	}
	if left := x.named(".atelier-"); len(left) > 0 {
		x.t.Errorf("%s: %v is left", when, left)
	}
	if back := x.folder.Carry(x.t.Context(), x.prepared(done.Files)); len(back.Conflicts) > 0 {
		x.t.Errorf("%s: bringing it back: %+v", when, back.Conflicts)
	}
	for name, want := range sides[1] {
		if now, err := x.disk.Read(name); err != nil || !now.Is(want.Version()) {
			x.t.Errorf("%s: %s came back as %+v, %v", when, name, now, err)
		}
	}
}

// named returns the files whose names or contents hold a text.
func (x *torn) named(text string) (found []string) {
	err := filepath.WalkDir(x.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if data, _ := os.ReadFile(path); strings.Contains(path, text) || strings.Contains(string(data), text) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		x.t.Fatal(err)
	}
	return found
}

// cut carries out a restoration until the program ends, and recovers what it did. It
// returns false if the restoration was complete before.
func (x *torn) cut() (done agent.FilesRestored, wasCut bool) {
	defer func() {
		if e := recover(); e != nil {
			if e != errEnd {
				panic(e)
			}
			x.before = func(string) error { return nil }
			done, wasCut = x.folder.Recover(x.r), true
		}
	}()
	return x.folder.Carry(x.t.Context(), x.r), false
}

var errEnd = errors.New("the program ends")

// Wherever the program ends in a restoration, it is known afterwards what was done, and
// that can be brought back.
func TestCutOffAnywhere(t *testing.T) {
	t.Parallel()
	for at := 0; ; at++ {
		n, name := 0, ""
		x := tear(t, func(_ *torn, next string) error {
			if n++; n > at {
				name = next
				panic(errEnd)
			}
			return nil
		})
		done, cut := x.cut()
		x.check(fmt.Sprintf("before the touch %d, of %q", at, name), done)
		if !cut {
			break
		}
	}
}

// Whatever fails in a restoration, it is known what was done all the same.
func TestFailureAnywhere(t *testing.T) {
	t.Parallel()
	for at := 0; ; at++ {
		n, name := 0, ""
		x := tear(t, func(_ *torn, next string) error {
			if n++; n == at+1 {
				name = next
				return &fs.PathError{Op: "touch", Path: next, Err: syscall.ENOSPC}
			}
			return nil
		})
		done := x.folder.Carry(t.Context(), x.r)
		x.check(fmt.Sprintf("the touch %d, of %q, fails", at, name), done)
		if name == "" {
			break
		}
	}
}

// What somebody saves during a restoration is not lost, even if the program ends just
// after.
func TestSavedAnywhere(t *testing.T) {
	t.Parallel()
	for later := range 3 {
		for at := 0; ; at++ {
			n, victim := 0, ""
			x := tear(t, func(x *torn, next string) error {
				switch n++; {
				case n == at+1:
					if victim = x.victim(next); victim == "" {
						break
					}
					mine := filepath.Join(x.dir, "mine~")
					if err := errors.Join(os.WriteFile(mine, []byte("mine\n"), 0o644), os.Rename(mine, victim)); err != nil {
						t.Fatal(err)
					}
				case later > 0 && n == at+1+later:
					panic(errEnd)
				}
				return nil
			})
			x.cut()
			if n <= at {
				break
			}
			if victim != "" && !slices.Contains(x.named("mine\n"), victim) {
				t.Errorf("%s, saved before the touch %d, is lost if the program ends %d later", victim, at, later)
			}
		}
	}
}

// victim returns the file that a touch of a name, perhaps a temporary one, is about; ""
// if nobody can save it.
func (x *torn) victim(name string) string {
	if at := strings.LastIndexByte(name, '-'); strings.Contains(name, ".atelier-") {
		var i int
		if _, err := fmt.Sscan(name[at+1:], &i); err != nil {
			x.t.Fatal(err)
		}
		name = x.r.Files[i].Path
	}
	path := filepath.Join(x.dir, name)
	if info, err := os.Lstat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return ""
	}
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return ""
	}
	return path
}

// What cannot be read after a crash counts as restored: then it can be brought back.
func TestUnreadableAfterACrash(t *testing.T) {
	t.Parallel()
	x := tear(t, func(*torn, string) error { return nil })
	if done := x.folder.Carry(t.Context(), x.r); len(done.Conflicts) > 0 {
		t.Fatalf("%+v", done.Conflicts)
	}
	x.before = func(name string) error {
		if name == "changed" {
			return &fs.PathError{Op: "open", Path: name, Err: syscall.EIO}
		}
		return nil
	}
	x.check("unreadable", x.folder.Recover(x.r))
}

// A name that is in the way of many others is planned once, however deep they are.
func TestEachFileIsPlannedOnce(t *testing.T) {
	t.Parallel()
	opened := 0
	x := tear(t, func(*torn, string) error { opened++; return nil })
	var steps []Step
	name := "d"
	for range 12 { // each step makes a folder of the file that the one before it made
		files := []agent.FileRecord{{Path: name, Before: x.version(plain("a\n"))}, {Path: name + "/d", After: x.version(plain("a\n"))}}
		steps = append([]Step{{FilesChanged: agent.FilesChanged{Files: files}}}, steps...)
		name += "/d"
	}
	stage(t, filepath.Join(x.dir, name), plain("a\n"))
	p, err := x.folder.Plan(t.Context(), steps)
	if err != nil || len(p.Files) != 13 || p.Files[0].Path != "d" || !p.Files[0].Then.Exists() {
		t.Fatalf("%+v, %v", p, err)
	}
	if opened > 100 {
		t.Errorf("%d times something was opened", opened)
	}
}
