package offload_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/offload"
)

// unpacked is what a file says, and its size.
func unpacked(t *testing.T, path string) (string, int64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read %s: %v", path, info.Mode())
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(all), info.Size()
}

// COM-20, COM-22: a long text becomes a compressed file, without its secrets. A short one
// does not.
func TestPut(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "s1", "offload")
	s := &offload.Store{Dir: dir, Redact: func(said string) (string, error) { return strings.ReplaceAll(said, "hunter2", "***"), nil }}
	if path, err := s.Put(t.Context(), "short", strings.Repeat("x", offload.DefaultFrom-1)); !errors.Is(err, offload.ErrShort) {
		t.Errorf("%q, %v", path, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder was made for nothing")
	}
	long := strings.Repeat("a line with hunter2\n", 1000)
	path, err := s.Put(t.Context(), "tool_result:3:1", long)
	if err != nil {
		t.Fatal(err)
	}
	said, size := unpacked(t, path)
	if said != strings.ReplaceAll(long, "hunter2", "***") || size > int64(len(long)/10) {
		t.Errorf("%d bytes of a file of %d: %.100q", len(said), size, said)
	}
	again, err := s.Put(t.Context(), "tool_result:3:1", long+"more")
	if said, _ := unpacked(t, again); err != nil || again != path || !strings.HasSuffix(said, "more") {
		t.Errorf("%s, %v", again, err)
	}
}

// COM-22: of a text beyond the limit the middle is left out, with a mark. Files are plain if
// asked.
func TestPutCuts(t *testing.T) {
	t.Parallel()
	s := &offload.Store{Dir: t.TempDir(), From: 10, Max: 100, Plain: true}
	path, err := s.Put(t.Context(), "x", "begin "+strings.Repeat("ü", 200)+" end")
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(path)
	if got := string(said); err != nil || !strings.HasPrefix(got, "begin ") || !strings.HasSuffix(got, " end") || !strings.Contains(got, "bytes are left out here.]") || len(got) > 150 {
		t.Errorf("%q, %v", got, err)
	}
}

// Names cannot lead out of the folder, differ where they look the same as files, and links
// are not followed. What fails leaves no file.
func TestPutStaysInside(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	s := &offload.Store{Dir: dir, From: 1}
	seen := map[string]bool{}
	for _, name := range []string{"../../x", "a:b", "a/b", "a-b", "", strings.Repeat("n", 5000), "\x00"} {
		path, err := s.Put(t.Context(), name, "text")
		if err != nil || filepath.Dir(path) != dir || seen[path] {
			t.Errorf("%.40q: %s, %v", name, path, err)
		}
		seen[path] = true
	}
	path, err := s.Put(t.Context(), "linked", "text")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(path), os.Symlink(outside, path), os.Symlink(outside, path+".part")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), "linked", "text"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a link was followed")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	fails := map[string]func() (string, error){
		"ended": func() (string, error) { return s.Put(ended, "ended", "text") },
		"unredacted": func() (string, error) {
			return (&offload.Store{Dir: dir, From: 1, Redact: func(string) (string, error) { return "", errors.New("no") }}).Put(t.Context(), "unredacted", "text")
		},
		"no folder": func() (string, error) {
			return (&offload.Store{Dir: filepath.Join(path, "in a file"), From: 1}).Put(t.Context(), "x", "text")
		},
	}
	before, _ := os.ReadDir(dir)
	for name, put := range fails {
		if path, err := put(); err == nil || path != "" {
			t.Errorf("%s: %q, %v", name, path, err)
		}
	}
	if after, _ := os.ReadDir(dir); len(after) != len(before) {
		t.Errorf("%d files, then %d", len(before), len(after))
	}
}
