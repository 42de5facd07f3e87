package env

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const maxGitFile = 1 << 20

// passwords matches an address with a password, or with a name as long as a token.
var passwords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[a-z][a-z0-9+.-]*://(?:[^/\s:@"]*:[^/\s@"]+|[^/\s:@"]{20,})@`)
})

// hasPassword reports whether a file of git has an address with a password in it, or
// is too large to tell. One that is not there has none.
func hasPassword(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if info.Size() > maxGitFile {
		return true
	}
	text, err := os.ReadFile(path)
	return err != nil || passwords().Match(text)
}

// remotesHavePasswords reports whether git would print a password with the remotes of
// the repository that a folder belongs to: from its configuration or the user's, which
// may replace the beginnings of addresses.
func remotesHavePasswords(dir string) bool {
	home, _ := os.UserHomeDir()
	files := []string{filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git/config"), "/etc/gitconfig"}
	for at := dir; ; at = filepath.Dir(at) {
		git := filepath.Join(at, ".git")
		if text, err := os.ReadFile(git); err == nil { // a second work tree
			if to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); ok {
				git = join(at, to)
				files = append(files, filepath.Join(git, "../../config"))
			}
		}
		files = append(files, filepath.Join(git, "config"), filepath.Join(git, "config.worktree"))
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || at == filepath.Dir(at) {
			return slices.ContainsFunc(files, hasPassword)
		}
	}
}

// isGits reports whether a file is one that git keeps addresses in.
func isGits(path string) bool {
	return strings.Contains(filepath.ToSlash(path), "/.git/") || filepath.Base(path) == ".gitmodules" || filepath.Base(path) == ".gitconfig"
}
