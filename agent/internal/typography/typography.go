// Package typography knows the signs that models replace by plain ones, so that
// a text that a model repeats can be compared without that difference.
package typography

import "unicode"

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
