// Package text cuts texts to a length in bytes without splitting a character.
package text

import (
	"strings"
	"unicode/utf8"
)

// Head returns at most n bytes from the beginning of s, whole characters only.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Tail returns at most n bytes from the end of s, whole characters only. It is a
// copy, so that the rest can be freed.
func Tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return strings.Clone(s[i:])
}
