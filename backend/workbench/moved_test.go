package workbench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/project"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/moved"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// openOn is Atelier on a folder.
func openOn(t *testing.T, store *storage.Store, folder string) *workbench.Workbench {
	t.Helper()
	bench := workbench.New(workbench.Config{Folder: folder, Home: t.TempDir(), Store: store, Getenv: func(string) string { return "" }})
	t.Cleanup(func() { _ = bench.Close(t.Context()) })
	return bench
}

// reply calls a method and decodes its reply.
func reply[T any](t *testing.T, bench *workbench.Workbench, method, args string) (out T) {
	t.Helper()
	var got struct {
		OK    T
		Error *backend.Error
	}
	if err := json.Unmarshal([]byte(bench.Call(t.Context(), method, args)), &got); err != nil || got.Error != nil {
		t.Fatalf("%s: %v, %v", method, err, got.Error)
	}
	return got.OK
}

// The sessions of a folder that was moved are offered where it is now, brought over
// with one call, and taken back with another. A folder that is still there, or that
// has sessions, or whose offer was refused, gets no offer.
func TestMovedFolder(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	store, err := storage.Open(t.Context(), filepath.Join(top, "home"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	at := func(name string) string { return filepath.Join(top, name) }
	for _, name := range []string{"old", "other", "also"} {
		if err := os.Mkdir(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.CreateSession(t.Context(), backend.SessionInfo{ID: "a", Folder: at("old"), State: agent.StateIdle}); err != nil {
		t.Fatal(err)
	}
	offer := func(folder string) moved.MovedFolder {
		return reply[moved.MovedFolder](t, openOn(t, store, folder), "project.moved", "{}")
	}
	nothing := moved.MovedFolder{}
	if got := offer(at("old")); got != nothing { // which notes what it is known by
		t.Errorf("at its own place: %+v", got)
	}
	if got := offer(at("other")); got != nothing {
		t.Errorf("while it is there: %+v", got)
	}
	if err := os.Rename(at("old"), at("new")); err != nil {
		t.Fatal(err)
	}
	if got := offer(at("other")); got != nothing {
		t.Errorf("elsewhere: %+v", got)
	}
	bench := openOn(t, store, at("new"))
	want := moved.MovedFolder{Folder: at("old"), Sessions: 1, By: "marker"}
	got := reply[moved.MovedFolder](t, bench, "project.moved", "{}")
	if got == nothing {
		t.Skip("this system does not tell when a folder was made")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	args, _ := json.Marshal(got)
	reply[moved.MovedFolder](t, bench, "project.bring_over", string(args))
	if list, err := store.Sessions(t.Context(), at("new")); len(list) != 1 || err != nil {
		t.Errorf("brought over: %+v, %v", list, err)
	}
	if got := offer(at("new")); got != nothing {
		t.Errorf("once brought over: %+v", got)
	}
	reply[moved.MovedFolder](t, bench, "project.take_back", "{}")
	if list, err := store.Sessions(t.Context(), at("old")); len(list) != 1 || err != nil {
		t.Errorf("taken back: %+v, %v", list, err)
	}
	reply[struct{}](t, bench, "project.leave_there", string(args))
	if got := offer(at("new")); got != nothing {
		t.Errorf("refused: %+v", got)
	}
	if err := os.Mkdir(at("sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("sub/old"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := offer(at("sub/old")); got != nothing {
		t.Errorf("another folder of that name, though the old one is known: %+v", got)
	}
}

// A folder that an older program worked in is known by its name alone.
func TestMovedFolderOfAnOlderProgram(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	store, err := storage.Open(t.Context(), filepath.Join(top, "home"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	if err := store.CreateSession(t.Context(), backend.SessionInfo{ID: "a", Folder: "/gone/shop", State: agent.StateIdle}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]moved.MovedFolder{"shop": {Folder: "/gone/shop", Sessions: 1, By: "name"}, "shoe": {}} {
		folder := filepath.Join(top, name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, reply[moved.MovedFolder](t, openOn(t, store, folder), "project.moved", "{}")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Of several folders that may have been this one, the one that is known best is offered,
// whichever was used last.
func TestMovedFolderThatIsKnownBest(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	store, err := storage.Open(t.Context(), filepath.Join(top, "home"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	old, here := filepath.Join(top, "old"), filepath.Join(top, "moved")
	for i, folder := range []string{"/gone/first/moved", old, "/gone/last/moved"} {
		info := backend.SessionInfo{ID: string(rune('a' + i)), Folder: folder, State: agent.StateIdle, CreatedAt: int64(i + 1), UpdatedAt: int64(i + 1)}
		if err := store.CreateSession(t.Context(), info); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	if project.Identify(t.Context(), old).Marker == "" {
		t.Skip("this system does not tell when a folder was made")
	}
	reply[moved.MovedFolder](t, openOn(t, store, old), "project.moved", "{}") // which notes what it is known by
	if err := os.Rename(old, here); err != nil {
		t.Fatal(err)
	}
	got := reply[moved.MovedFolder](t, openOn(t, store, here), "project.moved", "{}")
	if diff := cmp.Diff(moved.MovedFolder{Folder: old, Sessions: 1, By: "marker"}, got); diff != "" {
		t.Error(diff)
	}
}
