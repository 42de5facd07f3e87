package applypatch_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/applypatch"
	"github.com/google/go-cmp/cmp"
)

// A plan describes each file before and after, and counts the changed lines.
func TestPlanDescribesEveryChange(t *testing.T) {
	t.Parallel()
	var got []string
	for _, c := range planned(t, tree(t, files), every).Changes {
		got = append(got, fmt.Sprintf("%s %s %s %q %q +%d -%d %t", c.Kind, c.Path, c.MoveTo, c.Before, c.After, c.Added, c.Removed, c.Overwrites))
	}
	want := []string{
		`add new/deep/file  "" "new\n" +1 -0 false`,
		`add over  "old\n" "written over\n" +1 -1 true`,
		`update updated  "one\n" "1\n" +1 -1 false`,
		`update moved elsewhere/moved "two\n" "2\n" +1 -1 false`,
		`update replacing replaced "three\n" "3\n" +1 -1 true`,
		`delete deleted  "five\n" "" +0 -1 false`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPunctuationIsFolded(t *testing.T) { // LOOP-51
	t.Parallel()
	plain := map[rune]rune{'\u2212': '-', '\u2032': '\'', '\u2033': '"', '\u00A0': ' ', '\u1680': ' ', '\u202F': ' ', '\u205F': ' ', '\u3000': ' '}
	for _, span := range []struct{ first, last, as rune }{
		{'\u2010', '\u2015', '-'}, {'\u2018', '\u201B', '\''}, {'\u201C', '\u201F', '"'}, {'\u2000', '\u200A', ' '},
	} {
		for r := span.first; r <= span.last; r++ {
			plain[r] = span.as
		}
	}
	files := map[string]rune{} // and what the character of a file stands for
	var others strings.Builder
	for r := '\u00A0'; r <= '\u3001'; r++ {
		if as, ok := plain[r]; ok {
			files[fmt.Sprintf("x%cx\n", r)] = as
		} else {
			fmt.Fprintf(&others, "x%cx\n", r)
		}
	}
	files[others.String()] = 0
	for file, stands := range files {
		for _, as := range `-'" ` {
			text := fmt.Sprintf("*** Begin Patch\n*** Update File: a\n-x%cx\n+y\n*** End Patch", as)
			patch, err := applypatch.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			_, err = patch.Plan(func(string) ([]byte, error) { return []byte(file), nil })
			if matched := err == nil; matched != (stands == as) {
				t.Errorf("%.20q stands for %q: %t", file, as, matched)
			}
		}
	}
}

func TestErrorsWrapTheirCause(t *testing.T) {
	t.Parallel()
	patch, err := applypatch.Parse("*** Begin Patch\n*** Delete File: a\n*** End Patch")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := patch.Plan(func(string) ([]byte, error) { return nil, fs.ErrPermission }); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
}

// Neither a repetitive file nor a long chunk slows the search down.
func TestPlacingIsLinear(t *testing.T) {
	t.Parallel()
	content := []byte(strings.Repeat("0\n", 50_000))
	for _, last := range []string{"1", " 0"} {
		text := "*** Begin Patch\n*** Update File: a\n" + strings.Repeat(" 0\n", 2_000) + "-" + last + "\n*** End Patch\n"
		patch, err := applypatch.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = patch.Plan(func(string) ([]byte, error) { return content, nil })
		if (err != nil) != (last == "1") {
			t.Errorf("%q: %v", last, err)
		}
	}
}
