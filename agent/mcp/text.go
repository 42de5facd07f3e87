package mcp

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// beginning returns the beginning of a server's text, at most most bytes of valid
// UTF-8 in one line.
func beginning[T ~string | ~[]byte](text T, most int) string {
	s := string(text[:min(len(text), most+utf8.UTFMax)])
	return strings.Join(strings.Fields(shorten(strings.ToValidUTF8(s, "\uFFFD"), most)), " ")
}

// shorten cuts a text to at most most bytes.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

func bytesText(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d kB", (n+1023)/1024)
	}
	return fmt.Sprintf("%d MB", n>>20)
}
