package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"
)

// yard is a folder of which a watcher watches sub/tree.
type yard struct {
	*Watcher
	t      *testing.T
	folder string
	told   chan []string // what was watched
	tree   Tree
}

func newYard(t *testing.T, cfg Config) *yard {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{t: t, folder: folder, told: make(chan []string, 100)}
	y.tree = Tree{Roots: []string{y.path("sub/tree")}, Folders: 20, Entries: 100, Skip: []string{"skipped"}, Links: true, Look: func(string, fs.DirEntry, bool) {}}
	cfg.Notice = func(path string) bool {
		return path == y.path("sub") || strings.HasPrefix(path, y.path("sub/tree"))
	}
	cfg.Tell = func(context.Context) { y.told <- y.follow() }
	y.Watcher = New(cfg)
	t.Cleanup(y.Close)
	return y
}

func (y *yard) follow() []string {
	want := map[string]bool{}
	y.Reach(y.folder, y.path("sub/tree"), want)
	y.Walk(y.tree, want)
	y.Keep(want)
	return y.names(y.Watched())
}

func (y *yard) names(paths []string) (out []string) {
	for _, p := range paths {
		rel, _ := filepath.Rel(y.folder, p)
		out = append(out, filepath.ToSlash(rel))
	}
	slices.Sort(out)
	return out
}

func (y *yard) path(name string) string { return filepath.Join(y.folder, filepath.FromSlash(name)) }

func (y *yard) dir(name string) {
	y.t.Helper()
	if err := os.MkdirAll(y.path(name), 0o755); err != nil {
		y.t.Fatal(err)
	}
}

// await waits until these folders are watched.
func (y *yard) await(want ...string) {
	y.t.Helper()
	var got []string
	for {
		select {
		case got = <-y.told:
		case <-time.After(time.Minute):
			y.t.Fatalf("%q are watched, not %q", got, want)
		}
		if slices.Equal(got, want) {
			return
		}
	}
}

// Folders that are made later are watched, whatever is missing on the way to them, and so
// are those that links lead to, each once. No watch is left over what is gone or was moved.
func TestFoldersThatComeAndGo(t *testing.T) {
	t.Parallel()
	y := newYard(t, Config{})
	y.Start(func(context.Context) { y.follow() })
	if got := y.names(y.Watched()); !slices.Equal(got, []string{"."}) {
		t.Fatalf("%q", got)
	}
	y.dir("sub/tree/a/b")
	y.dir("sub/tree/skipped")
	y.await(".", "sub", "sub/tree", "sub/tree/a", "sub/tree/a/b")
	y.dir("elsewhere/linked")
	if err := errors.Join(os.Symlink(y.path("elsewhere"), y.path("sub/tree/link")), os.Symlink(y.path("sub"), y.path("sub/tree/a/loop"))); err != nil {
		t.Fatal(err)
	}
	y.await(".", "elsewhere", "elsewhere/linked", "sub", "sub/tree", "sub/tree/a", "sub/tree/a/b")
	if err := os.Remove(y.path("sub/tree/a/loop")); err != nil {
		t.Fatal(err)
	}
	y.dir("sub/tree/a/e") // the end of the loop ended no watch
	y.await(".", "elsewhere", "elsewhere/linked", "sub", "sub/tree", "sub/tree/a", "sub/tree/a/b", "sub/tree/a/e")
	if err := os.Rename(y.path("sub"), y.path("moved")); err != nil {
		t.Fatal(err)
	}
	y.await(".")
	y.dir("sub/tree/c")
	y.await(".", "sub", "sub/tree", "sub/tree/c")
	y.dir("sub/tree/c/d") // the folder of that name that stands there now is watched
	y.await(".", "sub", "sub/tree", "sub/tree/c", "sub/tree/c/d")
	y.Close()
	select {
	case <-y.Done():
	default:
		t.Error("the watch has not ended")
	}
}

// A tree that is larger than its limits is watched in part, and a walk says so.
func TestLimitsOfAWalk(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		folders, entries int
		whole            bool
		want             []string
	}{
		"all":           {10, 100, true, []string{"sub/tree", "sub/tree/a", "sub/tree/a/x", "sub/tree/b"}},
		"two folders":   {2, 100, false, []string{"sub/tree", "sub/tree/a"}},
		"three entries": {10, 3, false, []string{"sub/tree", "sub/tree/a"}},
	} {
		y := newYard(t, Config{})
		y.dir("sub/tree/a/x")
		y.dir("sub/tree/b")
		y.tree.Folders, y.tree.Entries = tt.folders, tt.entries
		want := map[string]bool{}
		whole := false
		y.Start(func(context.Context) { whole = y.Walk(y.tree, want) })
		if diff := cmp.Diff(tt.want, y.names(y.Watched())); diff != "" || whole != tt.whole || len(want) != len(tt.want) {
			t.Errorf("%s: %t, %d, %s", name, whole, len(want), diff)
		}
	}
}

// A single folder with more than the limit is read in part as well.
func TestLimitsOfAFolder(t *testing.T) {
	t.Parallel()
	for most, want := range map[int]int{4: 4, 10: 10, 11: 10} {
		y := newYard(t, Config{})
		y.dir("sub/tree")
		for i := range 10 {
			if err := os.WriteFile(y.path(fmt.Sprintf("sub/tree/%d", i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		seen := 0
		y.tree.Entries, y.tree.Look = most, func(string, fs.DirEntry, bool) { seen++ }
		if whole := y.Walk(y.tree, map[string]bool{}); seen != want || whole != (most >= 10) {
			t.Errorf("of at most %d, %d were seen, as a whole %t", most, seen, whole)
		}
	}
}

// A change of a file's mode is none of its contents. Some want to know of it.
func TestModes(t *testing.T) {
	t.Parallel()
	for _, modes := range []bool{false, true} {
		y := newYard(t, Config{Modes: modes})
		for op, want := range map[fsnotify.Op]bool{fsnotify.Chmod: modes, fsnotify.Write: true, fsnotify.Write | fsnotify.Chmod: true, fsnotify.Create: true, fsnotify.Remove: true} {
			if got := y.notice(fsnotify.Event{Name: y.path("sub/tree/x"), Op: op}); got != want {
				t.Errorf("%s: %t", op, got)
			}
		}
		if y.notice(fsnotify.Event{Name: y.path("other"), Op: fsnotify.Write}) {
			t.Error("what does not matter is noticed")
		}
	}
}

// Where the system tells nothing, folders are looked at again and again.
func TestPolls(t *testing.T) {
	t.Parallel()
	y := newYard(t, Config{Open: func() (*fsnotify.Watcher, error) { return nil, errors.New("no more descriptors") }, Poll: time.Millisecond})
	y.dir("sub/tree")
	if err := os.WriteFile(y.path("sub/tree/x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 100)
	y.tree.Look = func(path string, _ fs.DirEntry, fresh bool) {
		select {
		case seen <- y.names([]string{path})[0]:
		default:
		}
		if !fresh || !y.Polls() {
			t.Errorf("%s: %t", path, fresh)
		}
	}
	y.Start(func(context.Context) {})
	for range 2 {
		select {
		case name := <-seen:
			if name != "sub/tree/x" {
				t.Error(name)
			}
		case <-time.After(time.Minute):
			t.Fatal("nothing was looked at")
		}
	}
}
