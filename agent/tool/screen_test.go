package tool

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// LOOP-26: a model is shown the text on a terminal, without its control
// sequences.
func TestTextOfATerminal(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"one\r\ntwo\r\n":                                   "one\ntwo\n",
		"\x1b[1;31mred\x1b[0m ä":                           "red ä",
		"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link":      "alink",
		"a\x1b[2J\x1b[1;1Hb\x1bcc\x1b(Bd\x1b7":             "abcd",
		"a\x1bPq#0;2\x1b\\b\x1b_x\x1b\\c\x1b^y\x1b\\d":     "abcd",
		"10%\r50%\r100%\r\ndone\r\r\n":                     "100%\ndone\n",
		"bell\x07 back\x08 nul\x00 tab\t delete\x7f\u009b": "bell back nul tab\t delete",
		"prompt> \x1b[":                                    "prompt> ",
		"\x1b]0;" + strings.Repeat("x", maxHeld):           "]0;" + strings.Repeat("x", maxHeld),
	} {
		if got := new(screenText).next(given); got != want {
			t.Errorf("%q reads %q, want %q", given, got, want)
		}
	}
}

// The text does not depend on how it is divided, except for a line that is
// overwritten.
func FuzzTextOfATerminal(f *testing.F) {
	for _, seed := range []string{"a\r\nb", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07x", "\x1b]8;;u\x1b\\l", "\x1b(B\x1b7"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		if text = strings.ToValidUTF8(text, ""); at < 0 || at > len(text) || !utf8.ValidString(text[:at]) || len(text) > maxHeld {
			t.Skip()
		}
		var whole, parts screenText
		want, got := whole.next(text), parts.next(text[:at])+parts.next(text[at:])
		if strings.ContainsRune(want, '\x1b') || !utf8.ValidString(want) {
			t.Errorf("%q reads %q", text, want)
		}
		if !strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") && got != want {
			t.Errorf("%q cut at %d reads %q, want %q", text, at, got, want)
		}
	})
}
