package skill

import "strings"

// segment is a part of a skill's body.
type segment struct {
	kind segmentKind
	// text is the part as it is written; code is what a command line says.
	text, code string
}

type segmentKind int

const (
	prose   segmentKind = iota
	span                // code between backticks
	fence               // a fenced block of code
	command             // !`line`, or a block fenced with ```!
)

// segments cuts a body into its parts. They are the body when they are joined.
func segments(body string) []segment {
	var out []segment
	text := 0 // where the prose began that was not cut yet
	flush := func(end int) {
		if end > text {
			out = append(out, spans(body[text:end])...)
		}
	}
	for at := 0; at < len(body); {
		line, next := lineAt(body, at)
		mark, info := fenceMark(line)
		if mark == "" {
			at = next
			continue
		}
		flush(at)
		end, closed := fenceEnd(body, next, mark)
		s := segment{kind: fence, text: body[at:end]}
		if strings.HasPrefix(info, "!") && closed {
			// The line feed at the end stays behind what the lines printed.
			s.kind, s.text = command, strings.TrimSuffix(s.text, "\n")
			s.code = insideFence(body[next:end])
			if rest := strings.TrimSpace(info[1:]); rest != "" {
				s.code = rest + "\n" + s.code
			}
			end = at + len(s.text)
		}
		out = append(out, s)
		at, text = end, end
	}
	flush(len(body))
	return out
}

// lineAt returns the line that begins at a place, without its end, and where the next begins.
func lineAt(body string, at int) (string, int) {
	if i := strings.IndexByte(body[at:], '\n'); i >= 0 {
		return body[at : at+i], at + i + 1
	}
	return body[at:], len(body)
}

// fenceMark returns the mark with which a line opens a fence, and what follows it.
func fenceMark(line string) (mark, info string) {
	line = strings.TrimLeft(line, " \t")
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, c)
		if n := len(line) - len(rest); n >= 3 && !(c == "`" && strings.Contains(rest, "`")) {
			return line[:n], strings.TrimSpace(rest)
		}
	}
	return "", ""
}

// fenceEnd returns where a fence ends that was opened with a mark, and whether it is closed.
func fenceEnd(body string, at int, mark string) (int, bool) {
	for at < len(body) {
		line, next := lineAt(body, at)
		line = strings.TrimSpace(line)
		if len(line) >= len(mark) && strings.Trim(line, mark[:1]) == "" {
			return next, true
		}
		at = next
	}
	return len(body), false
}

// insideFence returns the lines of a fence before the one that closes it.
func insideFence(block string) string {
	block = strings.TrimSuffix(block, "\n")
	return strings.TrimSpace(block[:max(0, strings.LastIndexByte(block, '\n'))])
}

// spans cuts prose into text, code between backticks and command lines.
func spans(text string) []segment {
	var out []segment
	start := 0
	unmatched := map[int]bool{} // lengths of runs of backticks that are not closed any more
	for at := 0; at < len(text); {
		open := strings.IndexByte(text[at:], '`')
		if open < 0 {
			break
		}
		open += at
		n := len(text[open:]) - len(strings.TrimLeft(text[open:], "`"))
		end := -1
		if !unmatched[n] && (open == 0 || text[open-1] != '\\') {
			end = closing(text, open+n, n)
			unmatched[n] = end < 0
		}
		if end < 0 {
			at = open + n
			continue
		}
		begin, s := open, segment{kind: span, text: text[open:end]}
		if n == 1 && runsAt(text, open) {
			begin = open - 1
			s = segment{kind: command, text: text[begin:end], code: strings.TrimSpace(text[open+1 : end-1])}
		}
		if begin > start {
			out = append(out, segment{kind: prose, text: text[start:begin]})
		}
		out = append(out, s)
		at, start = end, end
	}
	if start < len(text) {
		out = append(out, segment{kind: prose, text: text[start:]})
	}
	return out
}

// closing returns the end of the next run of exactly n backticks.
func closing(text string, at, n int) int {
	for at < len(text) {
		i := strings.IndexByte(text[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		at += run
		if run == n {
			return at
		}
	}
	return -1
}

// runsAt reports whether a backtick stands behind a "!" that begins a word, so that what
// follows is a command line.
func runsAt(text string, open int) bool {
	if open == 0 || text[open-1] != '!' {
		return false
	}
	return open == 1 || strings.IndexByte(" \t\n(:-*>|\"'", text[open-2]) >= 0
}
