//go:build unix

package project

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// LOOP-47: a file with two names is read once. Links out of the project and
// files that are not regular are refused, and do not block.
func TestDocumentsAreReadSafely(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"AGENTS.md": "top", "a/binary/AGENTS.md": "\x00"})
	secret := filepath.Join(t.TempDir(), "secret")
	put(t, filepath.Dir(secret), "secret", "key")
	for name, target := range map[string]string{"CLAUDE.md": "AGENTS.md", "a/AGENTS.md": secret, "a/CLAUDE.md": "../../../etc/passwd"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "a/binary/CLAUDE.md"), 0o644); err != nil {
		t.Skip(err)
	}
	want := []Document{
		{Path: "AGENTS.md", Text: "top", Size: 3, Told: 3},
		{Path: "a/AGENTS.md", Problem: ProblemUnopened},
		{Path: "a/CLAUDE.md", Problem: ProblemUnopened},
		{Path: "a/binary/AGENTS.md", Problem: ProblemBinary},
		{Path: "a/binary/CLAUDE.md", Problem: ProblemIrregular},
	}
	if diff := cmp.Diff(want, Query{Folder: filepath.Join(dir, "a/binary"), Names: both}.Documents()); diff != "" {
		t.Error(diff)
	}
}
