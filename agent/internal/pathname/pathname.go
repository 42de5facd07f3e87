// Package pathname writes names of files that are not text, as git does.
package pathname

import (
	"strings"
	"unicode/utf8"
)

// Quote returns a file's name as it is shown and passed on: unchanged if it is
// UTF-8 and does not begin with a quotation mark, else in quotation marks, with
// git's escapes. [Unquote] returns the name.
func Quote(name string) string {
	if utf8.ValidString(name) && !strings.HasPrefix(name, `"`) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			b.WriteByte('\\')
			b.WriteByte('0' + c>>6)
			b.WriteByte('0' + c>>3&7)
			b.WriteByte('0' + c&7)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// escapes are the letters of git's escapes.
var escapes = map[byte]byte{'a': 7, 'b': 8, 't': 9, 'n': 10, 'v': 11, 'f': 12, 'r': 13, '"': '"', '\\': '\\'}

// Unquote returns the name that [Quote] or git wrote. A name without quotation
// marks around it, or with an unknown escape, is returned unchanged.
func Unquote(shown string) string {
	if len(shown) < 2 || shown[0] != '"' || shown[len(shown)-1] != '"' {
		return shown
	}
	inner := shown[1 : len(shown)-1]
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' {
			b.WriteByte(inner[i])
			continue
		}
		if i++; i == len(inner) {
			return shown
		}
		if c, ok := escapes[inner[i]]; ok {
			b.WriteByte(c)
			continue
		}
		value := 0
		for n := range 3 {
			if i+n >= len(inner) || inner[i+n] < '0' || inner[i+n] > '7' {
				return shown
			}
			value = value<<3 + int(inner[i+n]-'0')
		}
		if value > 0xff {
			return shown
		}
		b.WriteByte(byte(value))
		i += 2
	}
	return b.String()
}
