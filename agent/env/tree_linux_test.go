package env

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// The steps of a change accept the same paths as the other file operations, and
// lead out of the working directory as little.
func TestTree(t *testing.T) { // LOOP-51, K-39
	t.Parallel()
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "s")
	l := newLocal(t, map[string]string{"dir/file": "x"})
	in := func(name string) string { return filepath.Join(l.dir, name) }
	symlink(t, outside, in("exit"))
	symlink(t, filepath.Join(outside, "secret"), in("link"))
	symlink(t, "secret", filepath.Join(outside, "outlink"))

	for _, tt := range []struct{ path, want string }{
		{"dir/file", ""}, {in("dir/file"), ""}, {"dir", ""}, {".", ""}, {filepath.Join(outside, "secret"), ""},
		{"exit/secret", "leads out of the project"}, {"exit/new", "leads out of the project"},
		{"none", "does not exist"}, {"dir/file/below", "part of its path is a file"}, {"", "no path"}, {"a\x00", "NUL"},
	} {
		_, err := l.Lstat(tt.path)
		checkProblem(t, "Lstat", tt.path, err, tt.want)
	}
	for _, path := range []string{"link", "exit", filepath.Join(outside, "outlink")} {
		if info, err := l.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is %v, %v; want the link itself", path, info, err)
		}
	}
	if _, err := l.Lstat(filepath.Join(outside, "no", "where")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	open := func(path string, flag int) error {
		f, err := l.OpenFile(path, flag, 0o644)
		if err == nil {
			err = f.Close()
		}
		return err
	}
	for what, do := range map[string]func(path string) error{
		"OpenFile": func(path string) error { return open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL) },
		"Mkdir":    func(path string) error { return l.Mkdir(path, 0o755) },
		"Rename":   func(path string) error { return l.Rename(path, "exit/other") },
		"Remove":   l.Remove,
	} {
		checkProblem(t, what, "exit/secret", do("exit/secret"), "leads out of the project")
	}
	checkProblem(t, "OpenFile", "link", open("link", os.O_RDONLY), "leads out of the project")

	for _, err := range []error{
		l.Mkdir("dir/new", 0o755), open("dir/new/a", os.O_WRONLY|os.O_CREATE|os.O_EXCL),
		l.Rename("dir/new/a", in("dir/new/b")), l.Rename(filepath.Join(outside, "secret"), filepath.Join(outside, "moved")), l.Remove("dir/file"),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	for path, want := range map[string]bool{in("dir/new/b"): true, in("dir/new/a"): false, in("dir/file"): false, filepath.Join(outside, "moved"): true} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s is there: %v", path, err)
		}
	}
}
