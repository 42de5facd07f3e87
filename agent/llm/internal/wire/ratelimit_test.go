package wire

import (
	"testing"
	"time"
)

// LLM-32: a reset is given as a moment, a duration or a number of seconds.
func TestMoment(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	for s, want := range map[string]time.Duration{
		now.Add(time.Hour).UTC().Format(time.RFC3339): time.Hour,
		"6m0s":  6 * time.Minute,
		"250ms": 250 * time.Millisecond,
		"1.5":   1500 * time.Millisecond,
	} {
		if got := moment(s, now); got != now.Add(want).UnixMilli() {
			t.Errorf("moment(%q) = %d, want %v from now", s, got, want)
		}
	}
	for _, s := range []string{"", "soon", "-1", "1e12"} {
		if got := moment(s, now); got != 0 {
			t.Errorf("moment(%q) = %d, want unknown", s, got)
		}
	}
}
