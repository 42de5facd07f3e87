package tool

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

// ending is a context that ends after a number of checks.
type ending struct {
	context.Context
	looks int
}

func (e *ending) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}

// repetitive returns a text of equal lines in which every nth line differs.
func repetitive(size, nth int, line, other string) string {
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		if i%nth == 0 {
			b.WriteString(other + "\n")
		} else {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// LOOP-25: whatever the text and the file, a search by lines, words and letters
// ends within its budget, and at once when it is stopped.
func TestFuzzyEditIsBounded(t *testing.T) {
	t.Parallel()
	const allowed = 8 << 20
	for name, tt := range map[string]struct {
		file, old string
		steps     int // that the search spends at least
	}{
		"repetitive lines":  {repetitive(8<<10, 1<<20, "a", ""), repetitive(2500, 23, "a", "b"), allowed},
		"10 KB":             {repetitive(100<<10, 50, "\tx := compute(1)", "}"), repetitive(10<<10, 23, "\ty = compute(2)", "{"), checkEvery},
		"200 KB":            {repetitive(400<<10, 50, "x = 1", "y"), repetitive(200<<10, 23, "x = 1", "z"), checkEvery},
		"200 KB of letters": {strings.Repeat("ab", 200<<10), strings.Repeat("ba", 100<<10), checkEvery},
		"words in one line": {strings.Repeat("a ", 1<<20), strings.Repeat("a  ", 30<<10), allowed},
		"an empty file":     {"", repetitive(200<<10, 23, "x = 1", "z"), checkEvery},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			most := len(tt.file) + len(tt.old) // spent in one step
			e := newBudget(t.Context())
			e.left = allowed
			_, err := replaceLike(e, []byte(tt.file), tt.old, "new", false)
			if took := allowed - e.left; took > allowed+most || took < tt.steps || !errors.Is(err, errNotFound) && !errors.Is(err, errTooLong) {
				t.Errorf("%d steps, %v", took, err)
			}
			e = newBudget(&ending{t.Context(), 1})
			_, err = replaceLike(e, []byte(tt.file), tt.old, "new", false)
			if took := maxSteps - e.left; took > checkEvery+most || !errors.Is(err, context.Canceled) {
				t.Errorf("%d steps after the stop, %v", took, err)
			}
		})
	}
}

// An edit and its preview are both refused if the search was given up, and both
// end with their context.
func TestFuzzyEditGivesUp(t *testing.T) {
	t.Parallel()
	file := repetitive(8<<10, 1<<20, "a", "")
	b := newBench(t, map[string]string{"f": file})
	b.succeed("Read", args{"file_path": "f"})
	in := args{"file_path": "f", "old_string": repetitive(2500, 23, "a", "b"), "new_string": "z", "fuzzy": true}
	b.refuse("Edit", in, "was given up because old_string is too long")
	_, err := b.tools["Edit"].(*edit).Preview(t.Context(), in.json(t))
	if !errors.Is(err, errTooLong) || b.content("f") != file {
		t.Errorf("preview: %v", err)
	}
}

// reference computes the weighted edit distance completely.
func reference(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j, s := range b {
		row[j+1] = row[j] + weight(s)
	}
	for _, r := range a {
		diagonal := row[0]
		row[0] += weight(r)
		for j, s := range b {
			change := diagonal
			if r != s {
				change += max(weight(r), weight(s))
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+weight(r), row[j]+weight(s))
		}
	}
	return row[len(b)]
}

// A distance up to the limit is exact, and no lower bound exceeds it.
func FuzzDistance(f *testing.F) {
	f.Add("the quick brown fox", "the quick brown fax", 10)
	f.Add("a b\nc", "ab\n c", 2)
	f.Add("", "abc", 100)
	f.Add("aaaaaaaaab", "baaaaaaaaa", 15)
	f.Add("kitten sitting", "sitting kitten", 200)
	f.Fuzz(func(t *testing.T, a, b string, limit int) {
		if len(a) > 200 || len(b) > 200 || limit < 0 || limit > math.MaxInt/4 {
			return
		}
		have, text := []rune(a), []rune(b)
		want := reference(have, text)
		got := newEditDistance(newBudget(t.Context()), text).to(have, limit)
		if want <= limit && got != want || want > limit && got <= limit {
			t.Errorf("%q, %q within %d: %d, want %d", a, b, limit, got, want)
		}
		counts := bagDistance{missing: map[rune]int{}}
		counts.add(text, -1)
		counts.add(have, 1)
		if counts.lowerBound() > want {
			t.Errorf("%q, %q differ by %d, not by %d at least", a, b, want, counts.lowerBound())
		}
	})
}
