package changes

import (
	"strconv"
	"strings"
)

// rawLine is a line of git diff --raw: what happened to a path.
type rawLine struct {
	oldMode, newMode string
	letter           byte
	path, from       string
}

// parseRaw reads a line such as ":100644 100644 0123 4567 R086\told\tnew".
func parseRaw(line string) (r rawLine, ok bool) {
	info, paths, found := strings.Cut(line, "\t")
	fields := strings.Fields(strings.TrimPrefix(info, ":"))
	if !found || !strings.HasPrefix(info, ":") || len(fields) != 5 {
		return r, false
	}
	r = rawLine{oldMode: fields[0], newMode: fields[1], letter: fields[4][0]}
	first, second, two := strings.Cut(paths, "\t")
	if r.path = Unquote(first); two {
		r.from, r.path = r.path, Unquote(second)
	}
	return r, r.path != ""
}

// parseCounts reads the counts of a line of git diff --numstat. Those of a
// binary file are hyphens.
func parseCounts(line string) (added, removed int, binary, ok bool) {
	fields := strings.SplitN(line, "\t", 3)
	if len(fields) != 3 || fields[2] == "" {
		return 0, 0, false, false
	}
	if fields[0] == "-" && fields[1] == "-" {
		return 0, 0, true, true
	}
	added, err := strconv.Atoi(fields[0])
	removed, err2 := strconv.Atoi(fields[1])
	return added, removed, false, err == nil && err2 == nil && added >= 0 && removed >= 0
}

// statusLine is a line of git status --porcelain=v2.
type statusLine struct {
	kind           byte // '1', '2', 'u', '?' or '#'
	index, work    byte // what happened in the index and in the working tree; '.' means nothing
	submodule      bool
	path           string // of a '#' the name of the header
	value          string // of a '#'
	symbolic, gone bool   // the working tree has a symbolic link, or nothing
}

// statusFields are how many fields come before the path.
var statusFields = map[byte]int{'1': 8, '2': 9, 'u': 10, '?': 1}

func parseStatus(line string) (s statusLine, ok bool) {
	if len(line) < 3 || line[1] != ' ' {
		return s, false
	}
	s = statusLine{kind: line[0], index: '.', work: '.'}
	if s.kind == '#' {
		s.path, s.value, ok = strings.Cut(line[2:], " ")
		return s, ok
	}
	before := statusFields[s.kind]
	fields := strings.SplitN(line, " ", before+1)
	if before == 0 || len(fields) != before+1 {
		return s, false
	}
	s.path = fields[before]
	if s.kind == '2' {
		s.path, _, _ = strings.Cut(s.path, "\t")
	}
	s.path = Unquote(s.path)
	if s.kind != '?' {
		if len(fields[1]) != 2 || fields[2] == "" {
			return s, false
		}
		mode := fields[5]
		if s.kind == 'u' {
			mode = fields[6]
		}
		s.index, s.work, s.submodule = fields[1][0], fields[1][1], fields[2][0] == 'S'
		s.symbolic, s.gone = mode == modeLink, mode == modeNone
	}
	return s, s.path != ""
}

// The modes that git writes.
const (
	modeNone      = "000000"
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// lineFeed passes whole lines to each as text arrives, without their ends. A
// line beyond maxPorcelain is dropped.
type lineFeed struct {
	each func(line string)
	rest strings.Builder
	skip bool
}

// maxPorcelain limits a line: two quoted paths of the longest kind.
const maxPorcelain = 64 << 10

func (f *lineFeed) write(text string) {
	for {
		line, rest, ended := strings.Cut(text, "\n")
		if f.skip = f.skip || f.rest.Len()+len(line) > maxPorcelain; !f.skip {
			f.rest.WriteString(line)
		}
		if !ended {
			return
		}
		if !f.skip {
			f.each(f.rest.String())
		}
		f.rest.Reset()
		f.skip, text = false, rest
	}
}
