package screen

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// LOOP-26, K-02: a model is shown what a terminal would show: without control
// sequences, and with what was written over as it was last.
func TestTextOfATerminal(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"plain\n\ttext ä\n":                                     "plain\n\ttext ä\n",
		"one\r\ntwo\r\n":                                        "one\ntwo\n",
		"\x1b[1;31mred\x1b[0m ä":                                "red ä",
		"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link":           "alink",
		"a\x1b[2J\x1b[1;1Hb\x1bcc\x1b(Bd\x1b7":                  "abcd",
		"a\x1bPq#0;2\x1b\\b\x1b_x\x1b\\c\x1b^y\x1b\\d":          "abcd",
		"10%\r50%\r100%\r\ndone\r\r\n":                          "100%\ndone\n",
		"bell\x07 nul\x00 tab\t delete\x7f\u009b":               "bell nul tab\t delete",
		"prompt> \x1b[":                                         "prompt> ",
		"\x1b]0;" + strings.Repeat("x", maxHeld):                "]0;" + strings.Repeat("x", maxHeld),
		"Downloading\rDone\n":                                   "Doneloading\n",
		"Downloading\r\x1b[KDone\n":                             "Done\n",
		"1/3\x1b[2K\x1b[1G2/3\x1b[2K\x1b[1G3/3\nend":            "3/3\nend",
		"a: wait\nb: wait\n\x1b[2A\x1b[2Ka: ok\n\x1b[2Kb: ok\n": "a: ok\nb: ok\n",
		"\x1b[Fa: 1\nb: 1\n\x1b[2Fa: 2\x1b[E":                   "a: 2\nb: 1\n",
		"进度 1\r进度 20\n":                                         "进度 20\n",
		"spin |\b/\b-\b\\\b done":                               "spin  done",
		"abc\x1b[2Dx\x1b[3Cy":                                   "axc  y",
		"x\x1b[99999999999999999999A\x1b[99999999999By":         "xy",
		"keep\nbar\nbar\x1b[1A\r\x1b[Jlast":                     "keep\nlast",
		"ab\x1b[1K!":                                            "  !",
	} {
		if got := Shown(given); got != want {
			t.Errorf("%q reads %q, want %q", given, got, want)
		}
	}
}

// Text that no program writes costs no more than its length.
func BenchmarkTextOfATerminal(b *testing.B) {
	for name, unit := range map[string]string{
		"plain": "a line of a log\n", "colour": "\x1b[31ma line\x1b[0m of a log\n", "redraw": "\r 10% of it",
		"up": "\x1b[1A\x1b[2Kbar\n", "open": "\x1b]", "digits": "\x1b[0", "right": "\x1b[999Cx\r", "feeds": "\n\x1b[200A",
	} {
		text := strings.Repeat(unit, 1<<20/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Shown(text)
			}
		})
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
		var whole, parts Text
		want, got := whole.Next(text), parts.Next(text[:at])+parts.Next(text[at:])
		if strings.ContainsRune(want, '\x1b') || !utf8.ValidString(want) {
			t.Errorf("%q reads %q", text, want)
		}
		moves := strings.ContainsAny(strings.ReplaceAll(text, "\r\n", ""), "\r\b") || strings.Contains(text, "\x1b[")
		if !moves && got != want {
			t.Errorf("%q cut at %d reads %q, want %q", text, at, got, want)
		}
	})
}
