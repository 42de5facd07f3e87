package changes

import (
	"strings"
	"testing"

	udiff "github.com/aymanbagabas/go-udiff"
	"github.com/google/go-cmp/cmp"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a b": "a b", "ünï": "ünï", "a\"b": "a\"b", "a\nb": "a\nb", "\"": `"\""`, "\"a\"": `"\"a\""`, "\xff": `"\377"`, "é\xe9\\\x01": `"\303\251\351\\\001"`,
	} {
		if got := Quote(name); got != want || Unquote(got) != name {
			t.Errorf("%q: %s, %q", name, got, Unquote(got))
		}
	}
	for quoted, want := range map[string]string{
		`"a\tb"`: "a\tb", `"\351"`: "\xe9", `"\x"`: `"\x"`, `"\9"`: `"\9"`, `"\777"`: `"\777"`, `"\`: `"\`, `"`: `"`, "": "", `"a\"`: `"a\"`,
	} {
		if got := Unquote(quoted); got != want {
			t.Errorf("%s: %q", quoted, got)
		}
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("a\xffb", `"\351"`)
	f.Fuzz(func(t *testing.T, name, shown string) {
		if got := Unquote(Quote(name)); got != name {
			t.Errorf("%q became %q", name, got)
		}
		_ = Unquote(shown)
	})
}

func TestQuotedForWindows(t *testing.T) {
	t.Parallel()
	if line, err := quoted("windows", []string{"git", "a b", "x^&y"}); err != nil || line != `"git" "a b" "x^&y"` {
		t.Error(line, err)
	}
	for _, word := range []string{"%PATH%", `a"b`, "a\nb"} {
		if _, err := quoted("windows", []string{word}); err == nil {
			t.Errorf("%q was accepted", word)
		}
	}
}

// The output of git is never taken for more than it is.
func FuzzPorcelain(f *testing.F) {
	for _, line := range []string{
		":100644 100644 587be6b 0000000 M\t\"caf\\351\"", ":100644 100644 01e79c3 94ebaf9 R075\td/sp ace\td/a2", "1\t3\tb", "-\t-\tb",
		"1 .T N... 100644 100644 120000 01e7 01e7 b", "2 R. N... 100644 100644 100644 01e7 01e7 R100 to\tfrom", "? \"n\\nl\"", "# branch.head main",
		"u UU N... 100644 100644 100644 100644 d004 0075 0cfb f", "1 M", "u", ":", "\t\t", "1 MM S..U 1 2 3 4 5 ",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if raw, ok := parseRaw(line); ok && (raw.path == "" || raw.letter == 0) {
			t.Errorf("%q: %+v", line, raw)
		}
		if added, removed, binary, ok := parseCounts(line); ok && (added < 0 || removed < 0 || binary && added+removed > 0) {
			t.Errorf("%q: %d %d", line, added, removed)
		}
		if s, ok := parseStatus(line); ok && s.path == "" && s.kind != '#' {
			t.Errorf("%q: %+v", line, s)
		}
		var got []string
		feed := lineFeed{each: func(line string) { got = append(got, line) }}
		for i := range len(line) {
			feed.write(line[i : i+1])
		}
		want := strings.Split(line, "\n")
		want = want[:len(want)-1]
		if len(got) != len(want) || len(want) > 0 && !cmp.Equal(got, want) {
			t.Errorf("%q: %q", line, got)
		}
	})
}

// A diff that we made takes its own change out again, and no text makes the
// reader fail.
func FuzzHunks(f *testing.F) {
	f.Add("1\n2\n3\n", "1\n3\n4", "@@ -1,2 +1 @@\n-a\n b\n\\ No newline at end of file\n")
	f.Add("", "a", "@@ -1 +0,0 @@\n-a\n")
	f.Add("\n", "0", "")
	f.Add("a\r\nb\r\n", "a\r\n", "@@ -0,0 +1,2 @@\n+--- x\n+@@ -1 +1 @@\n")
	f.Fuzz(func(t *testing.T, before, after, text string) {
		if hunks, ok := parseHunks(text); ok {
			_, _ = reverse(before, hunks, false)
			_, _ = reverse(after, hunks, true)
		}
		_, _ = hunksOf(text)
		if len(before)+len(after) > 10_000 || strings.Contains(before+after, "\uFFFD") ||
			strings.ToValidUTF8(before+after, "\uFFFD") != before+after {
			return
		}
		diff := Unified(before, after, 3)
		if diff == "" {
			return
		}
		hunks, ok := parseHunks(diff)
		if !ok {
			t.Fatalf("not read:\n%s", diff)
		}
		if got, err := reverse(after, hunks, false); err != nil || got != before {
			t.Errorf("%q, %v from\n%s", got, err, diff)
		}
		if within, _ := hunksOf("--- a\n+++ b\n" + diff); within != diff {
			t.Errorf("%q from\n%s", within, diff)
		}
	})
}

// Lines that differ only in space are not shown, and the hunks stand in the
// file as it is.
func TestIgnoringSpace(t *testing.T) {
	t.Parallel()
	before := "a {\nb\nc\n}\nd\n"
	after := "if (x) {\n\ta {\n\t\tb2\n\t\tc\n\t}\n}\nd\n"
	diff := unifiedIgnoringSpace(before, after, 3)
	if want := "@@ -1,5 +1,7 @@\n+if (x) {\n \ta {\n-b\n+\t\tb2\n \t\tc\n+\t}\n }\n d\n"; diff != want {
		t.Errorf("got\n%s", diff)
	}
	hunks, ok := parseHunks(diff)
	if got, err := reverse(after, hunks, false); !ok || err != nil || got != "\ta {\nb\n\t\tc\n}\nd\n" {
		t.Errorf("%q, %v", got, err)
	}
	for _, same := range [][2]string{{"a b\n", "ab\n"}, {"", ""}, {"a", "a\n"}, {"\n", ""}} {
		_ = unifiedIgnoringSpace(same[0], same[1], 3)
		_ = unifiedIgnoringSpace(same[1], same[0], 3)
	}
	if diff := unifiedIgnoringSpace("a b\nc\n", "ab\nc\n", 3); diff != "" {
		t.Errorf("%q", diff)
	}
}

func FuzzIgnoringSpace(f *testing.F) {
	f.Add("a b\nc", "ab\n\nc\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		diff := unifiedIgnoringSpace(before, after, 3)
		if diff == "" || strings.ToValidUTF8(after, "") != after || strings.Contains(after+before, "\uFFFD") || strings.ToValidUTF8(before, "") != before {
			return
		}
		hunks, ok := parseHunks(diff)
		if !ok {
			t.Fatal(diff)
		}
		if _, err := reverse(after, hunks, false); err != nil {
			t.Errorf("%v:\n%s", err, diff)
		}
	})
}

// A hunk with bytes that are not UTF-8 goes back if it only adds lines; lines
// that it removed are not known exactly.
func TestReverseOfOtherEncodings(t *testing.T) {
	t.Parallel()
	before, after := "caf\xe9\nb\n", "caf\xe9\nadded \xff\nb\n"
	shown := strings.ToValidUTF8(udiff.Unified("", "", before, after), "\uFFFD")
	hunks, _ := parseHunks(shown)
	if got, err := reverse(after, hunks, false); err != nil || got != before {
		t.Errorf("%q, %v", got, err)
	}
	hunks, _ = parseHunks("@@ -1,2 +1 @@\n-caf\uFFFD\n b\n")
	if _, err := reverse("b\n", hunks, false); err == nil || err.(*Error).Kind != NotText { //nolint:errorlint // reverse returns no other
		t.Errorf("%v", err)
	}
}
