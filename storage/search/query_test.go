package search_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"atelier.dev/atelier/storage/search"
	"github.com/google/go-cmp/cmp"
)

var now = time.Date(2026, 11, 23, 15, 4, 5, 0, time.UTC)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]search.Query{
		"":                     {},
		"  two\twords ":        {Words: []string{"two", "words"}},
		`"a phrase" -"not it"`: {Words: []string{"a phrase"}, Without: []string{"not it"}},
		`open "never closed`:   {Words: []string{"open", "never closed"}},
		`5"x http://y -`:       {Words: []string{`5"x`, "http://y", "-"}},
		"rm -rf":               {Words: []string{"rm"}, Options: []string{"-rf"}},
		"git commit --no-edit": {Words: []string{"git", "commit", "--no-edit"}},
		"-- ---":               {Words: []string{"--", "---"}},
		`-"-rf" "-rf" -x:y`:    {Words: []string{"-rf"}, Without: []string{"-rf"}, Options: []string{"-x:y"}},
	} {
		if diff := cmp.Diff(want, search.Parse(text, now)); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func TestParseFilters(t *testing.T) {
	t.Parallel()
	const dollar = 1_000_000_000_000
	at := func(y, m, d int) int64 { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).UnixMilli() }
	for text, want := range map[string]search.Filter{
		`file:"My File.ts"`: {Name: search.FilterFile, Text: "my file.ts"},
		"-TOOL:Bash":        {Name: search.FilterTool, Text: "bash", Not: true},
		"cost:0.5..2":       {Name: search.FilterCost, Text: "0.5..2", From: dollar / 2, To: 2*dollar + 1},
		"cost:<$2":          {Name: search.FilterCost, Text: "<$2", To: 2 * dollar},
		"after:2026-11-01":  {Name: search.FilterAfter, Text: "2026-11-01", From: at(2026, 11, 1), To: 1<<63 - 1},
		"before:2026-11":    {Name: search.FilterBefore, Text: "2026-11", From: -1 << 63, To: at(2026, 11, 1)},
		"after:7d":          {Name: search.FilterAfter, Text: "7d", From: at(2026, 11, 16), To: 1<<63 - 1},
		"after:yesterday":   {Name: search.FilterAfter, Text: "yesterday", From: at(2026, 11, 22), To: 1<<63 - 1},
		"in:output":         {Name: search.FilterIn, Text: "output"},
		"is:archived":       {Name: search.FilterIs, Text: "archived"},
	} {
		q := search.Parse(text, now)
		if diff := cmp.Diff([]search.Filter{want}, q.Filters); diff != "" || len(q.Words) > 0 || q.Shown[0].Unclear {
			t.Errorf("%q: %+v\n%s", text, q, diff)
		}
	}
	for _, text := range []string{
		"cost:", "cost:x", "cost:NaN", "cost:-1", "cost:2..1", "cost:>", "cost:<>1", "cost:1e99", "after:soon", "after:2026-13-01", "after:-3d", "before:", "in:here", "is:odd", "tag:", `file:""`,
	} {
		if q := search.Parse(text, now); len(q.Filters) != 0 || len(q.Shown) != 1 || !q.Shown[0].Unclear {
			t.Errorf("%q: %+v", text, q)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{`a "b c" -d tool:x`, `-"`, `""`, `file:"`, "\x00\xff", "cost:>1..2", `-cost:"1" :: :"`, "é:\"x", strings.Repeat("-", 3000)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q := search.Parse(text, now)
		if n := len(q.Words) + len(q.Options) + len(q.Without) + len(q.Shown); n > 32 || len(q.Filters) > len(q.Shown) {
			t.Errorf("%d terms", n)
		}
		for _, word := range slices.Concat(q.Words, q.Options, q.Without) {
			if word == "" || !utf8.ValidString(word) || strings.ContainsRune(word, 0) && word[0] == 0 {
				t.Errorf("the word %q", word)
			}
		}
		for _, shown := range q.Shown {
			if !strings.Contains(strings.ToValidUTF8(text, " "), shown.Raw) {
				t.Errorf("%q was not typed", shown.Raw)
			}
		}
	})
}
