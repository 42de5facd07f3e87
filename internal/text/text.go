// Package text shortens texts without splitting a character.
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

// Clip returns s, or its beginning of at most n bytes and an ellipsis.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Head(s, n) + "…"
}

// Shorten returns s, or its beginning and an ellipsis, which are n characters together.
func Shorten(s string, n int) string {
	if len(Characters(s, n)) == len(s) {
		return s
	}
	return Characters(s, n-1) + "…"
}

// Characters returns at most n characters from the beginning of s.
func Characters(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// Line returns s on one line. What is not UTF-8 is replaced.
func Line(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}
