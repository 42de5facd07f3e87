package env

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"atelier.dev/atelier/agent/command"
	"atelier.dev/atelier/agent/internal/sensitive"
)

// listingTime limits how long git may take to list what it would print.
const listingTime = 2 * time.Second

// committedSecrets returns the files that may hold secrets among those whose
// committed text a git command prints. It reports false if git does not list
// them. The repository of dir must be plain.
func (l *Local) committedSecrets(ctx context.Context, dir string, listing command.Listing) (paths []string, ok bool) {
	words := append([]string{"git", "--no-pager"}, listing.Arguments...)
	for _, revision := range listing.Revisions {
		if listing.Tree {
			revision += "^{tree}"
		} else if len(listing.Paths) > 0 || !exists(join(dir, revision)) {
			revision = commits(revision) // before "--" nothing else stands
		}
		words = append(words, revision)
	}
	if len(listing.Paths) > 0 {
		words = append(append(words, "--"), listing.Paths...)
	}
	for i, word := range words {
		words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	spec, err := l.spec(Command{Line: strings.Join(words, " "), Dir: dir, Env: Harmless, Timeout: listingTime})
	if err != nil {
		return nil, false
	}
	spec.SpillDir = "" // a list that is too long is not read to its end
	r, err := l.exec(ctx, spec)
	if err != nil || r.ExitCode != 0 || r.TimedOut || r.Interrupted || r.Dropped > 0 {
		return nil, false
	}
	for name := range strings.SplitSeq(r.Stdout, "\x00") {
		if sensitive.Secret("/" + strings.TrimSpace(name)) {
			paths = append(paths, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	return paths, true
}

// commits makes a revision, or a range, match commits only.
func commits(revision string) string {
	dots := ".."
	if strings.Contains(revision, "...") {
		dots = "..."
	}
	ends := strings.Split(revision, dots)
	for i, end := range ends {
		if end != "" {
			ends[i] = end + "^{commit}"
		}
	}
	return strings.Join(ends, dots)
}
