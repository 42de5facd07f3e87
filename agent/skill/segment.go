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

// maxLine limits the lines in which code between backticks is looked for.
const maxLine = 32 << 10

// segments cuts a body into its parts. They are the body when they are joined.
func segments(body string) []segment {
	var out []segment
	flush := func(text string) {
		if text != "" {
			out = append(out, segment{kind: prose, text: text})
		}
	}
	begin := 0 // where prose began that has no backticks
	for at := 0; at < len(body); {
		line, next := lineAt(body, at)
		mark, info := fenceMark(line)
		if mark == "" && (len(line) > maxLine || !strings.Contains(line, "`")) {
			at = next
			continue
		}
		flush(body[begin:at])
		end := next
		if mark == "" {
			out = append(out, spans(body[at:next])...)
		} else {
			var closed bool
			end, closed = fenceEnd(body, next, mark)
			s := segment{kind: fence, text: body[at:end]}
			if code := insideFence(body[next:end]); info == "!" && mark[0] == '`' && closed && code != "" {
				// The end of the line stays behind what the lines print.
				end -= len(s.text) - len(strings.TrimSuffix(s.text, "\n"))
				s = segment{kind: command, text: body[at:end], code: code}
			}
			out = append(out, s)
		}
		at, begin = end, end
	}
	flush(body[begin:])
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

// spans cuts a line into text, code between backticks and command lines.
func spans(text string) []segment {
	var out []segment
	start := 0
	open := map[int]bool{} // lengths of runs of backticks that no run of their length follows
	for at := 0; at < len(text); {
		i := strings.IndexByte(text[at:], '`')
		if i < 0 {
			break
		}
		at += i
		n := runLength(text[at:])
		end := -1
		if !open[n] && (at == 0 || text[at-1] != '\\') {
			end = closing(text, at+n, n)
			open[n] = end < 0
		}
		if end < 0 {
			at += n
			continue
		}
		begin, s := at, segment{kind: span, text: text[at:end]}
		if code := strings.TrimSpace(text[at+n : end-n]); n == 1 && code != "" && runsAt(text, at) {
			begin = at - 1
			s = segment{kind: command, text: text[begin:end], code: code}
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

func runLength(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }

// closing returns the end of the next run of exactly n backticks.
func closing(text string, at, n int) int {
	for {
		i := strings.IndexByte(text[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		run := runLength(text[at:])
		at += run
		if run == n {
			return at
		}
	}
}

// runsAt reports whether a backtick stands behind a "!" that begins a word, so that what
// follows is a command line.
func runsAt(text string, at int) bool {
	if at == 0 || text[at-1] != '!' {
		return false
	}
	return at == 1 || strings.IndexByte(" \t(:-*>|\"'", text[at-2]) >= 0
}
