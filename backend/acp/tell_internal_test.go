package acp

import (
	"testing"

	"atelier.dev/atelier/agent/ask"
	"github.com/google/go-cmp/cmp"
)

// A difference becomes the texts of its parts before and after it.
func TestHunks(t *testing.T) {
	t.Parallel()
	for diff, want := range map[string][]hunk{
		"":                      nil,
		"@@ -0,0 +1 @@\n+new\n": {{now: "new\n"}},
		"@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -9 +9 @@\n-d\n": {{old: "a\nb\n", now: "a\nc\n"}, {old: "d\n"}},
		"@@ -1 +1 @@\n-a\n\\ No newline\n+b":             {{old: "a\n", now: "b"}},
		"\n":                                             nil,
	} {
		if d := cmp.Diff(want, hunks(diff), cmp.AllowUnexported(hunk{})); d != "" {
			t.Errorf("%q: %s", diff, d)
		}
	}
}

// Texts are counted as events count them, and cut between characters.
func TestFrom(t *testing.T) {
	t.Parallel()
	for skip, want := range []string{"a𝄞é", "𝄞é", "é", "é", "", ""} {
		if got := from("a𝄞é", skip); got != want {
			t.Errorf("from %d: %q, want %q", skip, got, want)
		}
	}
	if n := units("a𝄞é"); n != 4 {
		t.Errorf("%d units", n)
	}
}

// A form's answers are options where they name one, and the user's own words elsewhere. What
// is of another type is no answer.
func TestRead(t *testing.T) {
	t.Parallel()
	options := []ask.Option{{Label: "Red"}, {Label: "Blue"}}
	questions := []ask.Question{{Options: options}, {Options: options, MultiSelect: true}, {Open: true}, {Options: options}}
	got := read(questions, map[string]any{"q1": "Red", "q2": []any{"Red", "Blue", 7}, "q3": "my own", "q4": map[string]any{}})
	want := ask.Reply{Answers: []ask.Answer{{Chosen: []string{"Red"}}, {Chosen: []string{"Red", "Blue"}}, {Text: "my own"}, {}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// An output stays inside its fence.
func TestFenced(t *testing.T) {
	t.Parallel()
	if got, want := fenced("a\n```\nb\n"), "````\na\n```\nb\n````"; got != want {
		t.Errorf("%q", got)
	}
}
