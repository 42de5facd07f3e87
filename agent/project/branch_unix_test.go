//go:build unix

package project

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// LOOP-45: git's files are not trusted. Only short regular files with valid
// content are read, and none of them blocks.
func TestBranchOfBrokenRepositories(t *testing.T) {
	t.Parallel()
	pipe := func(t *testing.T, path string) {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip(err)
		}
	}
	for name, make := range map[string]func(t *testing.T, dir string){
		"a pipe":           func(t *testing.T, dir string) { pipe(t, filepath.Join(dir, ".git")) },
		"a pipe as HEAD":   func(t *testing.T, dir string) { put(t, dir, ".git/x", ""); pipe(t, filepath.Join(dir, ".git/HEAD")) },
		"a link to a pipe": func(t *testing.T, dir string) { pipe(t, dir+"/p"); link(t, dir+"/p", dir+"/.git") },
		"a device":         func(t *testing.T, dir string) { link(t, "/dev/zero", filepath.Join(dir, ".git")) },
		"a link to nowhere": func(t *testing.T, dir string) {
			put(t, dir, ".git", "gitdir: "+strings.Repeat("x/", maxLink)+"\n")
		},
		"any file": func(t *testing.T, dir string) { put(t, dir, ".git/HEAD", "root:x:0:0\n") },
		"a long branch": func(t *testing.T, dir string) {
			put(t, dir, ".git/HEAD", "ref: refs/heads/"+strings.Repeat("x", maxHead))
		},
		"no line": func(t *testing.T, dir string) { put(t, dir, ".git/HEAD", "\nref: refs/heads/main\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			make(t, dir)
			if got := Branch(dir); got != "" || Root(dir) != dir {
				t.Errorf("branch %q, root %s", got, Root(dir))
			}
		})
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// LOOP-45, LOOP-47: above the opened folder, another user's repository and
// documents are ignored.
func TestFilesOfOthersAboveAreIgnored(t *testing.T) {
	t.Parallel()
	const stranger = 12345
	give := func(t *testing.T, paths ...string) {
		for _, path := range paths {
			if err := os.Lchown(path, stranger, stranger); err != nil {
				t.Skip("files cannot be given away: ", err)
			}
		}
	}
	for name, theirs := range map[string]string{"their folder": "", "their repository": ".git"} {
		dir := folder(t, map[string]string{"AGENTS.md": "x", "sub/AGENTS.md": "sub"})
		give(t, filepath.Join(dir, theirs))
		sub := filepath.Join(dir, "sub")
		if Root(sub) != sub || Branch(sub) != "" {
			t.Errorf("%s: root %s, branch %q", name, Root(sub), Branch(sub))
		}
		if Root(dir) != dir || Branch(dir) != "main" {
			t.Errorf("%s: the opened folder has root %s, branch %q", name, Root(dir), Branch(dir))
		}
	}
	dir := folder(t, map[string]string{"AGENTS.md": "top", "CLAUDE.md": "top", "a/AGENTS.md": "a", "a/b/AGENTS.md": "b"})
	give(t, filepath.Join(dir, "AGENTS.md"), filepath.Join(dir, "a"), filepath.Join(dir, "a/b"), filepath.Join(dir, "a/b/AGENTS.md"))
	want := []Document{
		{Path: "AGENTS.md", Problem: ProblemForeign},
		{Path: "CLAUDE.md", Text: "top", Size: 3, Told: 3},
		{Path: "a/AGENTS.md", Problem: ProblemForeign},
		{Path: "a/b/AGENTS.md", Text: "b", Size: 1, Told: 1},
	}
	if diff := cmp.Diff(want, Query{Folder: filepath.Join(dir, "a/b"), Names: both}.Documents()); diff != "" {
		t.Error(diff)
	}
}
