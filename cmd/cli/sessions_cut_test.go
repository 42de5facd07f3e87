package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

// TestListIsCut proves that a list which ends at its limit says so, that 0 is no limit,
// and that the sessions of all projects can be listed.
func TestListIsCut(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	store, err := storage.Open(t.Context(), p.home)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for i := range 503 {
		info := backend.SessionInfo{ID: fmt.Sprintf("S%03d", i), Folder: p.folder, State: agent.StateIdle, UpdatedAt: int64(i + 1)}
		if i%50 == 49 {
			info.Folder = "/elsewhere"
		}
		if err := store.CreateSession(t.Context(), info); err != nil {
			t.Fatal(err)
		}
	}
	const cut = "The list was cut after %d. --limit N shows more, --limit 0 all.\n"
	for flags, want := range map[string]struct {
		lines int
		errs  string
	}{
		"":                              {50, fmt.Sprintf(cut, 50)},
		"--limit 5":                     {5, fmt.Sprintf(cut, 5)},
		"--limit 492":                   {492, fmt.Sprintf(cut, 492)},
		"--limit 493":                   {493, ""},
		"--limit 0":                     {493, ""},
		"--limit 0 --all-projects":      {503, ""},
		"--all-projects":                {50, fmt.Sprintf(cut, 50)},
		"--limit 3 --json":              {3, fmt.Sprintf(cut, 3)},
		"--limit 0 --state working":     {0, ""},
		"--limit 1 --text nothing":      {0, ""},
		"--limit 502 --all-projects":    {502, fmt.Sprintf(cut, 502)},
		"--limit 0 --archived --pinned": {0, ""},
	} {
		out, errs, code := p.run(append([]string{"sessions", "list", "-C", p.folder}, strings.Fields(flags)...)...)
		if code != 0 || strings.Count(out, "\n") != want.lines || errs != want.errs {
			t.Errorf("%s: exit %d, %d lines, %q", flags, code, strings.Count(out, "\n"), errs)
		}
		if strings.Contains(out, "/elsewhere") != strings.Contains(flags, "--all-projects") {
			t.Errorf("%s: names of folders are wrong", flags)
		}
	}
	if _, errs, code := p.run("sessions", "list", "--limit", "-1"); code != 2 || !strings.Contains(errs, "not negative") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestKilledSessionIsInterrupted proves that a session whose process was killed is not
// listed as working, and that one which another process runs is.
func TestKilledSessionIsInterrupted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	store, err := storage.Open(t.Context(), p.home)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, id := range []string{"KILLED", "RUNS"} {
		if err := store.CreateSession(t.Context(), backend.SessionInfo{ID: id, Folder: p.folder, State: agent.StateProcessing, UpdatedAt: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Lease("RUNS"); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"list":                 "RUNS working KILLED interrupted",
		"list --state working": "RUNS working",
		"list --state resting": "KILLED interrupted",
		"list --state waiting": "",
		"show KILLED":          "KILLED interrupted",
		"show RUNS":            "RUNS working",
	} {
		out, errs, code := p.run(append(append([]string{"sessions"}, strings.Fields(args)...), "-C", p.folder)...)
		var got []string
		for line := range strings.Lines(out) {
			if fields := strings.Fields(line); len(fields) > 3 {
				got = append(got, fields[0], fields[3])
			}
		}
		if code != 0 || strings.Join(got, " ") != want {
			t.Errorf("%s: exit %d, %q, %s", args, code, out, errs)
		}
	}
}
