package output

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Plain writes text to a terminal, or to a pipe that may end at one. Models,
// tools and servers contribute to that text and could use it to move the
// cursor, set the clipboard or hide output. Control characters other than tab
// and line feed, and characters that reorder text, are written as ⟨U+001B⟩. A
// carriage return before a line feed is dropped.
type Plain struct {
	Out  io.Writer
	held []byte // an incomplete character or a carriage return from the end of the last Write
	// Closed, if set, is called when a write fails because the reader has left.
	Closed func()
}

// Write implements [io.Writer]. It holds an incomplete character back until the
// rest of it arrives.
func (p *Plain) Write(b []byte) (int, error) {
	if len(p.held) == 0 && isPlain(b) {
		return len(b), p.pass(b)
	}
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
			out = append(out, Mark(r)...)
		default:
			out = utf8.AppendRune(out, r)
		}
		text = text[size:]
	}
	if err := p.pass(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (p *Plain) pass(b []byte) error {
	_, err := p.Out.Write(b)
	if err != nil && p.Closed != nil {
		p.Closed()
	}
	return err
}

// isPlain reports whether a text can be written as it is, as most can.
func isPlain(text []byte) bool {
	return utf8.Valid(text) && !hasCommand(text, "\n\t")
}

// hasCommand reports whether a text has a character on which a terminal may act,
// other than the given ones of ASCII. Every delta goes through it twice.
func hasCommand(text []byte, but string) bool {
	for len(text) > 0 {
		if len(text) >= 8 && printable(binary.LittleEndian.Uint64(text)) {
			text = text[8:]
			continue
		}
		if c := text[0]; c < utf8.RuneSelf {
			if (c < ' ' || c == 0x7f) && strings.IndexByte(but, c) < 0 {
				return true
			}
			text = text[1:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		if isCommand(r) {
			return true
		}
		text = text[size:]
	}
	return false
}

// printable reports whether eight bytes are printable characters of ASCII. If one of
// them is not, the high bit of the lowest such byte is set: by itself, by the
// subtraction (below U+0020) or by the addition (U+007F).
func printable(eight uint64) bool {
	const each = 0x0101010101010101
	return (eight|(eight-0x20*each)|(eight+each))&(0x80*each) == 0
}

// isCommand reports whether a terminal may act on r instead of showing it.
func isCommand(r rune) bool {
	return r < ' ' || r >= '\u007f' && r <= '\u009f' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// Mark names a character that is not printed.
func Mark(r rune) string { return fmt.Sprintf("⟨U+%04X⟩", r) }

// maxName limits a name on a line.
const maxName = 80

// OneLine returns an untrusted name, shortened and without line breaks.
func OneLine(name string) string { return LineOf(name, maxName) }

// LineOf is OneLine for up to most characters.
func LineOf(name string, most int) string {
	var line strings.Builder
	count := 0
	for _, r := range name {
		if count++; count > most {
			line.WriteString("…")
			break
		}
		if isCommand(r) {
			line.WriteString(Mark(r))
		} else {
			line.WriteRune(r)
		}
	}
	return line.String()
}

// WriteJSON writes a value as one line of JSON in which every character that
// [Plain] would change is escaped, so that the line says exactly what v does.
func WriteJSON(out io.Writer, v any) error {
	encode := func() ([]byte, error) { return json.Marshal(v) }
	if m, ok := v.(json.Marshaler); ok {
		encode = m.MarshalJSON // Marshal would scan the result once more
	}
	line, err := encode()
	if err != nil {
		return fmt.Errorf("encode a line of output: %w", err)
	}
	_, err = out.Write(append(escaped(line), '\n'))
	return err
}

// escaped returns a JSON text in which everything a terminal may act on is
// escaped. The standard library escapes only characters below U+0020.
func escaped(line []byte) []byte {
	if !hasCommand(line, "") {
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
