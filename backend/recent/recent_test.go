package recent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier.dev/atelier/backend/recent"
	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func add(t *testing.T, home, folder string, minute int) {
	t.Helper()
	if err := recent.Add(home, folder, noon.Add(time.Duration(minute)*time.Minute)); err != nil {
		t.Fatal(err)
	}
}

func folders(t *testing.T, home string) []string {
	t.Helper()
	list, err := recent.List(home)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range list {
		out = append(out, p.Folder)
	}
	return out
}

func TestFoldersAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if got := folders(t, home); got != nil {
		t.Errorf("before the first: %v", got)
	}
	add(t, home, "/src/a", 1)
	add(t, home, "/src/b", 2)
	add(t, home, "/src/c \u2028 d", 3)
	add(t, home, "/src/a", 4)
	if diff := cmp.Diff([]string{"/src/a", "/src/c \u2028 d", "/src/b"}, folders(t, home)); diff != "" {
		t.Error(diff)
	}
	for range 2 { // the second time there is nothing to forget
		if err := recent.Remove(home, "/src/a"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"/src/c \u2028 d", "/src/b"}, folders(t, home)); diff != "" {
		t.Error(diff)
	}
}

func TestTheOldestAreForgotten(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for i := range recent.Most + 5 {
		add(t, home, fmt.Sprintf("/src/%d", i), i)
	}
	got := folders(t, home)
	if len(got) != recent.Most || got[0] != "/src/54" || got[recent.Most-1] != "/src/5" {
		t.Errorf("%d folders, from %s to %s", len(got), got[0], got[len(got)-1])
	}
	if files, err := os.ReadDir(filepath.Join(home, "projects")); err != nil || len(files) != recent.Most {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// Damage costs one entry, and nothing that somebody put there is listed as a
// folder.
func TestDamageCostsOneEntry(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	add(t, home, "/src/a", 1)
	dir := filepath.Join(home, "projects")
	own, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(own) != 1 {
		t.Fatal(own, err)
	}
	whole, err := os.ReadFile(own[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"0000000000000000.json": string(whole), // another folder's entry
		"1111111111111111.json": `{"folder":"rel`,
		"2222222222222222.json": "",
		"notes.txt":             "not ours",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "3333333333333333.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/src/a"}, folders(t, home)); diff != "" {
		t.Error(diff)
	}
	add(t, home, "/src/b", 2)
	if diff := cmp.Diff([]string{"/src/b", "/src/a"}, folders(t, home)); diff != "" {
		t.Error(diff)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 3 {
		t.Errorf("kept %v, %v; want the two entries and notes.txt", files, err)
	}
}

func TestFoldersThatOpenAtOnceAreAllKept(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := recent.Add(home, fmt.Sprintf("/src/%d", i), noon); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := folders(t, home); len(got) != 20 {
		t.Errorf("%d folders: %v", len(got), got)
	}
}

func TestEntriesArePrivate(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	add(t, home, "/src/a", 1)
	for _, pattern := range []string{"projects", "projects/*.json"} {
		found, err := filepath.Glob(filepath.Join(home, pattern))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		if info, err := os.Stat(found[0]); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", found[0], info.Mode(), err)
		}
	}
}

// The longest path that a system has is kept, whatever characters it has.
func TestLongStrangePathsAreKept(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	long := strings.Repeat("/"+strings.Repeat("\x01", 254), 16)
	for i, folder := range []string{long, "/right\u202eto left", `/quo"te 'd`, "/-x", "/ends "} {
		add(t, home, folder, i)
	}
	if diff := cmp.Diff([]string{"/ends ", "/-x", `/quo"te 'd`, "/right\u202eto left", long}, folders(t, home)); diff != "" {
		t.Error(diff)
	}
}

// Processes that open one folder at the same time do not lose its entry.
func TestAddBesideOthers(t *testing.T) {
	t.Parallel()
	home, folder := t.TempDir(), t.TempDir()
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 50 {
				if err := recent.Add(home, folder, time.Now()); err != nil {
					t.Error(err)
				}
				if list, err := recent.List(home); err != nil || len(list) != 1 {
					t.Errorf("%d entries, %v", len(list), err)
				}
			}
		})
	}
	writers.Wait()
}
