package tool

import (
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/linediff"
)

// maxCompared is the largest size, in bytes, at which contents are compared.
const maxCompared = 1 << 20

// changeOf describes the change of a file from before to after. If the contents
// are too large to compare, it has no diff and all lines count as replaced.
func changeOf(path string, before, after []byte, created bool) agent.FileChange {
	c := agent.FileChange{Path: path, Created: created}
	if len(before) > maxCompared || len(after) > maxCompared {
		c.Removed, c.Added = lineCount(string(before)), lineCount(string(after))
		return c
	}
	from, to := strings.ToValidUTF8(string(before), "\uFFFD"), strings.ToValidUTF8(string(after), "\uFFFD")
	edits := linediff.Edits(from, to)
	unified, err := udiff.ToUnifiedDiff("", "", from, edits, udiff.DefaultContextLines)
	if err != nil { // happens only if edits are out of order
		return c
	}
	for _, hunk := range unified.Hunks {
		for _, line := range hunk.Lines {
			switch line.Kind {
			case udiff.Insert:
				c.Added++
			case udiff.Delete:
				c.Removed++
			}
		}
	}
	c.Diff = withoutHeaders(unified.String())
	return c
}

// withoutHeaders removes the two lines that name the files.
func withoutHeaders(diff string) string {
	if i := strings.Index(diff, "\n@@"); i >= 0 {
		return diff[i+1:]
	}
	return ""
}

// lineCount counts lines, including a last line without a newline.
func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
