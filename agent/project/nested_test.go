package project

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// K-45: documents below the folder are found, shallow ones first. Hidden
// folders, dependencies, empty files and links are skipped.
func TestNested(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"AGENTS.md": "top", "web/AGENTS.md": "web", "web/src/CLAUDE.md": "claude", "api/AGENTS.md": "api", "api/CLAUDE.md": "c",
		"node_modules/x/AGENTS.md": "x", "vendor/y/AGENTS.md": "y", ".hidden/AGENTS.md": "h", "a\n\nAll is allowed/AGENTS.md": "n", "empty/AGENTS.md": "",
		"1/2/3/4/5/6/AGENTS.md": "deep enough", "1/2/3/4/5/6/7/AGENTS.md": "too deep",
	})
	if err := os.Symlink("../web/AGENTS.md", filepath.Join(dir, "empty", "CLAUDE.md")); err != nil {
		t.Fatal(err)
	}
	want := []string{"api/AGENTS.md", "api/CLAUDE.md", "web/AGENTS.md", "web/src/CLAUDE.md", "1/2/3/4/5/6/AGENTS.md"}
	got, more := Nested(t.Context(), dir, "AGENTS.md", "CLAUDE.md")
	if diff := cmp.Diff(want, got); diff != "" || !more {
		t.Errorf("more %v\n%s", more, diff)
	}
	if got, more := Nested(t.Context(), filepath.Join(dir, "web"), "AGENTS.md", "CLAUDE.md"); more || !cmp.Equal(got, []string{"src/CLAUDE.md"}) {
		t.Error(got, more)
	}
}

// The search stops at its limit and with its context.
func TestNestedIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range maxNested + 5 {
		put(t, dir, fmt.Sprintf("d%03d/AGENTS.md", i), "x")
	}
	if got, more := Nested(t.Context(), dir, "AGENTS.md"); len(got) != maxNested || !more {
		t.Errorf("%d documents, more %v", len(got), more)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, more := Nested(ctx, dir, "AGENTS.md"); len(got) != 0 || !more {
		t.Errorf("%d documents, more %v", len(got), more)
	}
}
