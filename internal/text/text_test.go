package text

import (
	"testing"
	"unicode/utf8"
)

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, got, want string }{
		{"head", Head("aé", 2), "a"},
		{"head of all", Head("aé", 3), "aé"},
		{"tail", Tail("éa", 2), "a"},
		{"clip", Clip("aéb", 2), "a…"},
		{"clip of all", Clip("aéb", 4), "aéb"},
		{"shorten", Shorten("aébc", 3), "aé…"},
		{"shorten of all", Shorten("aéb", 3), "aéb"},
		{"shorten to one", Shorten("ab", 1), "…"},
		{"characters", Characters("éab", 2), "éa"},
		{"line", Line(" a\n\tb\xff "), "a b\uFFFD"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func FuzzHeadAndTail(f *testing.F) {
	f.Add("aé", 2)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 0 || !utf8.ValidString(s) {
			return
		}
		for _, part := range []string{Head(s, n), Tail(s, n)} {
			if len(part) > n || !utf8.ValidString(part) {
				t.Errorf("%q of %q, %d", part, s, n)
			}
		}
	})
}
