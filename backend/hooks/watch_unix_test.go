//go:build unix

package hooks

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/backend/internal/watch"
)

const aboutEnv = `{"hooks": {"FileChanged": [{"matcher": "\\.env$", "hooks": [{"type": "command", "command": "x"}]}]}}`

// Where the system does not tell of changes, files are looked at: each change is
// told once, as it is where the system does.
func TestPolling(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.watch = newWatcher(f.Hooks, watch.Config{
		Open: func() (*fsnotify.Watcher, error) { return nil, errors.New("no more descriptors") }, Poll: time.Millisecond,
	})
	f.write(".agent/settings.json", aboutEnv)
	f.write("old.env", "1")
	f.write("sub/known.env", "1")
	f.write("gone.env", "1")
	f.Engine(t.Context(), Session{ID: "s", Folder: f.folder}).Close()
	var want []string
	for _, step := range []struct{ name, text, want string }{
		{"old.env", "22", "change old.env"}, {"other.txt", "1", ""}, {"sub/known.env", "22", "change known.env"}, {"new/deep/new.env", "1", "add new.env"},
		{"gone.env", "", "unlink gone.env"}, {"~/.agent/settings.json", "{}", "user_settings settings.json"}, {".agent/settings.json", "{}", "project_settings settings.json"},
	} {
		if step.text == "" {
			if err := os.Remove(f.path(step.name)); err != nil {
				t.Fatal(err)
			}
		} else {
			f.write(step.name, step.text)
		}
		if step.want != "" {
			f.await(step.want, 1)
			want = append(want, step.want)
		}
	}
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, f.await(want[0], 1)); diff != "" {
		t.Error(diff)
	}
}

// A file that was written to a new folder before the watch over the folder stood is
// told, and so is one in a folder within it.
func TestFilesOfNewFolders(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".agent/settings.json", aboutEnv)
	f.Engine(t.Context(), Session{ID: "s", Folder: f.folder}).Close()
	made := filepath.Join(filepath.Dir(f.folder), "made")
	if err := os.MkdirAll(filepath.Join(made, "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.env", "deep/b.env", "c.txt"} {
		if err := os.WriteFile(filepath.Join(made, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(made, f.path("made")); err != nil { // all of it comes at once
		t.Fatal(err)
	}
	f.await("add a.env", 1)
	f.await("add b.env", 1)
	f.write("made/deep/b.env", "more")
	seen := f.await("change b.env", 1)
	slices.Sort(seen)
	if diff := cmp.Diff([]string{"add a.env", "add b.env", "change b.env"}, seen); diff != "" {
		t.Error(diff)
	}
}
