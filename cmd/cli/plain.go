package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain passes text on to a terminal, or to a pipe that may end at one. Models,
// tools and servers write some of that text, and could move the cursor, set the
// clipboard or hide what is asked of the user. A control character other than
// tab and line feed, and one that reorders text, is written as ⟨U+001B⟩; a
// carriage return before a line feed is dropped.
type plain struct {
	out  io.Writer
	held []byte // the end of the last text that the next one may complete
	// closed, if it is set, is called when nobody reads any more.
	closed func()
}

// Write implements [io.Writer]. It keeps the beginning of a character until
// the rest comes.
func (p *plain) Write(b []byte) (int, error) {
	text := append(p.held, b...)
	p.held = nil
	var out []byte
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && !utf8.FullRune(text) || len(text) == 1 && r == '\r' {
			p.held = bytes.Clone(text)
			break
		}
		switch {
		case r == '\r' && text[size] == '\n':
		case isCommand(r) && r != '\n' && r != '\t':
			out = append(out, mark(r)...)
		default:
			out = utf8.AppendRune(out, r)
		}
		text = text[size:]
	}
	if _, err := p.out.Write(out); err != nil {
		if p.closed != nil {
			p.closed()
		}
		return 0, err
	}
	return len(b), nil
}

// isCommand reports whether a terminal may act on r instead of showing it.
func isCommand(r rune) bool {
	return unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

func mark(r rune) string { return fmt.Sprintf("⟨U+%04X⟩", r) }

// maxName is how much of a name is shown on a line.
const maxName = 80

// oneLine returns a name that somebody else chose so that it stays on its line.
func oneLine(name string) string {
	var line strings.Builder
	count := 0
	for _, r := range name {
		if count++; count > maxName {
			line.WriteString("…")
			break
		}
		if isCommand(r) {
			line.WriteString(mark(r))
		} else {
			line.WriteRune(r)
		}
	}
	return line.String()
}

// writeJSON writes a value as one line of JSON in which every character that
// [plain] would change is escaped, so that the line says exactly what v does.
func writeJSON(out io.Writer, v any) error {
	encode := func() ([]byte, error) { return json.Marshal(v) }
	if m, ok := v.(json.Marshaler); ok {
		encode = m.MarshalJSON // Marshal would read over the result once more
	}
	line, err := encode()
	if err != nil {
		return fmt.Errorf("encode a line of output: %w", err)
	}
	_, err = out.Write(append(escaped(line), '\n'))
	return err
}

// escaped returns a JSON text with escapes for what stands in it plainly and a
// terminal may act on. JSON itself escapes only the first 32 characters.
func escaped(line []byte) []byte {
	if !bytes.ContainsFunc(line, isCommand) {
		return line
	}
	var out []byte
	for _, r := range string(line) {
		if isCommand(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}
