package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

func open(t *testing.T) (*Disk, string) {
	t.Helper()
	dir := t.TempDir()
	local, err := env.NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Of(local)
	if err != nil {
		t.Fatal(err)
	}
	return d, dir
}

func write(t *testing.T, name, text string, mode fs.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), mode), os.Chmod(name, mode)); err != nil {
		t.Fatal(err)
	}
}

func file(text string) Content       { return Content{Kind: agent.PlainFile, Data: []byte(text)} }
func executable(text string) Content { return Content{Kind: agent.ExecutableFile, Data: []byte(text)} }
func link(target string) Content     { return Content{Kind: agent.SymbolicLink, Data: []byte(target)} }

// An entry of any kind can replace one of any other kind.
func TestPut(t *testing.T) {
	t.Parallel()
	all := []Content{{}, file("one\n"), file("two"), executable("one\n"), link("elsewhere"), link("deep/er")}
	for _, name := range []string{"f", "a/b/f"} {
		for _, from := range all {
			for _, to := range all {
				d, dir := open(t)
				if err := d.Put(name, "0", agent.FileVersion{}, from); err != nil {
					t.Fatal(err)
				}
				if err := d.Put(name, "1", from.Version(), to); err != nil {
					t.Fatalf("%+v to %+v: %v", from, to, err)
				}
				if got, err := d.Read(name); err != nil || !got.Is(to.Version()) {
					t.Errorf("%+v to %+v: %+v, %v", from, to, got, err)
				}
				left, err := filepath.Glob(filepath.Join(dir, filepath.Dir(name), ".atelier-*"))
				if err != nil || len(left) > 0 {
					t.Errorf("%+v to %+v left %v", from, to, left)
				}
				if _, err := os.Stat(filepath.Join(dir, "a")); name != "f" && to.Kind == "" && from.Kind != "" && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%+v to %+v: the empty folders are left: %v", from, to, err)
				}
			}
		}
	}
}

// An unexpected file stays as it is.
func TestPutRefuses(t *testing.T) {
	t.Parallel()
	expected := file("expected")
	for name, tt := range map[string]struct {
		stage func(t *testing.T, name string)
		want  error
	}{
		"another text": {func(t *testing.T, name string) { write(t, name, "mine", 0o644) }, ErrChanged},
		"another mode": {func(t *testing.T, name string) { write(t, name, "expected", 0o755) }, ErrChanged},
		"nothing":      {func(*testing.T, string) {}, ErrChanged},
		"a folder": {func(t *testing.T, name string) {
			if err := os.MkdirAll(name, 0o755); err != nil {
				t.Fatal(err)
			}
		}, ErrOccupied},
		"a pipe": {func(t *testing.T, name string) {
			if err := syscall.Mkfifo(name, 0o644); err != nil {
				t.Fatal(err)
			}
		}, ErrOccupied},
		"a link to the same text": {func(t *testing.T, name string) {
			write(t, name+"x", "expected", 0o644)
			if err := os.Symlink(name+"x", name); err != nil {
				t.Fatal(err)
			}
		}, ErrChanged},
		"a second name": {func(t *testing.T, name string) {
			write(t, name, "expected", 0o644)
			if err := os.Link(name, name+"x"); err != nil {
				t.Fatal(err)
			}
		}, ErrRefused},
	} {
		for _, to := range []Content{{}, file("new"), link("new")} {
			if name == "a second name" && to.Kind == "" {
				continue // the other name keeps the text
			}
			d, dir := open(t)
			at := filepath.Join(dir, "f")
			tt.stage(t, at)
			before, _ := os.Lstat(at)
			if err := d.Put("f", "1", expected.Version(), to); !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", name, err, tt.want)
			}
			after, _ := os.Lstat(at)
			if before != nil && (after == nil || !os.SameFile(before, after)) {
				t.Errorf("%s: it was replaced", name)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".atelier-*")); len(left) > 0 {
				t.Errorf("%s: %v is left", name, left)
			}
		}
	}
	d, dir := open(t)
	write(t, filepath.Join(dir, "taken"), "mine", 0o644)
	if err := d.Put("taken", "1", agent.FileVersion{}, file("new")); !errors.Is(err, ErrOccupied) {
		t.Errorf("a name that is not free: %v", err)
	}
	if err := d.Put("taken/under", "1", agent.FileVersion{}, file("new")); !errors.Is(err, ErrOccupied) {
		t.Errorf("below a file: %v", err)
	}
}

