package linediff

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	udiff "github.com/aymanbagabas/go-udiff"
)

// Of 20,000 lines that change in turns, each change is found, and no other.
func TestManyChanges(t *testing.T) {
	t.Parallel()
	var before, after strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&before, "line %d\n", i)
		if i%2 == 0 {
			fmt.Fprintf(&after, "line %d\n", i)
		} else {
			fmt.Fprintf(&after, "changed %d\n", i)
		}
	}
	edits := Edits(before.String(), after.String())
	if n := size(before.String(), edits); n != 20_000 || len(edits) != 10_000 {
		t.Errorf("%d lines in %d edits", n, len(edits))
	}
	check(t, before.String(), after.String())
}

// For any texts, the edits turn one into the other, and are no more than those of
// the plain search.
func TestRandomTexts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	text := func(words int) string {
		var b strings.Builder
		for range random.IntN(250) {
			fmt.Fprintf(&b, "%d\n", random.IntN(words))
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	for range 300 {
		words := 1 + random.IntN(2000)
		check(t, text(words), text(words))
	}
	check(t, "", text(10))
	check(t, text(10), "")
	check(t, "", "")
}

func FuzzEdits(f *testing.F) {
	f.Add("a\nb\n", "b\na")
	f.Fuzz(check)
}

func check(t *testing.T, before, after string) {
	t.Helper()
	for name, edits := range map[string][]udiff.Edit{"edits": Edits(before, after), "in parts": inParts(before, after)} {
		got, err := udiff.Apply(before, edits)
		if err != nil || got != after {
			t.Fatalf("%s: %v: %q turns %q into %q, want %q", name, err, edits, before, got, after)
		}
		if name == "edits" && size(before, edits) > size(before, udiff.Lines(before, after)) {
			t.Errorf("more than the plain search finds, from %q to %q", before, after)
		}
	}
}
