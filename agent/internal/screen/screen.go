// Package screen turns what a program prints into the text that a terminal would show.
package screen

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxHeld limits the text that is held back because it could begin an escape
	// sequence.
	maxHeld = 4 << 10
	// maxRows is how many lines above the last one a program can still change,
	// and maxColumn how far to the right the cursor can be moved.
	maxRows, maxColumn = 200, 1000
)

var (
	// sequence matches a control sequence for terminals at the beginning of a
	// text: a CSI sequence, with its parameters and its final byte; an OSC, DCS,
	// SOS, PM or APC string with its terminator; another escape.
	sequence = regexp.MustCompile(`^\x1b(?:\[([0-?]*)[ -/]*([@-~])|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ\\` + "`" + `-~])`)
	// unfinished matches the beginning of an escape where the text ends in it.
	unfinished = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)$`)
)

// Text turns what a program prints, which comes in pieces, into the text
// that a terminal would show in the end: without colours, and with lines that
// were written over (by a carriage return, or by moving the cursor) as they
// were last. What has been scrolled off by [maxRows] lines, or returned, no
// longer changes. A cleared screen keeps its text. The zero value is ready.
type Text struct {
	held   string // the beginning of an escape
	done   strings.Builder
	rows   [][]rune // that can still change; the last one has no line end
	row    int
	column int
}

// Shown returns a whole text as a terminal would show it.
func Shown(text string) string {
	if strings.IndexFunc(text, isControl) < 0 {
		return text
	}
	return new(Text).Next(text)
}

// Next returns the text of a piece. Where that ends within a sequence, its
// beginning comes with the next piece.
func (s *Text) Next(piece string) string {
	text := s.held + piece
	s.held = ""
	from := max(0, len(text)-maxHeld) // a longer one is not held back
	if at := unfinished.FindStringIndex(text[from:]); at != nil {
		text, s.held = text[:from+at[0]], text[from+at[0]:]
	}
	s.rows = [][]rune{nil}
	for text != "" {
		plain := strings.IndexFunc(text, isControlOrFeed)
		if plain < 0 {
			plain = len(text)
		}
		s.print(text[:plain])
		text = text[plain:]
		if text != "" {
			text = text[s.control(text):]
		}
	}
	for range s.rows[1:] {
		s.scroll()
	}
	s.done.WriteString(string(s.rows[0]))
	shown := s.done.String()
	*s = Text{held: s.held}
	return shown
}

// print writes a text without control characters at the cursor.
func (s *Text) print(text string) {
	if text == "" {
		return
	}
	row := s.rows[s.row]
	for len(row) < s.column {
		row = append(row, ' ')
	}
	for _, r := range text {
		if s.column < len(row) {
			row[s.column] = r
		} else {
			row = append(row, r)
		}
		s.column++
	}
	s.rows[s.row] = row
}

// control obeys the control character or the sequence at the beginning of a
// text, and returns its length.
func (s *Text) control(text string) int {
	switch text[0] {
	case '\n':
		s.feed()
	case '\r':
		s.column = 0
	case '\b':
		s.column = max(0, s.column-1)
	case '\x1b':
		if m := sequence.FindStringSubmatch(text); m != nil {
			s.obey(m[1], m[2])
			return len(m[0])
		}
	}
	_, size := utf8.DecodeRuneInString(text)
	return size
}

// feed begins the next line. A line end alone goes to its beginning, too, as
// terminals are set to do.
func (s *Text) feed() {
	s.column = 0
	if s.row++; s.row < len(s.rows) {
		return
	}
	s.rows = append(s.rows, nil)
	if len(s.rows) > maxRows {
		s.scroll()
	}
}

// scroll takes the first row off the screen.
func (s *Text) scroll() {
	s.done.WriteString(string(s.rows[0]))
	s.done.WriteByte('\n')
	s.rows = s.rows[1:]
	s.row = max(0, s.row-1)
}

// obey carries out a CSI sequence that moves the cursor or erases.
func (s *Text) obey(parameters, final string) {
	n, err := strconv.Atoi(parameters)
	count := min(max(n, 1), maxColumn)
	switch row := s.rows[s.row]; final {
	case "A", "F":
		s.row = max(0, s.row-count)
	case "B", "E":
		s.row = min(len(s.rows)-1, s.row+count)
	case "C":
		s.column = max(s.column, min(s.column+count, maxColumn))
	case "D":
		s.column = max(0, s.column-count)
	case "G":
		s.column = count - 1
	case "J":
		if parameters == "" || err == nil && n == 0 {
			s.rows = s.rows[:s.row+1]
			s.rows[s.row] = row[:min(len(row), s.column)]
		}
	case "K":
		switch parameters {
		case "", "0":
			s.rows[s.row] = row[:min(len(row), s.column)]
		case "1":
			for i := range row[:min(len(row), s.column+1)] {
				row[i] = ' '
			}
		case "2":
			s.rows[s.row] = nil
		}
	}
	if final == "E" || final == "F" {
		s.column = 0
	}
}

// isControl reports whether a character is none that text is made of.
func isControl(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }

func isControlOrFeed(r rune) bool { return r == '\n' || isControl(r) }
