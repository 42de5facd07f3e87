package tool

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestLastLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"a\nb\nc\n", 0, "a\nb\nc\n"}, {"a\nb\nc\n", 3, "a\nb\nc\n"}, {"a\nb\nc\n", 2, "[1 line before this.]\nb\nc\n"},
		{"a\nb\nc", 1, "[2 lines before this.]\nc"}, {"", 1, ""}, {"\n\n", 1, "[1 line before this.]\n\n"}, {"a", -1, "a"},
	} {
		if got := lastLines(tt.text, tt.n); got != tt.want {
			t.Errorf("%d of %q: %q, want %q", tt.n, tt.text, got, tt.want)
		}
	}
}

func TestDefaultLimits(t *testing.T) { // LOOP-39, LOOP-40, LOOP-130, K-02
	t.Parallel()
	for tool, want := range map[string]Limit{
		"Read": {Chars: 50_000}, "Bash": {Chars: 30_000, Lines: 256}, "Grep": {Chars: 20_000, Tail: true, Lines: 200},
		"Glob": {Chars: 20_000, Tail: true, Lines: 500}, "Edit": {Chars: 10_000, Tail: true},
		"ApplyPatch": {Chars: 10_000, Tail: true}, "Write": {Chars: 1_000, Tail: true},
		"Agent": {Chars: 20_000}, "mcp__any__tool": {Chars: 30_000},
	} {
		if got := LimitOf(tool); got != want {
			t.Errorf("%s: %+v, want %+v", tool, got, want)
		}
	}
}

const (
	middle = "[WARNING: Tool output was truncated. %d characters were removed from the middle. The full output is available in the event stream. " +
		"If you need to see specific parts, re-run the tool with more targeted parameters.]"
	start = "[WARNING: Tool output was truncated. The first %d characters were removed. The full output is available in the event stream.]"
)

