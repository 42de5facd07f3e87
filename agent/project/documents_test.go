package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// both are the names of most tests.
var both = []string{"AGENTS.md", "CLAUDE.md"}

// folder makes a repository with files and returns it.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
	for name, text := range files {
		put(t, dir, name, text)
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// LOOP-47: documents are read from the top of the repository down to the
// folder, and from no other folder.
func TestDocumentsOnTheWay(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"AGENTS.md": "top", "CLAUDE.md": "claude", "GEMINI.md": "gemini", ".codex/instructions.md": "codex",
		"a/AGENTS.md": "a", "a/b/CLAUDE.md": "b", "a/b/c/AGENTS.md": "below", "x/AGENTS.md": "beside", "a/b/AGENTS.md": "",
	})
	want := []Document{
		{Path: "AGENTS.md", Text: "top", Size: 3, Told: 3}, {Path: "CLAUDE.md", Text: "claude", Size: 6, Told: 6},
		{Path: "a/AGENTS.md", Text: "a", Size: 1, Told: 1}, {Path: "a/b/CLAUDE.md", Text: "b", Size: 1, Told: 1},
	}
	if diff := cmp.Diff(want, Query{Folder: filepath.Join(dir, "a/b"), Names: both}.Documents()); diff != "" {
		t.Error(diff)
	}
	want = []Document{{Path: "AGENTS.md", Text: "top", Size: 3, Told: 3}, {Path: ".codex/instructions.md", Text: "codex", Size: 5, Told: 5}}
	if diff := cmp.Diff(want, Query{Folder: dir, Names: []string{"AGENTS.md", ".codex/instructions.md"}}.Documents()); diff != "" {
		t.Error(diff)
	}
}

// LOOP-47, K-45: all documents together hold exactly 32 KB. The deepest are
// kept and those above them are cut, at the end of a character.
func TestDocumentsAreCut(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"AGENTS.md": "top", "a/AGENTS.md": "üü", "a/b/AGENTS.md": strings.Repeat("x", MaxDocuments-3),
	})
	got := Query{Folder: filepath.Join(dir, "a/b"), Names: []string{"AGENTS.md"}}.Documents()
	if len(got) != 3 || got[0].Told != 0 || got[1].Text != "ü" || got[1].Size != 4 || got[1].Told != 2 || got[2].Told != got[2].Size {
		t.Errorf("%.20q", []string{got[0].Text, got[1].Text, got[2].Text})
	}
	put(t, dir, "AGENTS.md", strings.Repeat("x", 3*MaxDocuments))
	if got := (Query{Folder: dir, Names: []string{"AGENTS.md"}}.Documents())[0]; len(got.Text) != MaxDocuments || got.Told != MaxDocuments || got.Size != 3*MaxDocuments {
		t.Errorf("%d of %d bytes", got.Told, got.Size)
	}
	put(t, dir, "AGENTS.md", strings.Repeat("x", MaxDocuments))
	if got := (Query{Folder: dir, Names: []string{"AGENTS.md"}}.Documents())[0]; got.Told != got.Size {
		t.Errorf("a document that just fits is cut to %d", got.Told)
	}
}

// LOOP-47: a document in an encoding that is not certain is read whole, with each
// invalid byte replaced, and so are those below it. It is cut only at the limit.
func TestDocumentsInOtherEncodings(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"AGENTS.md": "caf\xe9 \x83\x83\n", "a/AGENTS.md": "deep"})
	want := []Document{
		{Path: "AGENTS.md", Text: "caf\uFFFD \uFFFD\uFFFD\n", Size: 8, Told: 8},
		{Path: "a/AGENTS.md", Text: "deep", Size: 4, Told: 4},
	}
	if diff := cmp.Diff(want, Query{Folder: filepath.Join(dir, "a"), Names: []string{"AGENTS.md"}}.Documents()); diff != "" {
		t.Error(diff)
	}
	put(t, dir, "AGENTS.md", "caf\xe9 \x83\x83\n"+strings.Repeat("x", MaxDocuments))
	got := Query{Folder: filepath.Join(dir, "a"), Names: []string{"AGENTS.md"}}.Documents()
	const head = "caf\uFFFD \uFFFD\uFFFD\n" // of 8 bytes
	fits := MaxDocuments - len("deep") - len(head)
	if got[0].Told != 8+fits || got[0].Text != head+strings.Repeat("x", fits) || got[1].Told != 4 {
		t.Errorf("%d of %d bytes, then %d", got[0].Told, got[0].Size, got[1].Told)
	}
}

// K-45: documents below the opened folder are read when the agent works there:
// those on the way, and none of another folder.
func TestDocumentsBelow(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"AGENTS.md": "top", "web/AGENTS.md": "web", "web/src/deep/AGENTS.md": "deep", "web/src/CLAUDE.md": "claude", "api/AGENTS.md": "api",
	})
	web, src := Document{Path: "web/AGENTS.md", Text: "web", Size: 3, Told: 3}, Document{Path: "web/src/CLAUDE.md", Text: "claude", Size: 6, Told: 6}
	for below, want := range map[string][]Document{
		"web": {web}, "web/src": {web, src}, "web/src/other/new": {web, src},
		"web/src/deep": {web, src, {Path: "web/src/deep/AGENTS.md", Text: "deep", Size: 4, Told: 4}},
		".":            nil, "..": nil, "../elsewhere": nil,
	} {
		if diff := cmp.Diff(want, Query{Folder: dir, Names: both}.Below(filepath.Join(dir, below))); diff != "" {
			t.Errorf("%s: %s", below, diff)
		}
	}
	want := []Document{src}
	if diff := cmp.Diff(want, Query{Folder: filepath.Join(dir, "web"), Names: both}.Below(filepath.Join(dir, "web/src"))); diff != "" {
		t.Error(diff)
	}
}

// The user's own document is read from the home folder.
func TestUserDocument(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if d := User(home); len(d) != 0 {
		t.Errorf("%+v", d)
	}
	put(t, home, "AGENTS.md", "mine")
	if d := User(home); len(d) != 1 || d[0].Text != "mine" || d[0].Path != filepath.Join(home, "AGENTS.md") {
		t.Errorf("%+v", d)
	}
}
