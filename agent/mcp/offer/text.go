package offer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
)

// plain returns a server's text for a model: valid, of up to most bytes, without
// characters that nobody sees, and without marks that the model could take for our
// own.
func plain(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(beginning(text, most), "\uFFFD"))
	return agent.EscapeTags(strings.TrimSpace(text))
}

// line is plain on one line.
func line(text string, most int) string {
	return strings.Join(strings.Fields(plain(text, most)), " ")
}

// beginning returns up to most bytes of a text, and says that it was cut.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
