package env

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/internal/sensitive"
)

// remotesWithPasswords returns the configurations from which git would print a password
// with the remotes of the repository that a folder belongs to: its own and the user's,
// which may replace the beginnings of addresses.
func remotesWithPasswords(dir string) []string {
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
			return slices.DeleteFunc(files, func(file string) bool { return !sensitive.HasAddress(file) })
		}
	}
}
