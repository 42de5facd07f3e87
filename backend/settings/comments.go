package settings

import "bytes"

// Unmarked returns a text without the byte order mark that some programs begin files with.
func Unmarked(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\ufeff")) }

// Plain returns a text with its comments, its byte order mark, and the commas after a last member, as
// spaces: every other byte keeps its place. Many people and programs write such
// files of JSON. An unterminated comment or text stays as it is, and is an error
// there.
func Plain(b []byte) []byte {
	marked := len(b) - len(Unmarked(b))
	if marked == 0 && !bytes.ContainsRune(b, '/') && !bytes.ContainsRune(b, ',') {
		return b
	}
	out := bytes.Clone(b)
	blankOut(out[:marked])
	comma := -1 // a comma that nothing has followed yet
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			i, comma = stringEnd(out, i), -1
		case c == '/':
			end := commentEnd(out, i)
			if end == 0 {
				comma = -1
				continue
			}
			blankOut(out[i:end])
			i = end - 1
		case c == ',':
			comma = i
		case c == '}' || c == ']':
			if comma >= 0 && hasElement(out, comma) {
				out[comma] = ' '
			}
			comma = -1
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			comma = -1
		}
	}
	return out
}

// stringEnd returns the offset of the quotation mark that ends a string.
func stringEnd(b []byte, at int) int {
	for i := at + 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(b)
}

// commentEnd returns the offset after a comment; 0 if there is none.
func commentEnd(b []byte, at int) int {
	switch {
	case bytes.HasPrefix(b[at:], []byte("//")):
		if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
			return at + i
		}
		return len(b)
	case bytes.HasPrefix(b[at:], []byte("/*")):
		if i := bytes.Index(b[at+2:], []byte("*/")); i >= 0 {
			return at + i + 4
		}
	}
	return 0
}

// blankOut puts spaces for everything but the ends of lines.
func blankOut(b []byte) {
	for i, c := range b {
		if c != '\n' && c != '\r' {
			b[i] = ' '
		}
	}
}

// hasElement reports whether a value stands before a comma.
func hasElement(b []byte, comma int) bool {
	before := bytes.TrimRight(b[:comma], " \t\r\n")
	return len(before) > 0 && bytes.IndexByte([]byte("{[,:"), before[len(before)-1]) < 0
}
