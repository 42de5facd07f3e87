package export

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// escapes are the sequences that control a terminal.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b(?:\\[[0-9;:?<=>]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[PX^_][^\x1b]*(?:\x1b\\\\)?|[@-Z\\\\-_])")
})

// visible returns a text without the sequences of terminals, and with every other
// character that hides or reorders text named.
func visible(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexFunc(text, hides) < 0 {
		return text
	}
	text = escapes().ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "")
	var b strings.Builder
	for _, r := range text {
		if hides(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hides reports whether a character is neither seen nor a space: controls, marks of
// direction, and characters without a width.
func hides(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == '\u200d' || r == '\u200c' || r >= '\ufe00' && r <= '\ufe0f':
		return false // they join and shape characters of scripts and emoji
	case r == '\u2028' || r == '\u2029' || r >= 0xE0000 && r <= 0xE007F:
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}
