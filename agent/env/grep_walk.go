package env

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent/internal/charset"
	"atelier.dev/atelier/agent/internal/ignore"
	"atelier.dev/atelier/agent/internal/sensitive"
)

// fileTypes are the names of ripgrep's most common types.
var fileTypes = map[string][]string{
	"c": {".c", ".h"}, "cpp": {".cpp", ".cc", ".cxx", ".hpp", ".hh", ".h"}, "cs": {".cs"}, "css": {".css", ".scss"},
	"go": {".go"}, "html": {".html", ".htm"}, "java": {".java"}, "js": {".js", ".jsx", ".mjs", ".cjs", ".vue"},
	"json": {".json"}, "kotlin": {".kt", ".kts"}, "lua": {".lua"}, "md": {".md", ".markdown"}, "php": {".php"},
	"py": {".py", ".pyi"}, "ruby": {".rb"}, "rust": {".rs"}, "sh": {".sh", ".bash", ".zsh"}, "sql": {".sql"},
	"swift": {".swift"}, "toml": {".toml"}, "ts": {".ts", ".tsx", ".mts", ".cts"}, "xml": {".xml"}, "yaml": {".yaml", ".yml"},
}

// walkGrep is Grep without ripgrep.
func (l *Local) walkGrep(ctx context.Context, q GrepQuery, p place, abs string) (Hits, error) {
	re, err := q.compile()
	if err != nil {
		return Hits{}, err
	}
	extensions, known := fileTypes[q.Type]
	if q.Type != "" && !known {
		return Hits{}, fmt.Errorf("unknown file type %q; use a glob instead", q.Type)
	}
	enough, stop := context.WithCancel(ctx)
	defer stop()
	g := grepper{query: q, re: re, stop: stop, local: l}
	sift := &sieve{base: strings.TrimSuffix(slash(l.real), "/") + "/"}
	for _, text := range l.globs(q.Glob) {
		switch glob, ok := ignore.ReadRule(text); {
		case ok:
			sift.globs = append(sift.globs, glob)
		case glob.Pattern != "":
			return Hits{}, &Error{Path: q.Glob, Problem: "is not a valid glob"}
		}
	}
	timedOut, _ := walk(enough, p, sift, func(ctx context.Context, name string) {
		if q.Type != "" && !slices.Contains(extensions, path.Ext(name)) {
			return
		}
		shown, rel := abs, below(slash(p.name), name)
		if name != slash(p.name) { // otherwise the search began at a file
			shown = filepath.Join(abs, filepath.FromSlash(rel))
		}
		if name != slash(p.name) && sensitive.Secret(rel) {
			if len(g.hits.Withheld) < maxWithheld {
				g.hits.Withheld = append(g.hits.Withheld, l.shown(shown))
			}
			return
		}
		g.file(ctx, place{root: p.root, name: name, given: name}, l.shown(shown))
	})
	g.hits.TimedOut = timedOut
	return g.hits, ctx.Err()
}

// compile returns the pattern as a Go regular expression.
func (q GrepQuery) compile() (*regexp.Regexp, error) {
	expression := q.Pattern
	if q.Fixed {
		expression = regexp.QuoteMeta(expression)
	}
	if q.Multiline {
		expression = "(?ms)" + expression
	}
	if q.IgnoreCase {
		expression = "(?i)" + expression
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("the pattern is not a valid regular expression: %w", err)
	}
	return re, nil
}

// grepper searches files one after the other.
type grepper struct {
	local *Local
	query GrepQuery
	re    *regexp.Regexp
	hits  Hits
	stop  func()
}

// add reports a line that begins with a path. At the limit it stops the search.
func (g *grepper) add(path, line string) {
	if len(g.hits.Lines) == g.query.Limit {
		g.hits.More = true
		g.stop()
		return
	}
	g.hits.Lines = append(g.hits.Lines, path+line)
	if g.query.Mode == GrepContent {
		g.hits.PathEnds = append(g.hits.PathEnds, len(path))
	}
}

