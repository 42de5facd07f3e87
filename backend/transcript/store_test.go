package transcript_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend/transcript"
)

// LIVE-02: transcripts of both programs are found, the newest first, each with its
// folder and its first prompt. Links, pipes, agents' files and what is not a transcript are
// left out, and no name leads out of the store.
func TestStores(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	put := func(name, text string, at int64) {
		t.Helper()
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.UnixMilli(at), time.UnixMilli(at)); err != nil {
			t.Fatal(err)
		}
	}
	put(".claude/projects/-p/old.jsonl", claude, 1_000_000)
	put(".claude/projects/-p/new.jsonl", claude, 2_000_000)
	put(".claude/projects/-p/agent-1.jsonl", claude, 3_000_000)
	put(".claude/projects/-p/notes.txt", claude, 3_000_000)
	put(".claude/projects/-p/empty.jsonl", "", 3_000_000)
	put(".claude/secret.jsonl", claude, 3_000_000)
	put(".codex/sessions/2026/01/02/rollout-1.jsonl", codex, 1_500_000)
	put(".agent/sessions/a/messages.jsonl", `{"role":"user","content":"Comate's"}`, 1)
	if err := os.Symlink("../../secret.jsonl", filepath.Join(home, ".claude/projects/-p/link.jsonl")); err != nil {
		t.Skip("this system makes no links")
	}
	if err := os.Symlink("new.jsonl", filepath.Join(home, ".claude/projects/-p/inside.jsonl")); err != nil {
		t.Fatal(err)
	}
	stores := transcript.Stores(home, func(string) string { return "" })
	var names []string
	var ends []int64
	for _, s := range stores {
		found, more, err := s.List(t.Context())
		if err != nil || more {
			t.Fatal(more, err)
		}
		for _, f := range found {
			d := s.Describe(f)
			names = append(names, string(d.Program)+" "+d.Name+" "+d.Folder+" "+d.Prompt)
			ends = append(ends, d.At)
		}
	}
	want := []string{
		"claude_code -p/new.jsonl /p Greeting the world",
		"claude_code -p/old.jsonl /p Greeting the world",
		"codex 2026/01/02/rollout-1.jsonl /p List and fix.",
		"comate a/messages.jsonl  Comate's",
	}
	if !slices.Equal(names, want) {
		t.Errorf("found %q", names)
	}
	// Each has the time that its last line names; without one, that of the file.
	last := time.Date(2026, 1, 2, 3, 6, 3, 0, time.UTC).UnixMilli()
	if ends[0] != last || ends[1] != last || ends[2] < 1_700_000_000_000 || ends[3] != 1 {
		t.Errorf("they end at %d", ends)
	}
	for _, name := range []string{"../secret.jsonl", "-p/link.jsonl", "-p/inside.jsonl", "-p", "-p/../../secret.jsonl", "/etc/passwd", "-p/missing.jsonl"} {
		if f, err := stores[0].Open(name); err == nil {
			t.Errorf("%s leads to %s", name, f.Path)
		}
	}
	f, err := stores[0].Open("-p/new.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if events, err := collect(f); err != nil || events[len(events)-1].Data.(agent.Imported).ID != "new" {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// The programs' own variables move their stores.
func TestStoresElsewhere(t *testing.T) {
	t.Parallel()
	env := map[string]string{"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x"}
	stores := transcript.Stores("/home", func(name string) string { return env[name] })
	if stores[0].Dir != filepath.FromSlash("/c/projects") || stores[1].Dir != filepath.FromSlash("/x/sessions") {
		t.Errorf("%+v", stores)
	}
}
