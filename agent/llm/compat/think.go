package compat

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
	// maxLead limits the white space before the tag.
	maxLead = 64
)

// thinkTag splits a text that begins with reasoning between tags, the form of
// an endpoint without a reasoning field. The zero value expects the beginning
// of an answer. A text that begins with anything else stays whole.
type thinkTag struct {
	phase thinkPhase
	// held is the possible beginning of a tag, with the space before it.
	held string
}

type thinkPhase int

const (
	thinkAwaited thinkPhase = iota
	thinkOpened
	thinkClosed // and the text has not begun
	thinkOver
)

// split takes a piece of the text and returns the parts that are certain.
func (t *thinkTag) split(piece string) (thought, text string) {
	if piece == "" {
		return "", ""
	}
	if t.phase == thinkAwaited {
		t.held += piece
		said := strings.TrimLeft(t.held, " \t\r\n")
		switch {
		case len(t.held)-len(said) <= maxLead && strings.HasPrefix(said, thinkOpen):
			t.phase, t.held, piece = thinkOpened, "", said[len(thinkOpen):]
		case len(t.held)-len(said) <= maxLead && strings.HasPrefix(thinkOpen, said):
			return "", ""
		default:
			return "", t.over()
		}
	}
	if t.phase == thinkOpened {
		piece, t.held = t.held+piece, ""
		inside, after, closed := strings.Cut(piece, thinkClose)
		if !closed {
			inside, t.held = cutBeginning(piece, thinkClose)
			return inside, ""
		}
		thought, piece, t.phase = inside, after, thinkClosed
	}
	if t.phase == thinkClosed {
		if piece = strings.TrimLeft(piece, " \t\r\n"); piece != "" {
			t.phase = thinkOver
		}
	}
	return thought, piece
}

// over ends the search for tags and returns the held text.
func (t *thinkTag) over() string {
	held := t.held
	t.phase, t.held = thinkOver, ""
	return held
}

// cutBeginning cuts a possible beginning of mark off the end of s.
func cutBeginning(s, mark string) (before, held string) {
	for n := min(len(s), len(mark)-1); n > 0; n-- {
		if strings.HasSuffix(s, mark[:n]) {
			return s[:len(s)-n], s[len(s)-n:]
		}
	}
	return s, ""
}
