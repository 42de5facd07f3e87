package env

import (
	"cmp"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"atelier.dev/atelier/agent/sandbox"
)

// Ripgrep reads bytes. Files in other encodings than UTF-8 and UTF-16, lines that are so long
// that it leaves the match out, and those of MS-DOS in a search across lines are searched again
// by our own search.

// maxAgain limits the files that are searched again.
const maxAgain = 500

// notUTF8 matches lines that are not UTF-8, for ripgrep.
const notUTF8 = `(?-u)[\xC0\xC1\xF5-\xFF]|(?:^|[\x00-\x7F])[\x80-\xBF]|[\xC2-\xF4](?:[\x00-\x7F\xC0-\xFF]|$)` +
	`|[\xC2-\xDF][\x80-\xBF]{2}|[\xE0-\xEF](?:[\x80-\xBF](?:[\x00-\x7F\xC0-\xFF]|$)|[\x80-\xBF]{3})|[\xF0-\xF4][\x80-\xBF]{1,2}(?:[\x00-\x7F\xC0-\xFF]|$)`

var cutLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(` \[\.\.\. (?:omitted end of long line|\d+ more match(?:es)?)\]$`)
})

// again searches the files again of which ripgrep cannot tell what a person would find in
// them, and puts the findings in the place of ripgrep's. Without a pattern that Go
// understands, ripgrep's findings stay.
func (l *Local) again(ctx context.Context, q GrepQuery, target string, hits *Hits) {
	re, err := q.compile()
	if err != nil || ctx.Err() != nil {
		return
	}
	files := chunks(*hits, q.Mode)
	odd := map[string]bool{}
	for _, f := range files {
		for i, line := range f.lines {
			if q.Mode != GrepContent {
				break
			}
			text := line[f.ends[i]:]
			if strings.ContainsRune(text, utf8.RuneError) || cutLine().MatchString(text) && !re.MatchString(cutLine().ReplaceAllString(text, "")) {
				odd[f.path] = true
			}
		}
	}
	if q.Multiline || !q.plain() {
		for _, path := range l.foreign(ctx, q, target) {
			odd[path] = true
		}
	}
	last := ""
	if hits.More && len(files) > 0 {
		last = files[len(files)-1].path
	}
	for path := range odd {
		if last != "" && comparePaths(path, last) > 0 {
			continue
		}
		found := l.grepFile(ctx, q, re, path)
		i, known := slices.BinarySearchFunc(files, path, func(f fileHits, path string) int { return comparePaths(f.path, path) })
		switch {
		case len(found.lines) == 0 && known:
			files = slices.Delete(files, i, i+1)
		case len(found.lines) > 0 && known:
			files[i] = found
		case len(found.lines) > 0:
			files = slices.Insert(files, i, found)
		}
	}

	if len(odd) > 0 {
		rejoin(files, q, hits)
	}
}

// plain reports whether the pattern is found in bytes as in characters.
func (q GrepQuery) plain() bool {
	ascii := !strings.ContainsFunc(q.Pattern, func(r rune) bool { return r >= utf8.RuneSelf })
	return ascii && (q.Fixed || regexp.QuoteMeta(q.Pattern) == q.Pattern)
}

// foreign returns the files below the target that are not UTF-8, and for a search across lines
// those whose lines end with a carriage return, which ripgrep takes for a part of their text.
func (l *Local) foreign(ctx context.Context, q GrepQuery, target string) (paths []string) {
	enough, stop := context.WithCancel(ctx)
	defer stop()
	split := lineSplitter{fn: func(line string) {
		if line = strings.TrimSuffix(strings.TrimPrefix(line, "./"), "\r"); len(paths) < maxAgain {
			paths = append(paths, line)
		} else {
			stop()
		}
	}}
	all := GrepQuery{Pattern: notUTF8, Type: q.Type, Mode: GrepFiles}
	if q.Multiline {
		all.Pattern, all.Multiline = all.Pattern+`|\r\n`, true
	}
	// Without an answer, what ripgrep found stays.
	_, _ = sandbox.Run(enough, sandbox.Spec{
		Argv: ripgrepArgs(l.ripgrep, all, l.globs(q.Glob), target), Dir: l.dir, Timeout: SearchTimeout, Limit: 4 << 10, Output: split.add,
	})
	return paths
}

// grepFile searches one file.
func (l *Local) grepFile(ctx context.Context, q GrepQuery, re *regexp.Regexp, path string) fileHits {
	p, err := l.locate(path)
	if err != nil {
		return fileHits{path: path}
	}
	defer p.close()
	enough, stop := context.WithCancel(ctx)
	defer stop()
	g := grepper{query: q, re: re, stop: stop, local: l}
	g.file(enough, p, path)
	found := fileHits{path: path, lines: g.hits.Lines, ends: g.hits.PathEnds}
	if q.Mode != GrepContent {
		found.ends = make([]int, len(found.lines))
	}
	return found
}

// fileHits are the findings in one file, as in [Hits].
type fileHits struct {
	path  string
	lines []string
	ends  []int
}

// chunks divides findings by file. Lines between the groups of different files are left
// out.
func chunks(hits Hits, mode GrepMode) (files []fileHits) {
	var separators []string
	for i, line := range hits.Lines {
		path, end := line, 0
		switch mode {
		case GrepContent:
			end = hits.PathEnds[i]
			path = line[:end]
		case GrepCount:
			path = line[:max(strings.LastIndexByte(line, ':'), 0)]
		}
		if mode == GrepContent && end == 0 {
			separators = append(separators, line)
			continue
		}
		if len(files) == 0 || files[len(files)-1].path != path {
			files, separators = append(files, fileHits{path: path}), nil
		}
		f := &files[len(files)-1]
		for _, separator := range separators {
			f.lines, f.ends = append(f.lines, separator), append(f.ends, 0)
		}
		f.lines, f.ends, separators = append(f.lines, line), append(f.ends, end), nil
	}
	return files
}

// rejoin makes findings of those in files.
func rejoin(files []fileHits, q GrepQuery, hits *Hits) {
	hits.Lines, hits.PathEnds = nil, nil
	add := func(line string, end int) {
		if len(hits.Lines) == q.Limit {
			hits.More = true
			return
		}
		hits.Lines = append(hits.Lines, line)
		if q.Mode == GrepContent {
			hits.PathEnds = append(hits.PathEnds, end)
		}
	}
	for i, f := range files {
		if i > 0 && q.Mode == GrepContent && q.Before+q.After > 0 {
			add("--", 0)
		}
		for j, line := range f.lines {
			add(line, f.ends[j])
		}
	}
}

// comparePaths orders paths as ripgrep does, name by name.
func comparePaths(a, b string) int {
	return cmp.Or(slices.Compare(strings.Split(slash(a), "/"), strings.Split(slash(b), "/")), strings.Compare(a, filepath.Clean(b)))
}
