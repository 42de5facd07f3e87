package workbench_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/projects"
	"atelier.dev/atelier/backend/recent"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// projectsPlace is a user's home with folders, and Atelier open on one of them.
func projectsPlace(t *testing.T, open func(context.Context, string) (string, error), folders ...string) (bench *workbench.Workbench, user, home string, store *storage.Store) {
	t.Helper()
	user, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(folders, "here") {
		if err := os.MkdirAll(filepath.Join(user, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	home = filepath.Join(user, ".atelier")
	store, err = storage.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	bench = workbench.New(workbench.Config{
		Folder: filepath.Join(user, "here"), Home: home, Store: store, OpenProject: open,
		Getenv: func(name string) string {
			if name == "HOME" {
				return user
			}
			return ""
		},
	})
	return bench, user, home, store
}

func TestRecentProjects(t *testing.T) {
	t.Parallel()
	bench, user, home, store := projectsPlace(t, nil, "shop/.git", "plain")
	if err := os.WriteFile(filepath.Join(user, "shop/.git/HEAD"), []byte("ref: refs/heads/dev\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	opened := time.UnixMilli(1_800_000_000_000)
	for i, folder := range []string{"/gone away", user + "/plain", user + "/shop", user + "/here"} {
		if err := recent.Add(home, folder, opened.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	for id, parent := range map[string]string{"asks": "", "helper": "asks", "helper2": "works", "works": ""} {
		info := backend.SessionInfo{ID: id, Folder: user + "/shop", State: agent.StateAwaitingInput}
		if parent != "" {
			info.Helper = &agent.Helper{Parent: parent}
		}
		if id == "works" {
			info.State = agent.StateProcessing
		}
		if err := store.CreateSession(t.Context(), info); err != nil {
			t.Fatal(err)
		}
	}
	var list struct{ OK projects.ProjectList }
	if err := json.Unmarshal([]byte(bench.Call(t.Context(), "projects.list", "{}")), &list); err != nil {
		t.Fatal(err)
	}
	at := func(i int64) int64 { return opened.UnixMilli() + i*1000 }
	want := []projects.RecentProject{
		{Folder: user + "/here", Name: "here", Path: "~/here", Opened: at(3), Current: true},
		{Folder: user + "/shop", Name: "shop", Path: "~/shop", Branch: "dev", Opened: at(2), Waiting: 2},
		{Folder: user + "/plain", Name: "plain", Path: "~/plain", Opened: at(1)},
		{Folder: "/gone away", Name: "gone away", Path: "/gone away", Opened: at(0), Missing: true},
	}
	if diff := cmp.Diff(want, list.OK.Projects); diff != "" {
		t.Error(diff)
	}
	if err := json.Unmarshal([]byte(bench.Call(t.Context(), "projects.forget", `{"folder":"/gone away"}`)), &list); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[:3], list.OK.Projects); diff != "" {
		t.Error(diff)
	}
}

// A path is what the user sees: whole, or from the user's home.
func TestOpeningAProjectByItsPath(t *testing.T) {
	t.Parallel()
	var asked []string
	bench, user, _, _ := projectsPlace(t, func(_ context.Context, folder string) (string, error) {
		asked = append(asked, folder)
		return "http://127.0.0.1:1/#token=t", nil
	}, "shop", "~x", "two", "two ")
	if err := os.Symlink(filepath.Join(user, "shop"), filepath.Join(user, "link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"~/shop ":               "shop",
		"~/link/../shop/":       "shop",
		user + "/link":          "shop",
		user + "/two ":          "two ",
		user + "/two":           "two",
		"~/two ":                "two ",
		" " + user + "/two\n":   "two",
		"~":                     ".",
		"shop":                  "project_path",
		"~x":                    "project_path",
		"":                      "project_path",
		"~/none":                "folder_missing",
		"~/here":                "project_here",
		"~/here/../here/.":      "project_here",
		"/etc/hostname/nothing": "folder_",
	} {
		asked = nil
		args, _ := json.Marshal(map[string]string{"folder": path})
		got := bench.Call(t.Context(), "projects.open", string(args))
		if strings.Contains(got, `"error"`) {
			if !strings.Contains(got, `"id":"`+want) || len(asked) > 0 {
				t.Errorf("%q: %s, want %s", path, got, want)
			}
			continue
		}
		if diff := cmp.Diff([]string{filepath.Join(user, want)}, asked); diff != "" || !strings.Contains(got, `"address":"http://127.0.0.1:1/#token=t"`) {
			t.Errorf("%q: %s, asked for %v, want %s", path, got, asked, want)
		}
	}
}

func TestProposedFolders(t *testing.T) {
	t.Parallel()
	bench, user, _, _ := projectsPlace(t, nil, "Shop", "shelf/a", "shelf/.b", "zoo")
	if err := os.WriteFile(filepath.Join(user, "sheet"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(user, "zoo"), filepath.Join(user, "sh-link")); err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if _, err := os.MkdirTemp(filepath.Join(user, "zoo"), ""); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string][]string{
		"~/sh":          {"~/sh-link", "~/shelf", "~/Shop"},
		"~/shelf/":      {"~/shelf/a"},
		"~/shelf/.":     {"~/shelf/.b"},
		user + "/shelf": {"~/shelf"},
		"~/none/":       nil,
		"sh":            nil,
		"":              nil,
	} {
		args, _ := json.Marshal(map[string]string{"folder": path})
		var got struct{ OK projects.FolderList }
		if err := json.Unmarshal([]byte(bench.Call(t.Context(), "projects.folders", string(args))), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.OK.Folders); diff != "" {
			t.Errorf("%q: %s", path, diff)
		}
	}
	var many struct{ OK projects.FolderList }
	if err := json.Unmarshal([]byte(bench.Call(t.Context(), "projects.folders", `{"folder":"~/zoo/"}`)), &many); err != nil || len(many.OK.Folders) != 20 {
		t.Errorf("%d folders, %v", len(many.OK.Folders), err)
	}
}

// A hit in another project's session is where that project opens, once and for the page that
// asks first.
func TestArrival(t *testing.T) {
	t.Parallel()
	home, other := t.TempDir(), t.TempDir()
	p := openPage(t, t.TempDir(), home, func(string) string { return "" }, func(s *storage.Store) backend.Store { return s }, func(c *workbench.Config) {
		c.OpenProject = func(context.Context, string) (string, error) { return "", nil }
	})
	there := newPage(t, other, home, func(string) string { return "" })
	want := &projects.Arrival{Session: "s", Hit: backend.SearchHit{Seq: 7, Part: "output"}, Words: []string{"thimble"}}
	must[projects.OpenedProject](p, "projects.open", projects.ProjectRequest{Folder: other, Arrival: want})
	if got := must[projects.ArrivalReply](p, "projects.arrive", backend.Empty{}).Arrival; got != nil {
		t.Errorf("the page that led there goes to %+v", got)
	}
	got := must[projects.ArrivalReply](there, "projects.arrive", backend.Empty{}).Arrival
	if got == nil || got.Session != "s" || got.Hit.Seq != 7 || len(got.Words) != 1 {
		t.Errorf("%+v", got)
	}
	if again := must[projects.ArrivalReply](there, "projects.arrive", backend.Empty{}).Arrival; again != nil {
		t.Errorf("it is told again: %+v", again)
	}
	if err := there.store.SetSetting(t.Context(), "arrival "+there.folder, `{"session":"s","at":1}`); err != nil {
		t.Fatal(err)
	}
	if late := must[projects.ArrivalReply](there, "projects.arrive", backend.Empty{}).Arrival; late != nil {
		t.Errorf("an old place is gone to: %+v", late)
	}
}
