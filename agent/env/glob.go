package env

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"atelier.dev/atelier/agent/internal/ignore"
	"atelier.dev/atelier/agent/internal/typography"
	"atelier.dev/atelier/agent/sandbox"
)

// Base is the directory where the search begins, absolute or relative to the
// working directory. The fixed directories at the start of the pattern narrow
// the search, and may lead elsewhere.
func (q GlobQuery) Base() string {
	dir, _ := q.split()
	return dir
}

func (q GlobQuery) split() (dir, pattern string) {
	dir, pattern = doublestar.SplitPattern(slash(q.Pattern))
	dir = filepath.FromSlash(dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(q.Path, dir)
	}
	return dir, pattern
}

// Glob implements [Search].
func (l *Local) Glob(ctx context.Context, q GlobQuery) (Hits, error) {
	dir, pattern := q.split()
	abs, p, err := l.searchable(ctx, Spelled(l, dir))
	if err != nil {
		return Hits{}, err
	}
	defer p.close()
	patterns := readingsOf(abs, pattern)
	if !doublestar.ValidatePattern(patterns[0]) {
		return Hits{}, &Error{Path: q.Pattern, Problem: "is not a valid pattern"}
	}
	for i, pattern := range patterns {
		patterns[i] = typography.Fold(pattern)
	}
	limit := capHits(q.Limit)

	type found struct {
		name string
		time time.Time
	}
	newestFirst := func(a, b found) int {
		if c := b.time.Compare(a.time); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	}
	var newest []found
	var hits Hits
	keep := func() {
		slices.SortFunc(newest, newestFirst)
		if len(newest) > limit {
			newest, hits.More = newest[:limit], true
		}
	}
	hits.TimedOut, err = l.eachFile(ctx, p, abs, func(rel string) {
		folded := typography.Fold(rel)
		if !slices.ContainsFunc(patterns, func(pattern string) bool { return doublestar.MatchUnvalidated(pattern, folded) }) {
			return
		}
		info, err := p.root.Lstat(filepath.Join(p.name, filepath.FromSlash(rel)))
		if err != nil {
			return // gone meanwhile
		}
		newest = append(newest, found{rel, info.ModTime()})
		if len(newest) >= 8*limit {
			keep()
		}
	})
	if err != nil {
		return Hits{}, err
	}
	hits.Links = l.linksBelow(ctx, abs)
	keep()
	for _, f := range newest {
		hits.Lines = append(hits.Lines, l.shown(filepath.Join(abs, filepath.FromSlash(f.name))))
	}
	return hits, nil
}

// searchable resolves the file or directory where a search begins, links
// included; empty means the working directory.
func (l *Local) searchable(ctx context.Context, path string) (abs string, p place, err error) {
	if path == "" {
		path = l.dir
	}
	if abs, err = l.absolute(path); err != nil {
		return "", place{}, err
	}
	info, err := l.Stat(ctx, path) // refuses links that lead out
	switch {
	case err != nil:
		return "", place{}, err
	case !info.Mode.IsDir() && !info.Mode.IsRegular():
		return "", place{}, notRegular(path, info.Mode)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return "", place{}, explain(path, err)
	}
	p, err = l.locate(abs)
	return abs, p, err
}

// shown returns an absolute path in the form that a search reports.
func (l *Local) shown(abs string) string {
	if rel, ok := l.within(abs); ok {
		return rel
	}
	return abs
}

func capHits(limit int) int {
	if limit <= 0 {
		return MaxHits
	}
	return min(limit, MaxHits)
}

// eachFile calls fn with the slash-separated relative path of every file below
// the directory, except ignored ones.
func (l *Local) eachFile(ctx context.Context, p place, abs string, fn func(rel string)) (timedOut bool, err error) {
	if l.ripgrep == "" || oddRules(abs) {
		return walk(ctx, p, &sieve{}, func(_ context.Context, name string) { fn(below(slash(p.name), name)) })
	}
	split := lineSplitter{fn: func(line string) { fn(slash(line)) }}
	r, err := sandbox.Run(ctx, sandbox.Spec{
		Argv: []string{l.ripgrep, "--no-config", "--no-ignore-global", "--files", "--hidden", "--glob=!.git"},
		Dir:  abs, Timeout: SearchTimeout, Limit: 4 << 10, Output: split.add,
	})
	if err == nil && r.Interrupted {
		err = ctx.Err()
	}
	return r.TimedOut, err
}

// oddRules reports whether a file of rules for searches, in a directory or above it, is not
// a regular file. Ripgrep would wait for what a pipe says.
func oddRules(dir string) bool {
	for {
		for _, name := range ignore.Files {
			info, err := os.Lstat(filepath.Join(dir, name))
			if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
				return true
			}
		}
		if dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
}

// Limits of the search for links.
const (
	maxLinks      = 5
	maxLinkEntry  = 20_000
	maxLinkSearch = 200 * time.Millisecond
)

// linksBelow returns the first symbolic links below a directory that lead out of it, each
// with its target. They are not followed, so that what they lead to was not searched.
func (l *Local) linksBelow(ctx context.Context, dir string) (links []string) {
	ctx, cancel := context.WithTimeout(ctx, maxLinkSearch)
	defer cancel()
	sift := &sieve{ignores: ignore.Above(dir)}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	seen := 0
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		abs := slash(filepath.Join(dir, filepath.FromSlash(name)))
		sift.leave(abs)
		seen++
		switch {
		case ctx.Err() != nil || len(links) == maxLinks || seen > maxLinkEntry:
			return fs.SkipAll
		case err != nil:
			return nil
		case name != "." && !sift.passes(abs, d.IsDir()):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
			sift.enter(root, filepath.FromSlash(name), abs)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := filepath.EvalSymlinks(abs)
			if rel, bad := filepath.Rel(dir, target); err == nil && (bad != nil || !filepath.IsLocal(rel)) {
				links = append(links, l.shown(abs)+" -> "+l.shown(target))
			}
		}
		return nil
	})
	return links
}

// walk calls fn for every regular file below the place that passes the sieve,
// ordered by name, with a context that ends with the search. The starting point
// itself is named by the query and therefore never skipped.
func walk(ctx context.Context, p place, sift *sieve, fn func(ctx context.Context, name string)) (timedOut bool, err error) {
	limited, cancel := context.WithTimeout(ctx, SearchTimeout)
	defer cancel()
	start := slash(p.name)
	sift.ignores = ignore.Above(filepath.Join(p.root.Name(), p.name))
	_ = fs.WalkDir(p.root.FS(), start, func(name string, d fs.DirEntry, err error) error {
		abs := slash(filepath.Join(p.root.Name(), filepath.FromSlash(name)))
		sift.leave(abs)
		switch {
		case limited.Err() != nil:
			return fs.SkipAll
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir
		case err != nil:
			return nil
		case name != start && !sift.passes(abs, d.IsDir()):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
			sift.enter(p.root, filepath.FromSlash(name), abs)
		case d.Type().IsRegular():
			fn(limited, name)
		}
		return nil
	})
	return limited.Err() != nil && ctx.Err() == nil, ctx.Err()
}
