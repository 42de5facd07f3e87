package env

import (
	"path/filepath"
	"slices"
	"testing"

	"atelier.dev/atelier/agent/internal/sensitive"
)

// A token in the address of a remote is asked about, however git is made to print it;
// without one nothing is asked.
func TestTokensInRemotesAreAsked(t *testing.T) {
	t.Parallel()
	lines := []string{
		"git remote -v", "git remote get-url origin", "git config --get remote.origin.url", "git config remote.origin.url", "cat .git/config",
		"git -C . remote -v", "grep url .git/config", "git status && git remote --verbose", "git config branch.main.remote",
	}
	for url, want := range map[string]bool{
		"https://ada:ghp_0123456789@example.com/x.git": false, "https://ghp_0123456789abcdefghij@example.com/x": false,
		"https://:secret@example.com/x": false, "ssh://ada:pw@example.com/x": false,
		"https://example.com/x.git": true, "git@example.com:x.git": true, "https://ada@example.com/x": true,
	} {
		dir := t.TempDir()
		git(t, dir, "init", "-q", "-b", "main")
		git(t, dir, "config", "remote.origin.url", url)
		l, err := NewLocal(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			f, ok := l.Foresee(t.Context(), line, "")
			if free := ok && !slices.ContainsFunc(f.Reads, sensitive.HasToken); free != want {
				t.Errorf("%s with %s: free %t", line, url, free)
			}
		}
		for _, line := range []string{"git status", "git log --oneline", "git remote"} {
			if f, ok := l.Foresee(t.Context(), line, ""); !ok || slices.ContainsFunc(f.Reads, sensitive.HasToken) {
				t.Errorf("%s with %s is asked about", line, url)
			}
		}
	}
}

// Searches that bring hidden files back are asked about where one holds secrets.
func TestSearchesThatBringSecretsBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".env"), "KEY=1")
	l, err := NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]bool{
		"rg KEY": false, "rg KEY -g '*.go'": false, "rg KEY -g '!*.js'": false, "rg KEY --glob='*.{ts,tsx}'": false,
		"rg KEY -g '*'": true, "rg KEY -g '*env'": true, "rg KEY -g '.en?'": true, "rg KEY --iglob '.E*'": true, "rg KEY -g '{.env,a}'": true, "rg KEY -t all": true, "rg -g'?env' KEY": true,
	} {
		f, ok := l.Foresee(t.Context(), line, "")
		if found := !ok || slices.Contains(f.Reads, filepath.Join(dir, ".env")); found != want {
			t.Errorf("%s: %q, %t", line, f.Reads, ok)
		}
	}
}