// file searches one file until ctx ends. It skips unreadable and binary files.
func (g *grepper) file(ctx context.Context, p place, shown string) {
	f, info, err := p.open()
	if err != nil {
		return
	}
	defer f.Close()
	source, err := g.local.decoded(ctx, f, filepath.Join(p.root.Name(), p.name))
	if err != nil {
		return
	}
	lines := newLineReader(ctx, source, maxSearched, info.Size())
	if lines.binary() {
		return
	}
	matches, total := matcher(g.re.MatchString), 0
	if g.query.Multiline {
		if matches, total, err = g.acrossLines(ctx, p); err != nil || total == 0 {
			return
		}
		if g.query.Mode == GrepCount {
			g.add(shown, fmt.Sprintf(":%d", total))
			return
		}
	}
	content := g.query.Mode == GrepContent
	var before []string // the last lines that were not reported
	after, last := 0, 0
	for n := 1; !g.hits.More; n++ {
		line, err := lines.next()
		if err != nil {
			break
		}
		if n == 1 {
			line = strings.TrimPrefix(line, "\uFEFF")
		}
		matched := matches(line)
		if matched {
			total++
			after = g.query.After + 1
		}
		switch {
		case matched && g.query.Mode == GrepFiles:
			g.add(shown, "")
			return
		case !content:
		case after > 0:
			after--
			apart := last == 0 || n-len(before) > last+1 // from the previously reported lines, if there are any
			if apart && len(g.hits.Lines) > 0 && g.query.Before+g.query.After > 0 {
				g.add("", "--")
			}
			for i, text := range before {
				g.add(shown, fmt.Sprintf("-%d-%s", n-len(before)+i, g.preview(text)))
			}
			before, last = before[:0], n
			separator := "-"
			if matched {
				separator = ":"
			}
			g.add(shown, fmt.Sprint(separator, n, separator, g.preview(line)))
		case g.query.Before > 0:
			if len(before) == g.query.Before {
				before = slices.Delete(before, 0, 1)
			}
			before = append(before, line)
		}
	}
	if g.query.Mode == GrepCount && total > 0 && ctx.Err() == nil {
		g.add(shown, fmt.Sprintf(":%d", total))
	}
}

// maxAcross is the size in bytes of the largest file that is searched across lines.
const maxAcross = 16 << 20

// matcher reports for each line of a file in turn whether it matches.
type matcher func(line string) bool

// acrossLines searches a whole file for matches that may span lines. It returns
// their number and the lines that they cover.
func (g *grepper) acrossLines(ctx context.Context, p place) (matches matcher, total int, err error) {
	f, info, err := p.open()
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if info.Size() > maxAcross {
		return nil, 0, fmt.Errorf("%s is too large for a search across lines", p.given)
	}
	source, err := g.local.decoded(ctx, f, filepath.Join(p.root.Name(), p.name))
	if err != nil {
		return nil, 0, err
	}
	data, err := io.ReadAll(io.LimitReader(endingReader{ctx, source}, maxAcross))
	if err != nil {
		return nil, 0, err
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	found := g.re.FindAllIndex(data, -1)
	at := 0 // the beginning of the next line
	return func(string) bool {
		start := at
		at = len(data) + 1
		if i := bytes.IndexByte(data[min(start, len(data)):], '\n'); i >= 0 {
			at = start + i + 1
		}
		for len(found) > 0 && found[0][1] <= start && found[0][0] < start {
			found = found[1:]
		}
		return len(found) > 0 && found[0][0] < at
	}, len(found), nil
}

// maxSearched limits how much of a line is searched, in bytes.
const maxSearched = 16 << 20

// preview shortens a long line to the part around its first match.
func (g *grepper) preview(line string) string {
	if utf8.RuneCountInString(line) <= maxColumns {
		return line
	}
	from := 0
	if at := g.re.FindStringIndex(line); at != nil && utf8.RuneCountInString(line[:at[1]]) > maxColumns {
		from = at[0]
		for n := 0; n < maxColumns/4 && from > 0; n++ {
			_, size := utf8.DecodeLastRuneInString(line[:from])
			from -= size
		}
	}
	columns, to := 0, len(line)
	for i := range line[from:] {
		if columns == maxColumns {
			to = from + i
			break
		}
		columns++
	}
	text := line[from:to]
	if from > 0 {
		text = "[... omitted start of long line] " + text
	}
	if to < len(line) {
		text += " [... omitted end of long line]"
	}
	return text
}

// decoded returns an open file as UTF-8.
func (l *Local) decoded(ctx context.Context, f *os.File, path string) (io.Reader, error) {
	c, err := charset.Sniff(stoppable{ctx, f}, func() string { return ConventionsOf(ctx, l, path).Charset })
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	return c.Reader(f), err
}
