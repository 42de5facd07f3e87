// Package project reads what a project says of itself before anyone works in
// it: the state of its repository and the documents it has for agents. All of
// it is untrusted: it is data from files that somebody else may have written.
package project

import (
	"os"
	"path/filepath"
	"strings"
)

// Root returns the top of the git repository that a folder lies in, or the
// folder itself outside of one.
func Root(folder string) string {
	if root, _, ok := repository(folder); ok {
		return root
	}
	return folder
}

// Branch reads the branch from git's own files: no program is run, and nothing
// of the repository's configuration is interpreted. Empty outside a repository;
// a short commit where no branch is checked out.
func Branch(folder string) string {
	_, head, ok := repository(folder)
	if !ok {
		return ""
	}
	if branch, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
		return branch
	}
	return head[:min(len(head), 8)]
}

// repository finds the repository around a folder.
func repository(folder string) (root, head string, ok bool) {
	for dir := folder; ; dir = filepath.Dir(dir) {
		if head, ok := readHead(filepath.Join(dir, ".git")); ok {
			return dir, head, true
		}
		if dir == filepath.Dir(dir) {
			return "", "", false
		}
	}
}

func readHead(git string) (string, bool) {
	if b, err := os.ReadFile(git); err == nil { // a worktree: the file names the real folder
		if target, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: "); ok {
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(git), target)
			}
			git = target
		}
	}
	b, err := os.ReadFile(filepath.Join(git, "HEAD"))
	return strings.TrimSpace(string(b)), err == nil && len(b) > 0
}
