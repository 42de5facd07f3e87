package changes

import (
	"regexp"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent/internal/linediff"
	udiff "github.com/aymanbagabas/go-udiff"
)

// hunk is a part of a unified diff.
type hunk struct {
	newAt int // the first line of the new side, from 0
	lines []hunkLine
}

// hunkLine is ' ', '-' or '+' and a line with its end, if it has one.
type hunkLine struct {
	kind byte
	text string
}

// side returns the lines of the old ('-') or the new ('+') side.
func (h hunk) side(kind byte) (lines []string) {
	for _, l := range h.lines {
		if l.kind == ' ' || l.kind == kind {
			lines = append(lines, l.text)
		}
	}
	return lines
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// parseHunks reads the hunks of one file's diff. Lines between hunks are
// headers, and are left out. It reports false if a hunk is not whole.
func parseHunks(diff string) (hunks []hunk, ok bool) {
	var old, new int // lines that are still missing
	for line := range strings.Lines(diff) {
		if len(hunks) > 0 && strings.HasPrefix(line, `\`) {
			h := &hunks[len(hunks)-1]
			if len(h.lines) > 0 {
				last := &h.lines[len(h.lines)-1]
				last.text = strings.TrimSuffix(last.text, "\n")
			}
			continue
		}
		if old == 0 && new == 0 {
			head := hunkHead.FindStringSubmatch(line)
			if head == nil {
				continue
			}
			var at int
			if old, _, ok = span(head[2], head[1]); !ok {
				return nil, false
			}
			if new, at, ok = span(head[4], head[3]); !ok {
				return nil, false
			}
			hunks = append(hunks, hunk{newAt: at})
			continue
		}
		kind := line[0]
		if line == "\n" || line == "\r\n" { // some programs remove spaces at the end of lines
			kind, line = ' ', " "+line
		}
		if !strings.HasSuffix(line, "\n") { // the end of the text, not of the file
			line += "\n"
		}
		if kind != '+' {
			old--
		}
		if kind != '-' {
			new--
		}
		if !strings.ContainsRune(" +-", rune(kind)) || old < 0 || new < 0 {
			return nil, false
		}
		h := &hunks[len(hunks)-1]
		h.lines = append(h.lines, hunkLine{kind, line[1:]})
	}
	return hunks, len(hunks) > 0 && old == 0 && new == 0
}

// span reads the count and the first line of a side. Without a count, the side
// has one line; a side without lines names the line before it.
func span(count, first string) (n, at int, ok bool) {
	n = 1
	var err error
	if count != "" {
		if n, err = strconv.Atoi(count); err != nil || n > MaxDiff {
			return 0, 0, false
		}
	}
	if at, err = strconv.Atoi(first); err != nil || at > 1<<30 {
		return 0, 0, false
	}
	if n > 0 {
		at--
	}
	return n, max(at, 0), true
}

// hunksOf returns the hunks of git's diff without the headers of files, and
// whether git takes the file for binary.
func hunksOf(diff string) (hunks string, binary bool) {
	var b strings.Builder
	var old, new int
	within := false // a hunk; the mark of a missing newline may follow its last line
	for line := range strings.Lines(diff) {
		switch {
		case old > 0 || new > 0:
			if line[0] != '+' && line[0] != '\\' {
				old--
			}
			if line[0] != '-' && line[0] != '\\' {
				new--
			}
		case within && line[0] == '\\':
		default:
			head := hunkHead.FindStringSubmatch(line)
			if within = head != nil; !within {
				binary = binary || strings.HasPrefix(line, "Binary files ")
				continue
			}
			old, _, _ = span(head[2], head[1])
			new, _, _ = span(head[4], head[3])
		}
		b.WriteString(line)
	}
	return b.String(), binary
}

// modeChange reads how git's diff of one file says that its mode changed.
func modeChange(diff string) ModeChange {
	header, _, _ := strings.Cut(diff, "\n@@ ")
	switch {
	case strings.Contains(header, "\nnew mode "+modeExecutable+"\n"):
		return MadeExecutable
	case strings.Contains(header, "\nold mode "+modeExecutable+"\n"):
		return MadePlain
	}
	return ModeKept
}

// countOf counts the lines that hunks add and remove.
func countOf(diff string) (added, removed int) {
	for line := range strings.Lines(diff) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}

// linesOf splits text into lines with their ends.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// Unified returns the diff of two texts without headers.
func Unified(before, after string, context int) string {
	before, after = strings.ToValidUTF8(before, "\uFFFD"), strings.ToValidUTF8(after, "\uFFFD")
	diff, err := udiff.ToUnified("", "", before, linediff.Edits(before, after), context)
	if err != nil { // happens only if edits are out of order
		return ""
	}
	if i := strings.Index(diff, "\n@@"); i >= 0 {
		return diff[i+1:]
	}
	return ""
}

// place says where a side stands in lines.
type place int

const (
	found place = iota
	missing
	several
)

// find looks for side in lines: at its own place, else anywhere if it is there
// only once. A side without lines stands only in an empty text.
func find(lines, side []string, own int, same func(a, b string) bool) (at int, p place) {
	if len(side) == 0 {
		if len(lines) == 0 {
			return 0, found
		}
		return 0, missing
	}
	stands := func(at int) bool {
		if at < 0 || at+len(side) > len(lines) {
			return false
		}
		for i, line := range side {
			if !same(lines[at+i], line) {
				return false
			}
		}
		return true
	}
	if stands(own) {
		return own, found
	}
	p = missing
	for i := range max(len(lines)-len(side)+1, 0) {
		if !stands(i) {
			continue
		}
		if p == found {
			return 0, several
		}
		at, p = i, found
	}
	return at, p
}

// reverse replaces the new side of each hunk by its old side. Lines that stay
// are those of the text itself, so nothing else in it changes. If undone is
// set, a hunk whose old side stands in the text was put back before, and is
// left out. An error is of kind [Changed], [Ambiguous] or [NotText].
func reverse(text string, hunks []hunk, undone bool) (string, error) {
	lines := linesOf(text)
	if carriage(lines) && !carriageIn(hunks) { // git compares without the carriage returns
		for i := range hunks {
			hunks[i] = withCarriage(hunks[i])
		}
	}
	for i := len(hunks) - 1; i >= 0; i-- {
		h := hunks[i]
		side := h.side('+')
		at, p := find(lines, side, h.newAt, sameLine)
		if p == missing && undone {
			if _, old := find(lines, h.side('-'), h.newAt, sameLine); old == found {
				continue
			}
		}
		switch p {
		case missing:
			return "", &Error{Kind: Changed}
		case several:
			return "", &Error{Kind: Ambiguous}
		}
		var old []string
		next := at
		for _, l := range h.lines {
			switch l.kind {
			case ' ':
				old = append(old, lines[next])
				next++
			case '+':
				next++
			case '-':
				if strings.ContainsRune(l.text, '\uFFFD') {
					return "", &Error{Kind: NotText}
				}
				old = append(old, l.text)
			}
		}
		lines = append(append(append([]string{}, lines[:at]...), old...), lines[next:]...)
	}
	for i, line := range lines {
		if i < len(lines)-1 && !strings.HasSuffix(line, "\n") { // something was written after the last line
			return "", &Error{Kind: Changed}
		}
	}
	return strings.Join(lines, ""), nil
}

// sameLine compares a line of a file with one of a diff, which has a
// replacement character for bytes that are not UTF-8.
func sameLine(line, shown string) bool {
	return line == shown || strings.ContainsRune(shown, '\uFFFD') && replaced(line) == replaced(shown)
}

var replacements = regexp.MustCompile("\uFFFD+")

func replaced(line string) string {
	return replacements.ReplaceAllString(strings.ToValidUTF8(line, "\uFFFD"), "\uFFFD")
}

// carriage reports whether all lines end in a carriage return and a newline,
// except a last line without an end.
func carriage(lines []string) bool {
	for i, line := range lines {
		if !strings.HasSuffix(line, "\r\n") && (i < len(lines)-1 || strings.HasSuffix(line, "\n")) {
			return false
		}
	}
	return len(lines) > 0 && strings.HasSuffix(lines[0], "\r\n")
}

func carriageIn(hunks []hunk) bool {
	for _, h := range hunks {
		for _, l := range h.lines {
			if strings.HasSuffix(l.text, "\r\n") {
				return true
			}
		}
	}
	return false
}

func withCarriage(h hunk) hunk {
	lines := make([]hunkLine, len(h.lines))
	for i, l := range h.lines {
		if body, ok := strings.CutSuffix(l.text, "\n"); ok {
			l.text = body + "\r\n"
		}
		lines[i] = l
	}
	h.lines = lines
	return h
}
