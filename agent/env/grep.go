package env

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"atelier.dev/atelier/agent/internal/sensitive"
	"atelier.dev/atelier/agent/sandbox"
)

// Grep implements [Search] with ripgrep if it is installed, else with our own
// search.
func (l *Local) Grep(ctx context.Context, q GrepQuery) (Hits, error) {
	abs, p, err := l.searchable(ctx, q.Path)
	if err != nil {
		return Hits{}, err
	}
	defer p.close()
	if q.Mode == "" {
		q.Mode = GrepFiles
	}
	q.Limit = capHits(q.Limit)
	q.Before, q.After = min(max(q.Before, 0), MaxHits), min(max(q.After, 0), MaxHits)
	if l.ripgrep == "" || !ripgrepCan(q) || oddRules(abs) {
		hits, err := l.walkGrep(ctx, q, p, abs)
		hits.Links = l.linksBelow(ctx, abs)
		return hits, err
	}
	links := make(chan []string, 1)
	go func() { links <- l.linksBelow(ctx, abs) }()
	hits, err := l.ripGrep(ctx, q, l.shown(abs))
	hits.Links = <-links
	return hits, err
}

// ripgrepCan reports whether ripgrep supports a query. Given both a positive
// glob and a type, ripgrep would use only the glob.
func ripgrepCan(q GrepQuery) bool {
	_, known := fileTypes[q.Type]
	return !known || q.Glob == "" || strings.HasPrefix(q.Glob, "!")
}

// maxColumns limits the reported part of a line, in characters.
const maxColumns = 500

// ripGrep runs ripgrep and stops it once the limit is exceeded.
func (l *Local) ripGrep(ctx context.Context, q GrepQuery, target string) (Hits, error) {
	var hits Hits
	enough, stop := context.WithCancel(ctx)
	defer stop()
	split := lineSplitter{fn: func(line string) {
		if len(hits.Lines) == q.Limit {
			hits.More = true
			stop()
			return
		}
		line = strings.TrimSuffix(strings.TrimPrefix(line, "./"), "\r")
		if q.Mode == GrepContent {
			var end int
			line, end = joined(line)
			hits.PathEnds = append(hits.PathEnds, end)
		}
		hits.Lines = append(hits.Lines, line)
	}}
	r, err := sandbox.Run(enough, sandbox.Spec{
		Argv: ripgrepArgs(l.ripgrep, q, l.globs(q.Glob), target), Dir: l.dir, Timeout: SearchTimeout,
		Output: split.add,
	})
	split.flush()
	hits.TimedOut = r.TimedOut
	hits.Withheld = l.ripWithheld(ctx, target)
	l.again(ctx, q, target, &hits)
	switch {
	case ctx.Err() != nil:
		return Hits{}, ctx.Err()
	case err != nil:
		return Hits{}, err
	case r.ExitCode == 2 && len(hits.Lines) == 0: // otherwise some files were unreadable
		return Hits{}, errors.New(firstLines(r.Stderr))
	}
	return hits, nil
}

func ripgrepArgs(program string, q GrepQuery, globs []string, target string) []string {
	args := []string{
		program, "--no-config", "--no-ignore-global", "--color=never", "--no-heading", "--with-filename", "--line-number",
		"--sort=path", "--crlf", fmt.Sprintf("--max-columns=%d", maxColumns), "--max-columns-preview",
	}
	switch q.Mode {
	case GrepFiles:
		args = append(args, "--files-with-matches")
	case GrepCount:
		args = append(args, "--count")
	case GrepContent:
		args = append(args, "--null", fmt.Sprintf("--before-context=%d", q.Before), fmt.Sprintf("--after-context=%d", q.After))
	}
	if q.IgnoreCase {
		args = append(args, "--ignore-case")
	}
	if q.Fixed {
		args = append(args, "--fixed-strings")
	}
	if q.Multiline {
		args = append(args, "--multiline", "--multiline-dotall")
	}
	if q.Type != "" {
		args = append(args, "--type="+q.Type)
	}
	for _, glob := range globs {
		args = append(args, "--glob="+glob)
	}
	args = append(args, "--hidden", "--glob=!.git")
	for _, pattern := range sensitive.SecretPatterns() {
		args = append(args, "--iglob=!**/"+pattern)
	}
	return append(args, "--regexp="+q.Pattern, "--", target)
}

// maxWithheld limits the names of files that a search left out.
const maxWithheld = 5

// ripWithheld returns the files that ripGrep leaves out because they may hold
// secrets.
func (l *Local) ripWithheld(ctx context.Context, target string) (paths []string) {
	enough, stop := context.WithCancel(ctx)
	defer stop()
	split := lineSplitter{fn: func(line string) {
		if line = strings.TrimPrefix(line, "./"); len(paths) < maxWithheld && line != target {
			paths = append(paths, line)
		} else {
			stop()
		}
	}}
	argv := []string{l.ripgrep, "--no-config", "--no-ignore-global", "--files", "--hidden", "--sort=path"}
	for _, pattern := range sensitive.SecretPatterns() {
		argv = append(argv, "--iglob=**/"+pattern)
	}
	// Without an answer the search is still correct, and its text says that
	// files may be left out.
	_, _ = sandbox.Run(enough, sandbox.Spec{
		Argv: append(argv, "--iglob=!.git", "--", target), Dir: l.dir, Timeout: SearchTimeout, Limit: 4 << 10, Output: split.add,
	})
	return paths
}

// joined restores the separator between a line's path and its number, which
// --null replaces, and returns the length of the path.
func joined(line string) (string, int) {
	path, rest, ok := strings.Cut(line, "\x00")
	if !ok {
		return line, 0
	}
	text := strings.TrimLeft(rest, "0123456789")
	if text == "" {
		return line, 0
	}
	return path + text[:1] + rest, len(path)
}

// firstLines shortens a program's error message.
func firstLines(s string) string {
	const limit = 500
	s = strings.TrimSpace(s)
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + " …"
	}
	return s
}
