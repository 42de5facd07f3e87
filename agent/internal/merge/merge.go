// Package merge merges two changes of a text, line by line.
package merge

import (
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"atelier.dev/atelier/agent/internal/linediff"
)

// Result is a merged text. It has all of our changes, whatever theirs are.
type Result struct {
	Text string
	// Conflicts are the places where both sides changed the same lines in
	// different ways. The text has our side there.
	Conflicts []Conflict
}

// Conflict is a place that both sides changed.
type Conflict struct {
	Base, Ours, Theirs string
}

// Texts applies their change of a text to ours, byte by byte: line ends stay as they
// are, and so does a last line without one. Changes of neighbouring lines are not a
// conflict, but two different insertions at one place are.
func Texts(base, ours, theirs string) Result {
	switch {
	case ours == theirs || base == theirs:
		return Result{Text: ours}
	case base == ours:
		return Result{Text: theirs}
	}
	m := merging{base: base, ours: joined(linediff.Edits(base, ours)), theirs: joined(linediff.Edits(base, theirs))}
	for len(m.ours) > 0 || len(m.theirs) > 0 {
		m.step()
	}
	m.text.WriteString(base[m.at:])
	return Result{Text: m.text.String(), Conflicts: m.conflicts}
}

// merging is a merge under way. What is left of ours and theirs lies after at.
type merging struct {
	base         string
	ours, theirs []udiff.Edit
	at           int // in base
	text         strings.Builder
	conflicts    []Conflict
}

// step merges the next edit and all that overlap it.
func (m *merging) step() {
	switch {
	case len(m.theirs) == 0 || len(m.ours) > 0 && precedes(m.ours[0], m.theirs[0]):
		m.write(m.ours[0].Start, m.ours[0].End, m.ours[0].New)
		m.ours = m.ours[1:]
		return
	case len(m.ours) == 0 || precedes(m.theirs[0], m.ours[0]):
		m.write(m.theirs[0].Start, m.theirs[0].End, m.theirs[0].New)
		m.theirs = m.theirs[1:]
		return
	}
	from, to := min(m.ours[0].Start, m.theirs[0].Start), max(m.ours[0].End, m.theirs[0].End)
	var ours, theirs int // how many edits of each are in the place
	for grown := true; grown; {
		grown = false
		for ; ours < len(m.ours) && reaches(m.ours[ours], to, from); ours++ {
			to, grown = max(to, m.ours[ours].End), true
		}
		for ; theirs < len(m.theirs) && reaches(m.theirs[theirs], to, from); theirs++ {
			to, grown = max(to, m.theirs[theirs].End), true
		}
	}
	c := Conflict{Base: m.base[from:to], Ours: applied(m.base, from, to, m.ours[:ours]), Theirs: applied(m.base, from, to, m.theirs[:theirs])}
	m.ours, m.theirs = m.ours[ours:], m.theirs[theirs:]
	m.write(from, to, c.Ours)
	if c.Ours != c.Theirs {
		m.conflicts = append(m.conflicts, c)
	}
}

// write copies the base up to from, and writes text in place of what is between
// from and to.
func (m *merging) write(from, to int, text string) {
	m.text.WriteString(m.base[m.at:from])
	m.text.WriteString(text)
	m.at = to
}

// precedes reports whether edit a is before edit b and apart from it, so that both
// can be applied. Two insertions at one place are not apart, and neither are edits
// whose texts would run into one line.
func precedes(a, b udiff.Edit) bool {
	if a.End > b.Start || a.Start == b.Start && a.End == b.End {
		return false
	}
	return a.End < b.Start || a.New == "" || b.New == "" || strings.HasSuffix(a.New, "\n")
}

// reaches reports whether an edit belongs to a place that ends at to: it begins
// before its end, or it is at the end and cannot be told from it.
func reaches(e udiff.Edit, to, from int) bool {
	return e.Start < to || e.Start == to && (from == to || e.Start == e.End)
}

// applied returns a part of the base with edits in it.
func applied(base string, from, to int, edits []udiff.Edit) string {
	var b strings.Builder
	for _, e := range edits {
		b.WriteString(base[from:e.Start])
		b.WriteString(e.New)
		from = e.End
	}
	b.WriteString(base[from:to])
	return b.String()
}

// joined joins edits that touch each other.
func joined(edits []udiff.Edit) []udiff.Edit {
	var out []udiff.Edit
	for _, e := range edits {
		if n := len(out); n > 0 && out[n-1].End == e.Start {
			out[n-1].End, out[n-1].New = e.End, out[n-1].New+e.New
			continue
		}
		out = append(out, e)
	}
	return out
}

// Hunks divides the edits that turn before into after in hunks, as a unified diff
// with that many lines of context does.
func Hunks(before, after string, context int) [][]udiff.Edit {
	var hunks [][]udiff.Edit
	last := 0 // where the newest edit ends
	for _, e := range linediff.Edits(before, after) {
		if len(hunks) == 0 || strings.Count(before[last:e.Start], "\n") > 2*context {
			hunks = append(hunks, nil)
		}
		n := len(hunks) - 1
		hunks[n], last = append(hunks[n], e), e.End
	}
	return hunks
}

// Pick returns before with some of the hunks that turn it into after. It reports
// false if one of them does not exist.
func Pick(before, after string, context int, chosen []int) (string, bool) {
	hunks := Hunks(before, after, context)
	picked := make([]bool, len(hunks))
	for _, n := range chosen {
		if n < 0 || n >= len(hunks) {
			return "", false
		}
		picked[n] = true
	}
	var edits []udiff.Edit
	for n, hunk := range hunks {
		if picked[n] {
			edits = append(edits, hunk...)
		}
	}
	return applied(before, 0, len(before), edits), true
}
