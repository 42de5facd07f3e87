package project

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
)

// Root returns the top of the git repository that contains a folder, or the
// folder itself if there is none.
func Root(folder string) string {
	if root, _, ok := repository(folder); ok {
		return root
	}
	return folder
}

// Branch reads the branch from git's own files, without running a program or
// interpreting the repository's configuration. It is empty outside a
// repository and if it cannot be told, and a short commit if no branch is checked out. The result is one
// printable line of at most 512 bytes, whatever the files contain.
func Branch(folder string) string {
	_, head, ok := repository(folder)
	if !ok {
		return ""
	}
	if ref, ok := strings.CutPrefix(head, "ref: "); ok {
		return strings.Map(visible, strings.TrimPrefix(ref, "refs/heads/"))
	}
	return head[:min(len(head), 8)]
}

func visible(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return -1
}

const (
	// maxHead bounds the line that names what is checked out, maxLink the one
	// that names a worktree's real folder.
	maxHead = 512
	maxLink = 4 << 10
)

// repository finds the repository around a folder. The user opened the folder
// itself, but anyone may create a repository in a shared folder above it, so
// those that belong to another user are skipped.
func repository(folder string) (root, head string, ok bool) {
	for dir := folder; ; dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		if dir == folder || isOurs(dir) && isOurs(git) {
			if head, ok := readHead(git); ok {
				return dir, head, true
			}
		}
		if dir == filepath.Dir(dir) {
			return "", "", false
		}
	}
}

func isOurs(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && ours(info)
}

// readHead returns what is checked out: a reference or a commit; empty if the
// repository does not say it in a way that is known.
func readHead(git string) (head string, ok bool) {
	if target, ok := strings.CutPrefix(firstLine(git, maxLink), "gitdir: "); ok { // a worktree: the file names the real folder
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(git), target)
		}
		git = target
	}
	head = firstLine(filepath.Join(git, "HEAD"), maxHead)
	if head == unsaid {
		if head = reftableHead(git); head == unsaid {
			head = ""
		}
		return head, true
	}
	isCommit := head != "" && strings.Trim(head, "0123456789abcdef") == ""
	return head, isCommit || strings.HasPrefix(head, "ref: ")
}

// firstLine returns the first line of a regular file without surrounding space.
// It is empty if there is none or it is longer than limit.
func firstLine(path string, limit int64) string {
	data := beginning(path, limit+1)
	line, _, ended := bytes.Cut(data, []byte("\n"))
	if !ended && int64(len(data)) > limit {
		return ""
	}
	return string(bytes.TrimSpace(line))
}

// beginning returns the first bytes of a regular file; nil if it cannot be read.
func beginning(path string, limit int64) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // by now it may be a pipe
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil
	}
	return data
}
