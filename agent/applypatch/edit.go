package applypatch

import (
	"slices"
	"strings"
)

// editor places the chunks of an update, in the order of the file.
type editor struct {
	doc     *document
	path    string
	splices []splice
	// appended lines go to the end of the file.
	appended []string
	// cursor is the first line where the next chunk may be.
	cursor int
	// fold is the loosest fold that was needed.
	fold           Fold
	added, removed int
	// context has the lines that the chunks name exactly and keep.
	context []int
}

// edit finds the place of every chunk. Errors are of type [*Error].
func (e *editor) edit(chunks []Chunk) error {
	for _, c := range chunks {
		if err := e.chunk(c); err != nil {
			return err
		}
	}
	e.splices = append(e.splices, splice{at: len(e.doc.lines), added: e.appended})
	return nil
}

// chunk finds the place of one chunk. Added lines without any others go below
// the anchor or, without an anchor, to the end of the file.
func (e *editor) chunk(c Chunk) error {
	from, anchored := e.cursor, -1
	for _, text := range c.Anchors {
		at, fold, found := e.doc.find([]string{text}, from)
		if !found {
			return e.noAnchor(c, text, from)
		}
		e.fold = max(e.fold, fold)
		anchored, from = at, at+1
	}
	lines := splitReturns(c.Lines)
	at, placed, found := e.locate(lines, from, anchored, c.EndOfFile)
	if !found {
		return e.noPlace(c, old(lines), from)
	}
	if len(old(placed)) == 0 && (anchored < 0 || c.EndOfFile) {
		e.appended = append(e.appended, texts(placed, Added)...)
		e.added += len(placed)
		return nil
	}
	e.put(placed, at)
	return nil
}

// old returns the lines that a file must have.
func old(lines []Line) []string { return texts(lines, Context, Removed) }

// locate finds the old lines at or after line from, and returns the lines to
// put there. Without old lines, the place is from. If nothing else helps, it
// tolerates two mistakes: an empty last line, which may only be the gap before
// the next header, and an anchor that is repeated among the old lines.
func (e *editor) locate(lines []Line, from, anchored int, atEnd bool) (at int, placed []Line, found bool) {
	for _, start := range []int{from, anchored} {
		if start < 0 {
			continue
		}
		for _, candidate := range [][]Line{lines, withoutLastBlank(lines)} {
			block, first := old(candidate), start
			if candidate != nil && len(block) == 0 {
				return start, candidate, true
			}
			if atEnd {
				first = max(start, len(e.doc.lines)-len(block))
			}
			if at, fold, found := e.doc.find(block, first); found {
				e.fold = max(e.fold, fold)
				return at, candidate, true
			}
		}
	}
	return 0, nil, false
}

// put applies lines to the document at line at. Context stays as it is in the
// file, even if it matched only under a fold.
func (e *editor) put(lines []Line, at int) {
	var s splice
	flush := func() {
		if s.removed > 0 || len(s.added) > 0 {
			e.splices = append(e.splices, s)
		}
		s = splice{at: at}
	}
	flush()
	for _, l := range lines {
		switch l.Mark {
		case Context:
			if e.doc.lines[at] == l.Text {
				e.context = append(e.context, at)
			}
			at++
			flush()
		case Removed:
			at++
			s.removed++
			e.removed++
		case Added:
			s.added = append(s.added, l.Text)
			e.added++
		}
	}
	flush()
	e.cursor = at
}

// splitReturns splits the old lines at carriage returns, because those end
// lines in a document.
func splitReturns(lines []Line) []Line {
	if !slices.ContainsFunc(lines, func(l Line) bool { return l.Mark != Added && strings.Contains(l.Text, "\r") }) {
		return lines
	}
	var out []Line
	for _, l := range lines {
		if l.Mark == Added {
			out = append(out, l)
			continue
		}
		for text := range strings.SplitSeq(l.Text, "\r") {
			out = append(out, Line{l.Mark, text})
		}
	}
	return out
}

// withoutLastBlank returns lines without the empty line at the end of the old
// ones and of the new ones. It returns nil if the old lines do not end in an
// empty line.
func withoutLastBlank(lines []Line) []Line {
	last := lastOf(lines, Removed)
	if last < 0 || lines[last].Text != "" {
		return nil
	}
	lines = slices.Clone(lines)
	if lines[last].Mark == Context {
		lines[last].Mark = Added
	} else {
		lines = slices.Delete(lines, last, last+1)
	}
	if end := lastOf(lines, Added); end >= 0 && lines[end].Text == "" {
		if lines[end].Mark == Context {
			lines[end].Mark = Removed
		} else {
			lines = slices.Delete(lines, end, end+1)
		}
	}
	return lines
}

// lastOf returns the index of the last line that is context or has the mark, or
// -1.
func lastOf(lines []Line, mark Mark) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].Mark == Context || lines[i].Mark == mark {
			return i
		}
	}
	return -1
}
