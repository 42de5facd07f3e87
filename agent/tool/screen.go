package tool

import (
	"regexp"
	"strings"
	"sync"
)

// maxHeld caps what of a text is held back because it could be the beginning
// of an escape sequence.
const maxHeld = 4 << 10

var (
	// sequences match what a program tells a terminal: CSI sequences; OSC, DCS,
	// SOS, PM and APC strings with their terminator; other escapes.
	sequences = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-OQ-WYZ\\` + "`" + `-~]`)
	// unfinished matches the beginning of an escape or of a line end, where the
	// text ends in one.
	unfinished = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)$|\r+$`)
	// lineEnds match those of a terminal.
	lineEnds = regexp.MustCompile(`\r+\n`)
)

// screenText turns what a program sends a terminal, which comes in pieces, into
// text to read: without colours and cursor movements, each line as it was last
// written. It is safe for concurrent use; the zero value is ready.
type screenText struct {
	mu   sync.Mutex
	held string // the beginning of something
}

// next returns the text of a piece. Where that ends within a sequence, its
// beginning comes with the next piece.
func (s *screenText) next(piece string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.held + piece
	s.held = ""
	if at := unfinished.FindStringIndex(text); at != nil && len(text)-at[0] <= maxHeld {
		text, s.held = text[:at[0]], text[at[0]:]
	}
	text = lineEnds.ReplaceAllString(sequences.ReplaceAllString(text, ""), "\n")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = line[strings.LastIndex(strings.TrimRight(line, "\r"), "\r")+1:]
	}
	return strings.Map(readable, strings.Join(lines, "\n"))
}

// readable drops control characters that no text is made of.
func readable(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
		return -1
	}
	return r
}
