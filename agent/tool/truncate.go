package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent/internal/screen"
)

// Limit is a model's share of a tool's output (LOOP-38..40).
type Limit struct {
	// Chars limits the characters; 0 means no limit.
	Chars int
	// Tail keeps the end of a text that is too long; otherwise its beginning
	// and end are kept.
	Tail bool
	// Lines limits the lines of the text that the first pass left; 0 means no
	// limit.
	Lines int
}

// limits are the defaults by canonical tool name; other tools have otherLimit
// (LOOP-39, LOOP-130, K-02).
var (
	limits = map[string]Limit{
		"Read":       {Chars: 50_000},
		"Bash":       {Chars: 30_000, Lines: 256},
		"WriteStdin": {Chars: 30_000, Lines: 256},
		"TaskOutput": {Chars: 30_000, Lines: 256},
		"Grep":       {Chars: 20_000, Tail: true, Lines: 200},
		"Glob":       {Chars: 20_000, Tail: true, Lines: 500},
		"ReadMany":   {Chars: 50_000},
		"Edit":       {Chars: 10_000, Tail: true},
		"MultiEdit":  {Chars: 10_000, Tail: true},
		"ApplyPatch": {Chars: 10_000, Tail: true},
		"Write":      {Chars: 1_000, Tail: true},
		"Agent":      {Chars: 20_000},
	}
	otherLimit = Limit{Chars: 30_000}
)

// LimitOf returns the default limit of a tool.
func LimitOf(tool string) Limit {
	if l, ok := limits[tool]; ok {
		return l
	}
	return otherLimit
}

// HasLimit reports whether a tool has a limit of its own.
func HasLimit(tool string) bool {
	_, ok := limits[tool]
	return ok
}

// maxWanted is the largest number of characters that a call can ask for: 20,000
// tokens (K-41).
const maxWanted = 80_000

// Truncate cuts a tool's output to the model's share: to the characters of the
// tool's default limit, or to those that the call wants if these are more
// (K-41, LOOP-126..128). What a command printed is first turned into what a
// terminal would show of it.
func Truncate(tool, text string, wanted int) string {
	l := LimitOf(tool)
	l.Lines = 0
	return l.raised(wanted).Apply(legibleOf(tool, text))
}

// legibleOf returns the text of a tool's output that is counted and shown.
func legibleOf(tool, text string) string {
	switch tool {
	case "Bash", "WriteStdin", "TaskOutput", "TaskStop":
		return screen.Shown(text)
	default:
		return text
	}
}

// TruncateLines is [Truncate] with a limit of lines as well, as the
// specification requires (LOOP-40).
func TruncateLines(tool, text string, wanted int) string {
	return LimitOf(tool).raised(wanted).Apply(legibleOf(tool, text))
}

// TruncateWith is [Truncate] with a session's own limits, by canonical tool
// name, which take precedence over the defaults (LOOP-131). A call cannot raise
// them.
func TruncateWith(own map[string]Limit) func(tool, text string, wanted int) string {
	return func(tool, text string, wanted int) string {
		if l, ok := own[tool]; ok {
			return l.Apply(legibleOf(tool, text))
		}
		return Truncate(tool, text, wanted)
	}
}

// raised returns the limit for a call that wants the given number of
// characters.
func (l Limit) raised(wanted int) Limit {
	if l.Chars > 0 {
		l.Chars = max(l.Chars, min(wanted, maxWanted))
	}
	return l
}

// Apply cuts text first by characters, then by lines. Marks show what was
// removed and are not counted in the limits. Valid UTF-8 stays valid.
func (l Limit) Apply(text string) string {
	head, mark, tail := l.cutChars(text)
	return l.cutLines(head, mark, tail)
}

// cutChars returns the text before and after the mark. Without a mark
// everything is kept, in head.
func (l Limit) cutChars(text string) (head, mark, tail string) {
	removed := utf8.RuneCountInString(text) - l.Chars
	if l.Chars <= 0 || removed <= 0 {
		return text, "", ""
	}
	if l.Tail {
		return "", fmt.Sprintf("[WARNING: Tool output was truncated. The first %d characters were removed. "+
			"The full output is available in the event stream.]", removed), lastRunes(text, l.Chars)
	}
	half := l.Chars / 2
	return firstRunes(text, half), fmt.Sprintf("[WARNING: Tool output was truncated. %d characters were removed from the middle. "+
		"The full output is available in the event stream. If you need to see specific parts, "+
		"re-run the tool with more targeted parameters.]", removed), lastRunes(text, l.Chars-half)
}

// cutLines keeps the first and the last half of the lines, and the mark of the
// first pass in its place. A line feed at the end does not begin a line.
func (l Limit) cutLines(head, mark, tail string) string {
	last := &tail
	if mark == "" {
		last = &head
	}
	ending := ""
	if strings.HasSuffix(*last, "\n") {
		*last, ending = (*last)[:len(*last)-1], "\n"
	}
	lines := strings.Split(head, "\n")
	at := len(lines) // where the mark goes
	switch {
	case mark == "":
	case head == "":
		lines, at = strings.Split(tail, "\n"), 0
	default:
		lines = append(lines, strings.Split(tail, "\n")...)
	}
	from, to := len(lines), len(lines) // the lines to leave out
	if l.Lines > 0 && len(lines) > l.Lines {
		from = l.Lines / 2
		to = len(lines) - (l.Lines - from)
	}
	var parts []string
	keep := func(some []string) {
		if len(some) > 0 {
			parts = append(parts, strings.Join(some, "\n"))
		}
	}
	keep(lines[:min(at, from)])
	if mark != "" && at <= from {
		parts = append(parts, mark)
	}
	keep(lines[min(at, from):from])
	if from < to {
		parts = append(parts, fmt.Sprintf("[... %d lines omitted ...]", to-from))
	}
	if mark != "" && at > from && at <= to {
		parts = append(parts, mark)
	}
	keep(lines[to:max(at, to)])
	if mark != "" && at > to {
		parts = append(parts, mark)
	}
	keep(lines[max(at, to):])
	return strings.Join(parts, "\n") + ending
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func lastRunes(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}

// lastLines returns the last n lines of a text, or all for 0, and the number of
// lines before them.
func lastLines(text string, n int) string {
	if n <= 0 {
		return text
	}
	at := len(strings.TrimSuffix(text, "\n"))
	for range n {
		if at = strings.LastIndexByte(text[:at], '\n'); at < 0 {
			return text
		}
	}
	return fmt.Sprintf("[%s before this.]\n%s", count(strings.Count(text[:at+1], "\n"), "line"), text[at+1:])
}
