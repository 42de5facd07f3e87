package export

import (
	"strings"

	"atelier.dev/atelier/agent"
)

// Stream renders a session step by step, as it happens, in the form of [HTML]. It is not
// safe for concurrent use.
type Stream struct {
	inputs map[string]string
	words  words
}

// NewStream returns a stream with labels in a language; empty means English.
func NewStream(language string) *Stream {
	return &Stream{inputs: map[string]string{}, words: wordsIn(language)}
}

// Add returns the HTML that an event adds to the document; empty if it adds nothing.
// The start of a call is a line, which the HTML of its end replaces.
func (s *Stream) Add(ev agent.Event) string {
	var b strings.Builder
	for _, p := range piecesOf(ev, s.inputs) {
		p.at = ev.At
		p.html(&b, s.words)
	}
	if start, ok := ev.Data.(agent.ToolCallStart); ok {
		fold(&b, "call", visible(start.Tool), visible(about(start.Input)), "…", "")
	}
	return b.String()
}

// Style returns the style sheet of a document.
func Style() string { return style }
