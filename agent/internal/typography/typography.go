// Package typography knows the signs that models replace by plain ones, so that
// a text that a model repeats can be compared without that difference.
package typography

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Plain returns the ASCII sign that models write for other quotes, dashes or
// spaces; it returns any other rune unchanged.
func Plain(r rune) rune {
	switch {
	case r <= unicode.MaxASCII:
		return r
	case r >= '‘' && r <= '‛', r == '′':
		return '\''
	case r >= '“' && r <= '‟', r == '″':
		return '"'
	case r >= '‐' && r <= '―', r == '−':
		return '-'
	case unicode.Is(unicode.Zs, r):
		return ' '
	}
	return r
}

// Fold returns a text in the form in which it is compared with what models write: with
// composed characters (NFC), plain signs, and three dots for an ellipsis.
func Fold(text string) string {
	plain := true
	for i := range len(text) {
		plain = plain && text[i] < utf8.RuneSelf
	}
	if plain {
		return text
	}
	return strings.ReplaceAll(strings.Map(Plain, norm.NFC.String(text)), Ellipsis, "...")
}

// Ellipsis is the sign for three dots.
const Ellipsis = "…"
