// Package linediff compares texts line by line.
package linediff

import (
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

// searched is how many changed lines the search of udiff is sure to find. Beyond it,
// it takes all lines between the first and the last changes for changed.
const searched = 100

// Edits returns the edits that turn before into after, in their order. All of them
// begin and end with lines. If they are many, lines that occur once in both texts
// divide the texts into parts, each of which is compared by itself.
func Edits(before, after string) []udiff.Edit {
	whole := udiff.Lines(before, after)
	n := size(before, whole)
	if n <= searched {
		return whole
	}
	if parts := inParts(before, after); size(before, parts) < n {
		return parts
	}
	return whole
}

// size returns how many lines edits remove and add.
func size(before string, edits []udiff.Edit) (n int) {
	for _, e := range edits {
		n += len(split(before[e.Start:e.End])) + len(split(e.New))
	}
	return n
}

// inParts compares the texts between the lines that they share.
func inParts(before, after string) (edits []udiff.Edit) {
	old, new := split(before), split(after)
	at, line, fresh := 0, 0, 0 // in before: a place and its line; the line of after
	compare := func(oldEnd, newEnd int) {
		part := strings.Join(old[line:oldEnd], "")
		for _, e := range udiff.Lines(part, strings.Join(new[fresh:newEnd], "")) {
			edits = append(edits, udiff.Edit{Start: at + e.Start, End: at + e.End, New: e.New})
		}
		at, line, fresh = at+len(part), oldEnd, newEnd
	}
	for _, s := range shared(old, new) {
		compare(s.old, s.new)
		at, line, fresh = at+len(old[line]), line+1, fresh+1
	}
	compare(len(old), len(new))
	return edits
}

// pair is a line that both texts have, by its numbers.
type pair struct{ old, new int }

// shared returns the longest sequence of lines that occur once in each text and
// stand in the same order in both.
func shared(old, new []string) []pair {
	const several = -1
	where := make(map[string]pair, len(old))
	for i, line := range old {
		p := pair{i, several}
		if _, ok := where[line]; ok {
			p.old = several
		}
		where[line] = p
	}
	counts := make(map[string]int, len(new))
	for _, line := range new {
		counts[line]++
	}
	var once []pair // in the order of the new text
	for i, line := range new {
		if p, ok := where[line]; ok && p.old != several && counts[line] == 1 {
			once = append(once, pair{p.old, i})
		}
	}
	return increasing(once)
}

// increasing returns the longest part of the pairs in which the old numbers
// increase.
func increasing(pairs []pair) []pair {
	var ends []int // the pair that ends the best sequence of each length
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(ends, p.old, func(end, old int) int { return pairs[end].old - old })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	longest := make([]pair, len(ends))
	for n, i := len(ends)-1, ends[len(ends)-1]; n >= 0; n, i = n-1, before[i] {
		longest[n] = pairs[i]
	}
	return longest
}

// split returns the lines of a text with their ends.
func split(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