func TestLimitApply(t *testing.T) { // LOOP-38, LOOP-40, LOOP-126, LOOP-127, LOOP-128
	t.Parallel()
	tests := []struct {
		name  string
		limit Limit
		text  string
		want  string
	}{
		{"empty", Limit{Chars: 4, Lines: 2}, "", ""},
		{"fits", Limit{Chars: 4, Lines: 2}, "a\nb", "a\nb"},
		{"no limit", Limit{}, "a\nb\nc", "a\nb\nc"},
		{"both ends", Limit{Chars: 4}, "abcdefgh", "ab\n" + fmt.Sprintf(middle, 4) + "\ngh"},
		{"odd", Limit{Chars: 5}, "abcdefgh", "ab\n" + fmt.Sprintf(middle, 3) + "\nfgh"},
		{"the end", Limit{Chars: 4, Tail: true}, "abcdefgh", fmt.Sprintf(start, 4) + "\nefgh"},
		{"characters, not bytes", Limit{Chars: 4}, "äöüß", "äöüß"},
		{"runes stay whole", Limit{Chars: 2}, "日本語文字", "日\n" + fmt.Sprintf(middle, 3) + "\n字"},
		{"lines", Limit{Lines: 3}, "1\n2\n3\n4\n5", "1\n[... 2 lines omitted ...]\n4\n5"},
		{"the mark survives the line pass", Limit{Chars: 8, Lines: 2}, "1\n2\n3\n4\n5\n6\n7\n8", "1\n[... 4 lines omitted ...]\n" + fmt.Sprintf(middle, 7) + "\n8"},
		{"the mark at the start survives", Limit{Chars: 7, Tail: true, Lines: 2}, "1\n2\n3\n4\n5\n6", fmt.Sprintf(start, 4) + "\n3\n[... 2 lines omitted ...]\n6"},
		{"lines, the last one ended", Limit{Lines: 3}, "1\n2\n3\n4\n5\n", "1\n[... 2 lines omitted ...]\n4\n5\n"},
		{"the mark among kept lines", Limit{Chars: 8, Lines: 2}, "1234\n6\n8\n0\n2\n", "1234\n" + fmt.Sprintf(middle, 5) + "\n[... 1 lines omitted ...]\n2\n"},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.limit.Apply(tt.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestTruncateOfTwoHugeLines(t *testing.T) { // LOOP-126
	t.Parallel()
	line := strings.Repeat("x", 10<<20)
	got := TruncateLines("Bash", line+"\n"+line, 0)
	if n := utf8.RuneCountInString(got); n < 30_000 || n > 30_300 {
		t.Errorf("%d characters", n)
	}
	if !strings.Contains(got, "20941521 characters were removed") {
		t.Error("the mark is missing or wrong")
	}
}

// The limit of lines is exact, whether or not the last line ends with a
// newline.
func TestTruncateAtTheLimitOfLines(t *testing.T) { // LOOP-127
	t.Parallel()
	for _, ending := range []string{"", "\n"} {
		for n, omitted := range map[int]int{255: 0, 256: 0, 257: 1} {
			text := strings.TrimSuffix(strings.Repeat("x\n", n), "\n") + ending
			got := TruncateLines("Bash", text, 0)
			switch mark := fmt.Sprintf("[... %d lines omitted ...]", omitted); {
			case omitted == 0 && got != text:
				t.Errorf("%d lines, ended by %q, are cut", n, ending)
			case omitted > 0 && (!strings.Contains(got, mark) || strings.Count(got, "x") != n-omitted || !strings.HasSuffix(got, "x"+ending)):
				t.Errorf("%d lines, ended by %q: %d kept, end %q", n, ending, strings.Count(got, "x"), got[len(got)-5:])
			}
		}
	}
}

func TestTruncateOfManyLines(t *testing.T) { // LOOP-127
	t.Parallel()
	for tool, want := range map[string]int{"Bash": 256, "Grep": 200, "Glob": 500} {
		got := TruncateLines(tool, strings.Repeat("x\n", 1000)+"x", 0)
		if n := strings.Count(got, "x"); n != want || !strings.Contains(got, fmt.Sprintf("[... %d lines omitted ...]", 1001-want)) {
			t.Errorf("%s: %d lines kept, want %d", tool, n, want)
		}
	}
	if text := strings.Repeat("x\n", 1000); TruncateLines("Read", text, 0) != text {
		t.Error("Read has no line limit")
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("a\nb\nc\nd", 4, true, 2)
	f.Add("日本語\n\n\n", 2, false, 1)
	f.Fuzz(func(t *testing.T, text string, chars int, tail bool, lines int) {
		text = strings.ToValidUTF8(text, "?")
		l := Limit{Chars: max(chars, 0) % 1000, Tail: tail, Lines: max(lines, 0) % 100}
		got := l.Apply(text)
		if !utf8.ValidString(got) {
			t.Fatalf("not valid: %q", got)
		}
		n := utf8.RuneCountInString(text)
		cut := l.Chars > 0 && n > l.Chars
		if cut != strings.Contains(got, "[WARNING: Tool output was truncated.") && !strings.Contains(text, "[WARNING") {
			t.Fatalf("cut %t, but %q", cut, got)
		}
		const marks = 400
		if l.Chars > 0 && utf8.RuneCountInString(got) > l.Chars+marks {
			t.Fatalf("%d characters of at most %d", utf8.RuneCountInString(got), l.Chars)
		}
		linesOf := func(s string) int { return strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1 }
		if l.Lines > 0 && linesOf(got) > l.Lines+2 {
			t.Fatalf("%d lines of at most %d", linesOf(got), l.Lines)
		}
		if !cut && (l.Lines == 0 || linesOf(text) <= l.Lines) && got != text {
			t.Fatalf("%q became %q", text, got)
		}
		if last := text[strings.LastIndex(text, "\n")+1:]; !cut && !strings.HasSuffix(got, last) {
			t.Fatalf("the end %q is lost in %q", last, got)
		}
	})
}

func TestTruncateWith(t *testing.T) { // LOOP-131
	t.Parallel()
	long := strings.Repeat("word\n", 100)
	reduce := TruncateWith(map[string]Limit{"Read": {Chars: 50}, "Bash": {Lines: 4}, "Glob": {}})
	if got := reduce("Read", long, 0); !strings.Contains(got, "450 characters were removed") {
		t.Errorf("Read: %q", got)
	}
	if got := reduce("Bash", long, 0); !strings.Contains(got, "96 lines omitted") {
		t.Errorf("Bash: %q", got)
	}
	if got := reduce("Glob", strings.Repeat("x", 30_000), 0); len(got) != 30_000 {
		t.Errorf("a limit of nothing cut Glob to %d bytes", len(got))
	}
	if got := reduce("Write", strings.Repeat("x", 2000), 0); len(got) > 1200 {
		t.Errorf("Write, whose limit is the default: %d bytes", len(got))
	}
}

// K-41: lines are capped under the specification's names only. A call can ask
// for more characters than usual, up to 20,000 tokens, but not for fewer.
func TestTruncateAsWanted(t *testing.T) {
	t.Parallel()
	lines, long := strings.Repeat("x\n", 1000), strings.Repeat("x", 100_000)
	if got := Truncate("Bash", lines, 0); got != lines {
		t.Errorf("lines were cut: %d characters are left", len(got))
	}
	for wanted, want := range map[int]int{0: 30_000, 400: 30_000, 50_000: 50_000, 80_000: 80_000, 1 << 30: 80_000} {
		if got := strings.Count(Truncate("Bash", long, wanted), "x"); got != want {
			t.Errorf("%d characters for %d", got, wanted)
		}
		if got := strings.Count(TruncateLines("Bash", lines+long, wanted), "\n"); got > 260 {
			t.Errorf("%d lines for %d", got, wanted)
		}
	}
}
