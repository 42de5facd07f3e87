//go:build unix

package memo_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"atelier.dev/atelier/backend/memo"
)

// A pipe in the place of the file is refused, and nobody waits for its other end.
func TestAPipeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(folder, "AGENTS.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	notes := memo.New(memo.Config{Folder: folder, Home: t.TempDir()})
	note := memo.MemoNote{Scope: memo.ScopeProject, Text: "x"}
	if _, err := notes.Preview(t.Context(), note); err == nil {
		t.Error("a pipe was shown")
	}
	if _, err := notes.Add(t.Context(), note); err == nil {
		t.Error("a note went into a pipe")
	}
}
