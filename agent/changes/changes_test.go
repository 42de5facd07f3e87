package changes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/sandbox"
	"github.com/google/go-cmp/cmp"
)

// bed is a real folder, usually with a repository.
type bed struct {
	*testing.T
	dir    string
	folder *changes.Folder
}

// folderOf opens the changes of a folder.
func folderOf(t *testing.T, dir string) *changes.Folder {
	t.Helper()
	local, err := env.NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = local.Cleanup(t.Context()) })
	return changes.Of(local)
}

// repository makes a repository with one commit, of the given files.
func repository(t *testing.T, files map[string]string) bed {
	t.Helper()
	if sandbox.LookPath("git") == "" {
		t.Skip("no git")
	}
	b := bed{T: t, dir: t.TempDir()}
	b.folder = folderOf(t, b.dir)
	b.git("init", "-q", "-b", "main")
	b.git("config", "user.name", "A")
	b.git("config", "user.email", "a@b")
	for name, text := range files {
		b.put(name, text)
	}
	if files != nil {
		b.git("add", "-A")
		b.git("commit", "-qm", "first")
	}
	return b
}

// git runs git as a user does, and returns its output.
func (b bed) git(args ...string) string {
	b.Helper()
	r, err := sandbox.Run(b.Context(), sandbox.Spec{Dir: b.dir, Argv: append([]string{"git", "-c", "protocol.file.allow=always"}, args...)})
	if err != nil || r.ExitCode != 0 {
		b.Fatalf("git %v: %v %s", args, err, r.Stderr)
	}
	return r.Stdout
}

func (b bed) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b bed) put(name, text string) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(b.path(name)), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(b.path(name), []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

func (b bed) read(name string) string {
	b.Helper()
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		b.Fatal(err)
	}
	return string(data)
}

func (b bed) list(q changes.Query) changes.Listing {
	b.Helper()
	l, err := b.folder.List(b.Context(), q)
	if err != nil {
		b.Fatal(err)
	}
	return l
}

func (b bed) diff(q changes.Query, name, from string) changes.Diff {
	b.Helper()
	d, err := b.folder.Diff(b.Context(), q, name, from, changes.Shape{})
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// summaries returns a line for each file.
func summaries(l changes.Listing) (lines []string) {
	for _, f := range l.Files {
		line := string(f.State) + " " + f.Path
		if f.From != "" {
			line += " < " + f.From
		}
		line += strings.Repeat("+", f.Added) + strings.Repeat("-", f.Removed)
		if f.Binary {
			line += " binary"
		}
		if f.Large {
			line += " large"
		}
		if f.Staged != changes.StagedNone {
			line += " " + string(f.Staged)
		}
		lines = append(lines, line)
	}
	return lines
}

var uncommitted = changes.Query{Scope: changes.ScopeUncommitted}

func TestUncommitted(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{
		"kept": "1\n", "changed": "1\n2\n3\n", "gone": "1\n", "part": "1\n", "moved": "1\n2\n3\n4\n5\n", "link": "text\n",
		"d/sp ace": "1\n2\n3\n4\n", "back": "1\n", "caf\xe9": "1\n", "binary": "a\x00b",
	})
	b.put("changed", "1\ntwo\n3\n4\n")
	b.put("part", "2\n")
	b.git("add", "part")
	b.put("part", "3\n")
	b.git("mv", "moved", "d/to")
	b.git("mv", "d/sp ace", "d/sp \"b\"")
	b.put("back", "2\n")
	b.git("add", "back")
	b.put("back", "1\n")
	b.put("caf\xe9", "2\n")
	b.put("binary", "a\x00c")
	b.put("new/n\nl", "1\n2\n")
	b.put(`"q`, "")
	for _, name := range []string{"gone", "link"} {
		if err := os.Remove(b.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"link", "outside"} {
		if err := os.Symlink("/etc", b.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	l := b.list(uncommitted)
	want := []string{
		`untracked "\"q"`, `modified "caf\351"+-`, "modified back+- all", "modified back+-", "modified binary binary", "modified changed++-",
		`renamed d/sp "b" < d/sp ace all`, "renamed d/to < moved all", "deleted gone-", "link link+-", "untracked new/n\nl++",
		"link outside+", "modified part+- all", "modified part+-",
	}
	if diff := cmp.Diff(want, summaries(l)); diff != "" {
		t.Error(diff)
	}
	if l.Git != changes.GitReady || l.Branch != "main" || l.Added != 11 || l.Removed != 8 || l.Commit != (changes.Sums{Files: 4, Added: 2, Removed: 2}) {
		t.Errorf("%+v", l)
	}
	for name, want := range map[string]string{
		"changed":      "@@ -1,3 +1,4 @@\n 1\n-2\n+two\n 3\n+4\n",
		"gone":         "@@ -1 +0,0 @@\n-1\n",
		"link":         "@@ -1 +0,0 @@\n-text\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n",
		"outside":      "@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n",
		"new/n\nl":     "@@ -0,0 +1,2 @@\n+1\n+2\n",
		`"caf\351"`:    "@@ -1 +1 @@\n-1\n+2\n",
		`"\"q"`:        "",
		"kept":         "",
		"part":         "@@ -1 +1 @@\n-1\n+3\n",
		"d/to":         "@@ -0,0 +1,5 @@\n+1\n+2\n+3\n+4\n+5\n",
		"no such file": "",
	} {
		if d := b.diff(uncommitted, name, ""); d.Diff != want || d.Path != name || d.Vanished != (name == "no such file") {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := b.diff(uncommitted, "binary", ""); !d.Binary || d.Diff != "" {
		t.Errorf("%+v", d)
	}
	if d := b.diff(uncommitted, "d/to", "moved"); d.Diff != "" {
		t.Errorf("%+v", d)
	}
}

// A change of the mode is told, alone and with one of the content. A text that looks
// like a header is none.
func TestModeChanges(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{"alone": "1\n", "both": "1\n", "text": "1\n"})
	for _, name := range []string{"alone", "both"} {
		if err := os.Chmod(b.path(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.put("both", "2\n")
	b.put("text", "1\n\nnew mode 100755\n")
	for name, want := range map[string]changes.ModeChange{"alone": changes.MadeExecutable, "both": changes.MadeExecutable, "text": changes.ModeKept} {
		if d := b.diff(uncommitted, name, ""); d.Mode != want || (d.Diff == "") != (name == "alone") {
			t.Errorf("%s: %+v", name, d)
		}
	}
	b.git("commit", "-qam", "x")
	if err := os.Chmod(b.path("alone"), 0o644); err != nil {
		t.Fatal(err)
	}
	if d := b.diff(uncommitted, "alone", ""); d.Mode != changes.MadePlain {
		t.Errorf("%+v", d)
	}
}
