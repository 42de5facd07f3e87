package applypatch

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxShown is the largest number of lines of a chunk that an error shows.
const maxShown = 20

// noAnchor explains why an anchor was not found, and names the nearest line.
func (e *editor) noAnchor(c Chunk, text string, from int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "no line%s reads as the anchor %s", after(from), quote(anchor+" "+text))
	if at, _, found := e.doc.find([]string{text}, 0); found {
		fmt.Fprintf(&b, ". Line %d does, before the chunk or anchor above; these must be in the order of the file", at+1)
	} else if n, ok := e.nearest([]string{text}); ok {
		fmt.Fprintf(&b, ". An anchor is one whole line; the nearest is line %d: %s", n.found+1, quote(e.doc.lines[n.found]))
	}
	return &Error{Line: c.Line, Path: e.path, Problem: b.String()}
}

// noPlace explains why the old lines of a chunk were not found: in the wrong
// order, not at the end, already changed, or different from the nearest place.
func (e *editor) noPlace(c Chunk, old []string, from int) error {
	var b strings.Builder
	where := after(from)
	if c.EndOfFile {
		where = " at the end of the file"
	}
	fmt.Fprintf(&b, "the old lines of this chunk were not found%s:\n", where)
	for i, line := range old {
		if i == maxShown {
			fmt.Fprintf(&b, "  ... and %d more\n", len(old)-maxShown)
			break
		}
		fmt.Fprintf(&b, "  %s\n", clip(line))
	}
	b.WriteString(e.instead(c, old, from))
	return &Error{Line: c.Line, Path: e.path, Problem: b.String()}
}

// instead says what the file has instead of the old lines.
func (e *editor) instead(c Chunk, old []string, from int) string {
	if at, _, found := e.doc.find(old, from); found && c.EndOfFile {
		return fmt.Sprintf("They stand at line %d. Leave out %q if that is meant.", at+1, endOfFile)
	}
	if at, _, found := e.doc.find(old, 0); found {
		return fmt.Sprintf("They stand at line %d, before the chunk or anchor above. Chunks must be in the order of the file.", at+1)
	}
	says := func(l Line) bool { return l.Mark == Added && !blank(l.Text) }
	if at, _, found := e.doc.find(texts(c.Lines, Context, Added), 0); found && slices.ContainsFunc(c.Lines, says) {
		return fmt.Sprintf("The new lines stand at line %d already: the change may have been made before.", at+1)
	}
	n, ok := e.nearest(old)
	if !ok {
		return "No place in the file resembles them. Read the file again."
	}
	return e.differs(old, n)
}

// differs says where the nearest place differs from the old lines.
func (e *editor) differs(old []string, n difference) string {
	if n.found < 0 || n.found >= len(e.doc.lines) {
		return fmt.Sprintf("The nearest place is around line %d, but the file has no line for this one:\n  expected: %s\nRead that place again and copy its lines.",
			max(1, min(n.found, len(e.doc.lines))), clip(old[n.wanted]))
	}
	return fmt.Sprintf("The nearest place differs first in line %d of the file:\n  expected: %s\n  found:    %s\nRead that place again and copy its lines.",
		n.found+1, clip(old[n.wanted]), clip(e.doc.lines[n.found]))
}

func after(from int) string {
	if from == 0 {
		return ""
	}
	return fmt.Sprintf(" after line %d", from)
}

// difference is where the nearest place first differs: the wanted old line, and
// the line that the file has there.
type difference struct{ wanted, found int }

// nearest finds the place with the most lines of the block, compared by letters
// and digits, and returns where it differs. If there is none, it finds the line
// whose beginning is most like the block's.
func (e *editor) nearest(block []string) (difference, bool) {
	keys := map[string]int{} // first line of the block by key
	first := -1
	for i := len(block) - 1; i >= 0; i-- {
		if k := key(block[i]); k != "" {
			keys[k] = i
			first = i
		}
	}
	if first < 0 {
		return difference{}, false
	}
	start := key(block[first])
	votes := map[int]int{} // by the line of the file where the block would begin
	place, alike, begins := 0, len(start)/2, -1
	for i, line := range e.doc.lines {
		k := key(line)
		if j, known := keys[k]; known {
			votes[i-j]++
			if votes[i-j] > votes[place] {
				place = i - j
			}
		}
		if n := commonPrefix(start, k); n > alike {
			alike, begins = n, i
		}
	}
	if votes[place] == 0 {
		return difference{first, begins}, begins >= 0
	}
	for i, line := range block {
		at := place + i
		if at < 0 || at >= len(e.doc.lines) || FoldPunctuation.line(e.doc.lines[at]) != FoldPunctuation.line(line) {
			return difference{i, at}, true
		}
	}
	return difference{0, place}, true
}

// key reduces a line to its letters and digits.
func key(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, line)
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Resembling says where a text is most like lines that it does not have, and what stands
// there instead, as a sentence for the model that wrote them.
func Resembling(text, lines string) string {
	e, wanted := editor{doc: newDocument(text)}, newDocument(lines).lines
	n, ok := e.nearest(wanted)
	if !ok || n.found < 0 {
		return "No place in the file resembles it"
	}
	start := n.found - n.wanted
	for i, line := range wanted { // nearest overlooks indentation
		if at := start + i; at >= 0 && at < len(e.doc.lines) && e.doc.lines[at] != line {
			n = difference{i, at}
			break
		}
	}
	return e.differs(wanted, n)
}
