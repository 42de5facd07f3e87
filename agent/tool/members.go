package tool

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// memberReader reads the string members of a JSON object while it is still
// being written, in time linear in its text. It passes them on piece by piece.
// A text that is not an object has none. The zero value with a pass function is
// ready to use.
type memberReader struct {
	// pass receives the next piece of a member; the first piece is empty.
	pass func(member, piece string)

	depth  int  // of objects and arrays
	isKey  bool // the next string of the root object is a member's name
	quoted bool
	escape []byte // the current escape sequence so far, from its backslash
	high   rune   // a surrogate that waits for its second half
	key    strings.Builder
	member string
	text   strings.Builder // of the member, not passed on yet
}

func (m *memberReader) append(piece string) {
	for i := range len(piece) {
		switch c := piece[i]; {
		case len(m.escape) > 0:
			m.escaped(c)
		case !m.quoted:
			m.structure(c)
		case c == '\\':
			m.escape = append(m.escape, c)
		case c == '"':
			m.end()
		default:
			m.lone()
			m.writeByte(c)
		}
	}
	m.flush()
}

// structure reads a byte outside strings.
func (m *memberReader) structure(c byte) {
	switch c {
	case '{':
		m.depth++
		m.isKey = m.depth == 1
	case '[':
		m.depth++
	case '}', ']':
		m.depth--
	case ',':
		m.isKey = m.depth == 1
	case '"':
		m.quoted = true
		switch {
		case m.depth != 1:
		case m.isKey:
			m.key.Reset()
		default:
			m.pass(m.member, "")
		}
	}
}

// end ends a string.
func (m *memberReader) end() {
	m.lone()
	m.flush()
	m.quoted = false
	if m.depth == 1 && m.isKey {
		m.member, m.isKey = m.key.String(), false
	}
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escaped reads a byte of an escape sequence.
func (m *memberReader) escaped(c byte) {
	m.escape = append(m.escape, c)
	if m.escape[1] == 'u' && len(m.escape) < len(`\uffff`) {
		return
	}
	if m.escape[1] != 'u' {
		m.lone()
		m.writeByte(escapes[c])
	} else {
		code, err := strconv.ParseUint(string(m.escape[2:]), 16, 16)
		if err != nil {
			code = utf8.RuneError
		}
		m.unit(rune(code))
	}
	m.escape = m.escape[:0]
}

// unit adds a UTF-16 code unit.
func (m *memberReader) unit(r rune) {
	if pair := utf16.DecodeRune(m.high, r); m.high != 0 && pair != utf8.RuneError {
		m.high = 0
		m.writeRune(pair)
		return
	}
	m.lone()
	if utf16.IsSurrogate(r) && r < 0xDC00 {
		m.high = r
		return
	}
	m.writeRune(r) // a second half without a first becomes U+FFFD
}

// lone replaces a surrogate whose second half did not follow.
func (m *memberReader) lone() {
	if m.high != 0 {
		m.high = 0
		m.writeRune(utf8.RuneError)
	}
}

func (m *memberReader) writeRune(r rune) {
	for _, c := range []byte(string(r)) {
		m.writeByte(c)
	}
}

func (m *memberReader) writeByte(c byte) {
	switch {
	case m.depth != 1:
	case m.isKey:
		m.key.WriteByte(c)
	default:
		m.text.WriteByte(c)
	}
}

func (m *memberReader) flush() {
	if m.text.Len() > 0 {
		m.pass(m.member, m.text.String())
		m.text.Reset()
	}
}
