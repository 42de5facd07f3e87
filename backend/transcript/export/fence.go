package export

import (
	"regexp"
	"strings"
)

var (
	// fence matches a line that begins or ends a block of code, also in a quotation or
	// as the first of a list's item: what stands before it, its mark and its language.
	fence = regexp.MustCompile("^([ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?)(`{3,}|~{3,})[ \t]*([^\r\n]*?)[ \t]*\r?\n?$")
	// nesting matches the language of a block in which models write blocks of the same length.
	nesting = regexp.MustCompile(`(?i)^(?:markdown|mdx?)\b`)
)

// lengthened returns a message whose blocks of Markdown are fenced longer than the blocks in them,
// as they were meant. CommonMark ends the outer one at the end of the first inner one, and makes
// code of the rest. The window does the same (nestedFence.ts).
func lengthened(message string) string {
	if !strings.Contains(message, "```") && !strings.Contains(message, "~~~") {
		return message
	}
	lines := strings.SplitAfter(message, "\n")
	for at := 0; at < len(lines); at++ {
		_, mark, info, found := fenceAt(lines[at])
		if !found {
			continue
		}
		end, longest := endOf(lines[at+1:], mark, nesting.MatchString(info))
		if longest > 0 { // it has blocks
			longer := strings.Repeat(mark[:1], longest+1)
			lines[at] = strings.Replace(lines[at], mark, longer, 1)
			_, mark, _, _ := fenceAt(lines[at+1+end])
			lines[at+1+end] = strings.Replace(lines[at+1+end], mark, longer, 1)
		}
		at += end + 1
	}
	return strings.Join(lines, "")
}

func fenceAt(line string) (before, mark, info string, found bool) {
	m := fence.FindStringSubmatch(line)
	if m == nil || m[2][0] == '`' && strings.Contains(m[3], "`") {
		return "", "", "", false
	}
	return m[1], m[2], m[3], true
}

// endOf returns the index of the line that ends a block with a mark, len(lines) if none does. If
// the block may have others in it and they all end, longest is the length of the longest fence.
func endOf(lines []string, mark string, hasBlocks bool) (end, longest int) {
	first := -1
	open := []string{mark}
	for at, line := range lines {
		_, next, info, found := fenceAt(line)
		inner := open[len(open)-1]
		switch {
		case !found:
		case info == "" && strings.HasPrefix(next, inner):
			if first < 0 {
				first = at
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				if longest > 0 {
					longest = max(longest, len(mark), len(next))
				}
				return at, longest
			}
		case hasBlocks && len(open) == 1 && info != "" && strings.HasPrefix(next, mark):
			open, longest = append(open, next), max(longest, len(next))
		}
	}
	if first < 0 {
		first = len(lines)
	}
	return first, 0
}
