package caches

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var today = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// fill makes caches of ten bytes each that were used some time ago.
func fill(t *testing.T, dir string, ages map[string]time.Duration) {
	t.Helper()
	for name, age := range ages {
		path := filepath.Join(dir, name, "deep")
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(path, "file")
		if err := os.WriteFile(file, make([]byte, 10), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{file, path, filepath.Dir(path)} {
			if err := os.Chtimes(path, today.Add(-age), today.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(escaped(dir), "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		name, _ := filepath.Rel(dir, path)
		names = append(names, name)
	}
	return names
}

// Caches that were not used for long go, then the oldest until the rest fits;
// what may be in use stays even beyond the limit.
func TestTrim(t *testing.T) {
	t.Parallel()
	ages := map[string]time.Duration{
		"p/go-build": time.Minute, "p/npm": 2 * time.Hour, "q/pip": 48 * time.Hour, "q/gradle": 24 * time.Hour, "r/old": 100 * 24 * time.Hour,
	}
	for limit, want := range map[int64][]string{
		1000: {"p/go-build", "p/npm", "q/gradle", "q/pip"},
		30:   {"p/go-build", "p/npm", "q/gradle"},
		25:   {"p/go-build", "p/npm"},
		0:    {"p/go-build"},
	} {
		dir := t.TempDir()
		fill(t, dir, ages)
		c := New(dir, limit, func() time.Time { return today })
		if size, err := c.Size(t.Context()); size != 50 || err != nil {
			t.Errorf("%d bytes, %v", size, err)
		}
		c.Use(t.Context())
		c.Wait()
		if diff := cmp.Diff(want, left(t, dir)); diff != "" {
			t.Errorf("limit %d (-want +got)\n%s", limit, diff)
		}
		fill(t, dir, map[string]time.Duration{"r/old": 100 * 24 * time.Hour})
		c.Use(t.Context()) // not again within the hour
		c.Wait()
		if len(left(t, dir)) != len(want)+1 {
			t.Errorf("limit %d: trimmed again: %q", limit, left(t, dir))
		}
	}
}

// All caches can be deleted, also read-only folders in them.
func TestClear(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a[b]*")
	fill(t, dir, map[string]time.Duration{"p/go": 0, "q/npm": 0})
	if err := os.Chmod(filepath.Join(dir, "p/go/deep"), 0o500); err != nil {
		t.Fatal(err)
	}
	c := New(dir, 10, time.Now)
	if err := c.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if size, err := c.Size(t.Context()); size != 0 || err != nil || len(left(t, dir)) != 0 {
		t.Errorf("%d bytes, %v, %q", size, err, left(t, dir))
	}
	if size, err := New(dir+"/absent", 10, time.Now).Size(t.Context()); size != 0 || err != nil {
		t.Errorf("%d bytes, %v", size, err)
	}
}
