package tool

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReplace(t *testing.T) { // LOOP-25
	t.Parallel()
	tests := []struct {
		name, content, old, new string
		all                     bool
		want                    string
		count                   int
		fold                    fold
	}{
		{"one", "a b c", "b", "x", false, "a x c", 1, exact},
		{"all", "a b a", "a", "x", true, "x b x", 2, exact},
		{"without overlaps", "aaaa", "aa", "b", true, "bb", 2, exact},
		{"deletion", "a b c", " b", "", false, "a c", 1, exact},
		{"exact wins", "a’b a'b", "a'b", "x", false, "a’b x", 1, exact},
		{"new lines as in the file", "a\r\nb\r\n", "a", "x\ny", false, "x\r\ny\r\nb\r\n", 1, exact},
		{"new lines as in most of the file", "a\r\nb\nc\n", "a", "x\ny", false, "x\ny\r\nb\nc\n", 1, exact},
		{"endings", "a\r\nb\r\nc\r\n", "a\nb\n", "x\n", false, "x\r\nc\r\n", 1, foldEndings},
		{"endings, other way", "a\nb\n", "a\r\nb", "x", false, "x\n", 1, foldEndings},
		{"spaces at line ends", "a  \n\tb\t\nc\n", "a\n\tb\nc", "x", false, "x\n", 1, foldSpaces},
		{"spaces in the old text", "a\nb\n", "a  \nb", "x", false, "x\n", 1, foldSpaces},
		{"spaces and endings", "a \r\nb\r\n", "a\nb", "x", false, "x\r\n", 1, foldSpaces},
		{"spaces before the end of the file", "a\nb  ", "a\nb", "x", false, "x  ", 1, exact},
		{"quotes", "say “hi” – it’s\u00a0ok", `say "hi" - it's ok`, "x", false, "x", 1, foldPunctuation},
		{"quotes in the old text", `say "hi"`, "say “hi”", "x", false, "x", 1, foldPunctuation},
		{"all folded", "‘a’ ‘a’", "'a'", "x", true, "x x", 2, foldPunctuation},
		{"around invalid bytes", "\xffa\xfe", "a", "b", false, "\xffb\xfe", 1, exact},
		{"around invalid bytes, folded", "\xff“a”\xfe", `"a"`, "b", false, "\xffb\xfe", 1, foldPunctuation},
	}
	for _, tt := range tests {
		got, err := replace(t.Context(), []byte(tt.content), tt.old, tt.new, tt.all)
		want := replacement{content: []byte(tt.want), count: tt.count, fold: tt.fold}
		got.spans = nil // TestLinesOfADiffCountAsRead covers them
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(replacement{})); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
}

func TestReplaceRefuses(t *testing.T) { // LOOP-25, OAS-303
	t.Parallel()
	tests := []struct {
		name, content, old, new string
		all                     bool
		want                    string
	}{
		{"empty", "a", "", "x", false, "old_string is empty"},
		{"equal", "a", "a", "a", false, "are equal"},
		{"not found", "a", "b", "x", false, "was not found"},
		{"indentation is never ignored", "\tif a {\n", "    if a {\n", "x", false, "was not found"},
		{"two", "a b a", "a", "x", false, "occurs 2 times"},
		{"two, folded", "‘a’ ‘a’", "'a'", "x", false, "occurs 2 times"},
		{"a word is no prefix", "x = 10\n", "x = 1 ", "x", false, "was not found"},
		{"blank text", "a \n\nb \n", " \n \n ", "x", true, "was not found"},
		{"nothing would change", "it’s\n", "it's", "it’s", false, "already reads"},
	}
	for _, tt := range tests {
		if got, err := replace(t.Context(), []byte(tt.content), tt.old, tt.new, tt.all); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %q, %v; want %q", tt.name, got.content, err, tt.want)
		}
	}
}

func TestReplaceIsLinear(t *testing.T) {
	t.Parallel()
	content := []byte(strings.Repeat(" ", 1<<18) + "x")
	if _, err := replace(t.Context(), content, "absent", "y", false); err == nil {
		t.Error("found absent text")
	}
}

func FuzzReplace(f *testing.F) {
	f.Add([]byte("a\r\nb  \n“c”"), "b\n\"c\"", "x", false)
	f.Add([]byte("aaa"), "a", "", true)
	f.Add([]byte("\xff \t\r\n"), " \n", "\n", true)
	f.Fuzz(func(t *testing.T, content []byte, old, new string, all bool) {
		before := bytes.Clone(content)
		got, err := replace(t.Context(), content, old, new, all)
		if !bytes.Equal(content, before) {
			t.Fatal("the original was changed")
		}
		exactly := 0
		if old != "" {
			exactly = bytes.Count(content, []byte(old))
		}
		if err != nil {
			if exactly == 1 && old != new && !strings.Contains(err.Error(), "already reads") {
				t.Fatalf("the only occurrence was not replaced: %v", err)
			}
			return
		}
		if got.count != 1 && !all {
			t.Fatalf("%d occurrences replaced", got.count)
		}
		if exactly > 0 && got.fold == exact {
			want := bytes.ReplaceAll(content, []byte(old), []byte(withEndingsOf(content, new)))
			if !bytes.Equal(got.content, want) {
				t.Fatalf("got %q, want %q", got.content, want)
			}
		}
		// Text outside the spans stays: the result differs from the content
		// only within the spans, which lie in order inside the content.
		at, size := 0, len(content)
		spans, err := occurrences(t.Context(), content, old, got.fold)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range spans {
			if s.start < at || s.end <= s.start || s.end > len(content) {
				t.Fatalf("span %+v after %d", s, at)
			}
			size += len(withEndingsOf(content, new)) - (s.end - s.start)
			at = s.end
		}
		if len(got.content) != size {
			t.Fatalf("%d bytes, want %d", len(got.content), size)
		}
	})
}
