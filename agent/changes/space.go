package changes

import (
	"strings"
	"unicode"

	"atelier.dev/atelier/agent/internal/linediff"
)

// unifiedIgnoringSpace is unified for lines that are compared without their
// spaces. Unchanged lines are those of the new text, so that the hunks stand in
// it.
func unifiedIgnoringSpace(before, after string, context int) string {
	old, new := linesOf(before), linesOf(after)
	edits := linediff.Edits(bare(old), bare(new))
	starts := offsets(bare(old))
	var text strings.Builder // the old text, with the new text's form of what only differs in space
	at, fresh := 0, 0
	for _, e := range edits {
		from, to := starts[e.Start], starts[e.End]
		for ; at < from; at, fresh = at+1, fresh+1 {
			text.WriteString(new[fresh])
		}
		for ; at < to; at++ {
			text.WriteString(old[at])
		}
		fresh += strings.Count(e.New, "\n")
	}
	for ; at < len(old) && fresh < len(new); at, fresh = at+1, fresh+1 {
		text.WriteString(new[fresh])
	}
	return Unified(text.String(), after, context)
}

// bare returns the lines without their spaces.
func bare(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, line))
		b.WriteByte('\n')
	}
	return b.String()
}

// offsets maps the offset of each line's beginning, and of the end, to the
// line's number.
func offsets(text string) map[int]int {
	starts, n := map[int]int{0: 0}, 0
	for i := range len(text) {
		if text[i] == '\n' {
			n++
			starts[i+1] = n
		}
	}
	return starts
}
