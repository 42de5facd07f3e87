// Package typography knows the signs that models write as plain ones. A text
// that a model repeats is compared without the difference.
package typography

import "unicode"

// Plain is the ASCII sign that models write for a quote, a dash or a space of
// another kind; any other rune is its own.
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