// Names that lead elsewhere are refused, whatever a record says.
func TestNames(t *testing.T) {
	t.Parallel()
	d, dir := open(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../f", ".git/config", "a/.GIT/hooks/x", "out/f", "", ".", "a\x00b", ".git. /x", "git~1/x"} {
		if _, err := d.Read(name); !errors.Is(err, ErrRefused) {
			t.Errorf("%q was read: %v", name, err)
		}
		if err := d.Put(name, "1", agent.FileVersion{}, file("x")); !errors.Is(err, ErrRefused) {
			t.Errorf("%q was written: %v", name, err)
		}
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("%v is outside", left)
	}
	led := filepath.Join(t.TempDir(), "led")
	if err := os.Symlink(outside, led); err != nil {
		t.Fatal(err)
	}
	if err := d.Put(led+"/f", "1", agent.FileVersion{}, file("x")); !errors.Is(err, ErrBehindLink) {
		t.Errorf("an absolute name behind a link was written: %v", err)
	}
	absolute := filepath.Join(outside, "f")
	if err := d.Put(absolute, "1", agent.FileVersion{}, file("x")); err != nil {
		t.Error(err)
	}
	if err := d.Put(absolute, "1", file("x").Version(), Content{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("the folder outside is gone: %v", err)
	}
}

// A file that is replaced passes its mode on.
func TestModes(t *testing.T) {
	t.Parallel()
	d, dir := open(t)
	at := filepath.Join(dir, "f")
	for _, tt := range []struct {
		mode fs.FileMode
		to   func(string) Content
		want fs.FileMode
	}{{0o600, file, 0o600}, {0o640, executable, 0o750}, {0o755, file, 0o644}, {0o700, executable, 0o700}, {0o611, file, 0o611}} {
		write(t, at, "old", tt.mode)
		now, err := d.Read("f")
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Put("f", "1", now.Version(), tt.to("new")); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(at); err != nil || info.Mode() != tt.want {
			t.Errorf("%v became %v, want %v (%v)", tt.mode, info.Mode(), tt.want, err)
		}
		// It goes, and comes back as private as it was.
		if now, err = d.Read("f"); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(d.Put("f", "1", now.Version(), Content{}), d.Put("f", "1", agent.FileVersion{}, now)); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(at); err != nil || (info.Mode()&0o077 == 0) != (tt.want&0o077 == 0) {
			t.Errorf("%v came back as %v (%v)", tt.want, info.Mode(), err)
		}
	}
}

// After a crash, unfinished files are removed, and somebody's file that was moved
// aside gets its name back.
func TestClear(t *testing.T) {
	t.Parallel()
	from := file("from")
	for name, tt := range map[string]struct{ at, fresh, aside, want string }{
		"before the swap":      {"from", "new", "", "from"},
		"after the swap":       {"new", "new", "", "new"},
		"moved aside":          {"", "", "from", ""},
		"another, moved aside": {"", "", "mine", "mine"},
		"the name was taken":   {"other", "", "mine", "other mine"},
		"before the exchange":  {"from", "", "new", "from"},
		"after the exchange":   {"new", "", "from", "new"},
		"saved just before it": {"new", "", "mine", "mine"},
	} {
		d, dir := open(t)
		for at, text := range map[string]string{"f": tt.at, beside("f", "new-", "1"): tt.fresh, beside("f", "old-", "1"): tt.aside} {
			if text != "" {
				write(t, filepath.Join(dir, at), text, 0o644)
			}
		}
		if err := d.Clear("f", "1", from.Version(), file("new").Version()); (err != nil) != strings.Contains(tt.want, " ") {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			text, _ := os.ReadFile(filepath.Join(dir, e.Name()))
			got = append([]string{string(text)}, got...)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// full is an environment in which no file gets another name.
type full struct{ *env.Local }

func (full) Link(string, string) error   { return syscall.ENOSPC }
func (full) Rename(string, string) error { return syscall.ENOSPC }

// A file that cannot be put in place leaves the folders as they were.
func TestFoldersAfterAFailure(t *testing.T) {
	t.Parallel()
	local, err := env.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := local.WorkingDirectory()
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := Of(full{local})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Put("empty/new/er/f", "1", agent.FileVersion{}, file("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "empty")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// saving is an environment in which somebody does something just before a file is
// replaced.
type saving struct {
	*env.Local
	before func()
}

func (s saving) Exchange(one, other string) error {
	s.before()
	return s.Local.Exchange(one, other)
}

// What somebody saves while a file is replaced is not lost.
func TestPutWhileItIsSaved(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		save func(at string) error
		want string // what stands there in the end
		err  error
	}{
		"in place": {func(at string) error { return os.WriteFile(at, []byte("mine"), 0o600) }, "mine", ErrChanged},
		"by renaming": {func(at string) error {
			return errors.Join(os.WriteFile(at+"~", []byte("mine"), 0o600), os.Rename(at+"~", at))
		}, "mine", ErrChanged},
		"removed":  {os.Remove, "", ErrChanged},
		"a folder": {func(at string) error { return errors.Join(os.Remove(at), os.Mkdir(at, 0o700)) }, "", ErrOccupied},
		"nothing":  {func(string) error { return nil }, "new", nil},
	} {
		dir := t.TempDir()
		local, err := env.NewLocal(dir)
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(dir, "f")
		write(t, at, "expected", 0o644)
		d, err := Of(saving{local, sync.OnceFunc(func() {
			if err := tt.save(at); err != nil {
				t.Error(err)
			}
		})})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Put("f", "1", file("expected").Version(), file("new")); !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v", name, err, tt.err)
		}
		if got, _ := os.ReadFile(at); string(got) != tt.want {
			t.Errorf("%s: %q is there, want %q", name, got, tt.want)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".atelier-*")); len(left) > 0 {
			t.Errorf("%s: %v is left", name, left)
		}
	}
}
