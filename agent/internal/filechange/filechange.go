// Package filechange describes changes of files for people.
package filechange

import (
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/linediff"
)

// MaxCompared is the largest size, in bytes, at which contents are compared.
const MaxCompared = 1 << 20

// Of describes the change of a file from before to after. If the contents
// are too large to compare, it has no diff and all lines count as replaced.
func Of(path string, before, after []byte, created bool) agent.FileChange {
	c := agent.FileChange{Path: path, Created: created}
	if len(before) > MaxCompared || len(after) > MaxCompared {
		c.Removed, c.Added = Lines(string(before)), Lines(string(after))
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

// Lines counts lines, including a last line without a newline.
func Lines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
