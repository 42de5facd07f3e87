package blame

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"strings"

	"atelier.dev/atelier/agent/internal/linediff"
)

// text is the contents of a version as lines with their ends.
type text struct {
	key   string // of its version
	lines []string
}

// textOf splits contents into lines. It reports false if they are too many.
func textOf(data []byte) (text, bool) {
	if len(data) > MaxSize {
		return text{}, false
	}
	sum := sha256.Sum256(data)
	t := text{key: hex.EncodeToString(sum[:])}
	for line := range strings.Lines(string(data)) {
		if len(t.lines) == MaxLines {
			return text{}, false
		}
		t.lines = append(t.lines, line)
	}
	return t, true
}

// same yields the places of the lines that stand in both texts, in order.
func same(old, new text) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		begin := 0
		for begin < min(len(old.lines), len(new.lines)) && old.lines[begin] == new.lines[begin] {
			begin++
		}
		end := 0
		for end < min(len(old.lines), len(new.lines))-begin && old.lines[len(old.lines)-1-end] == new.lines[len(new.lines)-1-end] {
			end++
		}
		pair := func(o, n, count int) bool {
			for i := range count {
				if !yield(o+i, n+i) {
					return false
				}
			}
			return true
		}
		if !pair(0, 0, begin) {
			return
		}
		before := strings.Join(old.lines[begin:len(old.lines)-end], "")
		after := strings.Join(new.lines[begin:len(new.lines)-end], "")
		o, n, at := begin, begin, 0 // lines of both, and a place in before
		for _, e := range linediff.Edits(before, after) {
			count := strings.Count(before[at:e.Start], "\n")
			if !pair(o, n, count) {
				return
			}
			o += count + linesIn(before[e.Start:e.End])
			n += count + linesIn(e.New)
			at = e.End
		}
		if count := linesIn(before[at:]); pair(o, n, count) {
			pair(len(old.lines)-end, len(new.lines)-end, end)
		}
	}
}

// linesIn counts the lines of a text.
func linesIn(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
