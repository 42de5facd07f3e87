package typography

import "testing"

// LOOP-25, LOOP-51: edits and patches fold the same signs.
func TestPlain(t *testing.T) {
	t.Parallel()
	for plain, signs := range map[rune]string{
		'\'': "'‘’‚‛′",
		'"':  "\"“”„‟″",
		'-':  "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
		' ':  " \u00A0\u1680\u2000\u2002\u200A\u202F\u205F\u3000",
	} {
		for _, r := range signs {
			if got := Plain(r); got != plain {
				t.Errorf("%U is %q, want %q", r, got, plain)
			}
		}
	}
	for _, r := range "a\t\n\u200Bü日\uFFFD‗•`´«" {
		if got := Plain(r); got != r {
			t.Errorf("%U becomes %U", r, got)
		}
	}
}
