package mcp

import (
	"strings"
	"testing"
	"time"
)

// Each happening has a level and words, and its arguments stand in them.
func TestHappenings(t *testing.T) {
	t.Parallel()
	for what, words := range happenings {
		j := journal{now: time.Now}
		j.happened(what, "{1}", "two")
		got := j.newest()[0]
		if got.Happening != what || got.Level == "" || len(got.Args) != 2 {
			t.Errorf("%s: %+v", what, got)
		}
		want := strings.Replace(strings.Replace(words.text, "{1}", "two", 1), "{0}", "{1}", 1)
		if got.Text != want {
			t.Errorf("%s: %q, want %q", what, got.Text, want)
		}
	}
}
