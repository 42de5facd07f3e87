package merge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	udiff "github.com/aymanbagabas/go-udiff"

	"atelier.dev/atelier/agent/internal/linediff"
)

func TestTexts(t *testing.T) {
	t.Parallel()
	const base = "a\nb\nc\nd\ne\n"
	for name, tt := range map[string]struct {
		base, ours, theirs, want string
		conflicts                int
	}{
		"apart":                        {base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n", 0},
		"neighbours":                   {base, "a\nB\nc\nd\ne\n", "a\nb\nC\nd\ne\n", "a\nB\nC\nd\ne\n", 0},
		"the same change":              {base, "a\nX\nc\nd\ne\n", "a\nX\nc\nd\nE\n", "a\nX\nc\nd\nE\n", 0},
		"the same line":                {base, "a\nX\nc\nd\ne\n", "a\nY\nc\nd\nE\n", "a\nX\nc\nd\nE\n", 1},
		"an insertion in a deletion":   {base, "a\nb\nnew\nc\nd\ne\n", "a\nd\ne\n", "a\nb\nnew\nc\nd\ne\n", 1},
		"an insertion after one":       {base, "a\nb\nc\nnew\nd\ne\n", "a\nd\ne\n", "a\nnew\nd\ne\n", 0},
		"an insertion before one":      {base, "a\nnew\nb\nc\nd\ne\n", "a\nd\ne\n", "a\nnew\nd\ne\n", 0},
		"two insertions at one place":  {base, "a\nx\nb\nc\nd\ne\n", "a\ny\nb\nc\nd\ne\n", "a\nx\nb\nc\nd\ne\n", 1},
		"two alike at one place":       {base, "a\nx\nb\nc\nd\ne\n", "a\nx\nb\nc\nd\ne\n", "a\nx\nb\nc\nd\ne\n", 0},
		"a chain of overlaps":          {base, "a\nX\nX\nd\ne\n", "Y\nY\nc\nZ\nZ\n", "a\nX\nX\nZ\nZ\n", 1},
		"a lost end, and a line after": {"a\n", "a", "a\nc\n", "a", 1},
		"a lost end, and one before":   {"a\nb\n", "a\nb", "A\nb\n", "A\nb", 0},
		"a gained end":                 {"a\nb", "a\nb\n", "A\nb", "A\nb\n", 0},
		"other line ends":              {"a\r\nb\r\nc\r\n", "a\r\nb\r\nC\r\n", "A\r\nb\r\nc\r\n", "A\r\nb\r\nC\r\n", 0},
		"line ends against a change":   {"a\r\nb\r\n", "a\nb\n", "A\r\nb\r\n", "a\nb\n", 1},
		"all deleted":                  {base, "", base, "", 0},
		"all deleted, and changed":     {base, "a\nb\nc\nd\nE\n", "", "a\nb\nc\nd\nE\n", 1},
	} {
		got := Texts(tt.base, tt.ours, tt.theirs)
		if got.Text != tt.want || len(got.Conflicts) != tt.conflicts {
			t.Errorf("%s: %q with %+v, want %q with %d conflicts", name, got.Text, got.Conflicts, tt.want, tt.conflicts)
		}
	}
}

func FuzzTexts(f *testing.F) {
	f.Add("a\nb\nc", "a\nB\nc\n", "a\nb\nd\nc")
	f.Add("", "x", "y\n")
	f.Fuzz(check)
}

func TestRandomTexts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	text := func() string {
		var b strings.Builder
		for range random.IntN(12) {
			fmt.Fprintf(&b, "%d\n", random.IntN(6))
		}
		return strings.TrimSuffix(b.String(), "\n"[:random.IntN(2)])
	}
	for range 5000 {
		check(t, text(), text(), text())
	}
}

// check checks what holds for any texts.
func check(t *testing.T, base, ours, theirs string) {
	t.Helper()
	for _, tt := range []struct{ base, ours, theirs, want string }{
		{base, base, theirs, theirs}, {base, ours, base, ours}, {base, ours, ours, ours},
	} {
		if got := Texts(tt.base, tt.ours, tt.theirs); got.Text != tt.want || got.Conflicts != nil {
			t.Fatalf("%q, %q and %q make %+v", tt.base, tt.ours, tt.theirs, got)
		}
	}
	one, other := Texts(base, ours, theirs), Texts(base, theirs, ours)
	if len(one.Conflicts) != len(other.Conflicts) {
		t.Fatalf("%q, %q and %q: %+v, the other way round %+v", base, ours, theirs, one, other)
	}
	if len(one.Conflicts) == 0 && one.Text != other.Text {
		t.Fatalf("%q, %q and %q make %q, the other way round %q", base, ours, theirs, one.Text, other.Text)
	}
	for i, c := range one.Conflicts {
		if d := other.Conflicts[i]; c.Ours != d.Theirs || c.Theirs != d.Ours || c.Base != d.Base {
			t.Fatalf("%q, %q and %q: conflict %+v, the other way round %+v", base, ours, theirs, c, d)
		}
	}
	// No line comes from nowhere, and none runs into another.
	known := map[string]bool{}
	for _, text := range []string{base, ours, theirs} {
		for line := range strings.Lines(text) {
			known[line] = true
		}
	}
	for line := range strings.Lines(one.Text) {
		if !known[line] {
			t.Fatalf("%q, %q and %q make a line %q", base, ours, theirs, line)
		}
	}
}

// The hunks are those of the diff that a person is shown, and any of them can be
// picked.
func TestPick(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		var before, after strings.Builder
		for i := range 60 {
			fmt.Fprintf(&before, "%d\n", i)
			if random.IntN(9) > 0 {
				fmt.Fprintf(&after, "%d\n", i)
			} else if random.IntN(2) > 0 {
				fmt.Fprintf(&after, "new %d\n", i)
			}
		}
		diff, err := udiff.ToUnified("", "", before.String(), linediff.Edits(before.String(), after.String()), 3)
		if err != nil {
			t.Fatal(err)
		}
		hunks := Hunks(before.String(), after.String(), 3)
		if shown := strings.Count(diff, "\n@@ "); shown != len(hunks) {
			t.Fatalf("%d hunks, and %d are shown:\n%s", len(hunks), shown, diff)
		}
		all := make([]int, len(hunks))
		for i, hunk := range hunks {
			all[i] = i
			got, ok := Pick(before.String(), after.String(), 3, []int{i})
			if edits := linediff.Edits(before.String(), got); !ok || !slices.Equal(edits, hunk) {
				t.Fatalf("hunk %d makes %v, want %v", i, edits, hunk)
			}
		}
		if got, ok := Pick(before.String(), after.String(), 3, all); !ok || got != after.String() {
			t.Fatalf("all hunks make %q", got)
		}
		if got, ok := Pick(before.String(), after.String(), 3, nil); !ok || got != before.String() {
			t.Fatalf("no hunks make %q", got)
		}
	}
	if _, ok := Pick("a\n", "b\n", 3, []int{1}); ok {
		t.Error("a hunk that does not exist was picked")
	}
}
