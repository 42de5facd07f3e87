package applypatch

import (
	"slices"
	"sort"
	"strings"

	"atelier.dev/atelier/agent/internal/typography"
)

// Fold is a degree to which the old lines of a chunk may differ from those of
// the file. Each fold includes the previous ones (LOOP-51).
type Fold int

// The folds, in the order in which they are tried.
const (
	Exact Fold = iota
	FoldLineEnds
	FoldIndentation
	FoldPunctuation
)

// String completes the sentence "matched with … ignored".
func (f Fold) String() string {
	return [...]string{"nothing", "spaces at line ends", "indentation", "indentation and the kind of quotes, dashes, spaces and accents"}[f]
}

// line returns a line in the form in which it is compared.
func (f Fold) line(text string) string {
	switch f {
	case Exact:
		return text
	case FoldLineEnds:
		return trimRight(text)
	case FoldIndentation:
		return strings.TrimSpace(text)
	}
	return typography.Fold(strings.TrimSpace(text))
}

// document is a file's text in lines.
type document struct {
	mark    string   // the byte order mark, or nothing
	lines   []string // without their endings
	endings []string // LF, CRLF or CR; empty for a last line without an ending
	folded  [FoldPunctuation + 1]*index
}

// index has the lines under a fold, joined so that a run of them can be found
// in linear time.
type index struct {
	text   string // "\n" before and after each line
	starts []int  // of each line, after its "\n"
}

const byteOrderMark = "\uFEFF"

func newDocument(text string) *document {
	var d document
	if rest, found := strings.CutPrefix(text, byteOrderMark); found {
		d.mark, text = byteOrderMark, rest
	}
	for text != "" {
		end := strings.IndexAny(text, "\r\n")
		next := end + 1
		switch {
		case end < 0:
			end, next = len(text), len(text)
		case strings.HasPrefix(text[end:], "\r\n"):
			next = end + 2
		}
		d.lines = append(d.lines, text[:end])
		d.endings = append(d.endings, text[end:next])
		text = text[next:]
	}
	return &d
}

func (d *document) index(f Fold) *index {
	if d.folded[f] != nil {
		return d.folded[f]
	}
	x := &index{starts: make([]int, len(d.lines))}
	var b strings.Builder
	b.WriteByte('\n')
	for i, line := range d.lines {
		x.starts[i] = b.Len()
		b.WriteString(f.line(line))
		b.WriteByte('\n')
	}
	x.text = b.String()
	d.folded[f] = x
	return x
}

// find returns the first place of block at or after line from. An exact match
// anywhere takes precedence; otherwise it uses the smallest fold that matches.
func (d *document) find(block []string, from int) (at int, fold Fold, found bool) {
	if len(block) == 0 || from < 0 || from+len(block) > len(d.lines) {
		return 0, Exact, false
	}
	for f := Exact; f <= FoldPunctuation; f++ {
		var want strings.Builder
		for _, line := range block {
			want.WriteByte('\n')
			want.WriteString(f.line(line))
		}
		want.WriteByte('\n')
		x := d.index(f)
		start := x.starts[from] - 1
		if i := strings.Index(x.text[start:], want.String()); i >= 0 {
			return sort.SearchInts(x.starts, start+i+1), f, true
		}
	}
	return 0, Exact, false
}

// splice is a change of a document: removed lines from line at are replaced by
// the added ones.
type splice struct {
	at, removed int
	added       []string
}

// with returns the document's text after splices, which are in order.
// Everything else stays byte for byte.
func (d *document) with(splices []splice) string {
	ending := d.ending()
	var b strings.Builder
	b.WriteString(d.mark)
	open := false // the last written line has no ending
	write := func(line, end string) {
		if open {
			b.WriteString(ending)
		}
		b.WriteString(line)
		b.WriteString(end)
		open = end == ""
	}
	at := 0
	keep := func(to int) {
		for ; at < to; at++ {
			write(d.lines[at], d.endings[at])
		}
	}
	for _, s := range splices {
		keep(s.at)
		for _, line := range s.added {
			write(line, ending)
		}
		at += s.removed
	}
	keep(len(d.lines))
	return b.String()
}

// ending returns the ending for added lines: the first one in the document. A
// lone carriage return counts only if there is no other ending, because it may
// be inside a line.
func (d *document) ending() string {
	for _, end := range d.endings {
		if strings.HasSuffix(end, "\n") {
			return end
		}
	}
	if len(d.endings) > 0 && d.endings[0] != "" {
		return d.endings[0]
	}
	return "\n"
}

// texts returns the lines with one of the marks.
func texts(lines []Line, marks ...Mark) []string {
	var out []string
	for _, l := range lines {
		if slices.Contains(marks, l.Mark) {
			out = append(out, l.Text)
		}
	}
	return out
}
