package main

import (
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
)

// seeded returns the log of a session in a new home.
func seeded(t *testing.T, session string) []agent.Event {
	t.Helper()
	home, folder := filepath.Join(t.TempDir(), "home"), t.TempDir()
	if err := seed(t.Context(), home, folder, size{messages: 300, lines: 101, sessions: 3}); err != nil {
		t.Fatal(err)
	}
	store, err := storage.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	list, err := store.Sessions(t.Context(), must(t, folder))
	if err != nil || len(list) != 6 || list[0].ID != emptyID {
		t.Fatalf("the sessions are %+v, %v; want the empty one first", list, err)
	}
	for _, info := range list {
		if info.State != agent.StateIdle {
			t.Errorf("%s is %s", info.ID, info.State)
		}
	}
	events, err := store.Events(t.Context(), backend.EventRange{Session: session})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func must(t *testing.T, folder string) string {
	t.Helper()
	resolved, err := filepath.EvalSymlinks(folder)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func TestTheLongSessionIsWholeAndTheSameEachTime(t *testing.T) {
	t.Parallel()
	first, second := seeded(t, longID), seeded(t, longID)
	ignoreFolder := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Folder" }, cmp.Ignore())
	if diff := cmp.Diff(first, second, ignoreFolder); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
	messages, open, turns := 0, map[string]bool{}, 0
	for _, ev := range first {
		switch d := ev.Data.(type) {
		case agent.Warning:
			t.Errorf("event %d: %s", ev.Seq, d.Message)
		case agent.UserInput:
			turns++
			messages++
		case agent.TextEnd:
			messages++
			for _, call := range d.Message.Calls() {
				open[call.ID] = true
			}
		case agent.ToolCallEnd:
			messages++
			if !open[d.CallID] {
				t.Errorf("%s ends and was not asked for", d.CallID)
			}
			delete(open, d.CallID)
		}
	}
	if messages < 300 || messages > 302 || turns < 5 || len(open) > 0 {
		t.Errorf("%d messages in %d turns, %d calls without an end", messages, turns, len(open))
	}
}

func TestTheLargeDiffCountsItsLines(t *testing.T) {
	t.Parallel()
	for _, ev := range seeded(t, diffID) {
		if end, ok := ev.Data.(agent.ToolCallEnd); ok {
			change := end.Details.Changes[0]
			if change.Added != 51 || change.Removed != 51 {
				t.Errorf("%d lines were added, %d removed; want 51 of each", change.Added, change.Removed)
			}
			return
		}
	}
	t.Error("no call ends")
}
