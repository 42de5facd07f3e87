package cli

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestPatiently proves that what takes long says how far it is, and that what is quick
// says nothing.
func TestPatiently(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, tt := range map[string]struct {
		takes time.Duration
		say   string
		want  string
	}{
		"quick":        {0, "working", ""},
		"just quick":   {quietFor - 1, "working", ""},
		"a while":      {quietFor + 1, "working", "working\n"},
		"long":         {quietFor + sayEvery + 1, "working", "working\nworking\n"},
		"longer":       {quietFor + 3*sayEvery + 1, "working", "working\nworking\nworking\nworking\n"},
		"nothing said": {time.Minute, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var errs bytes.Buffer
				c := &command{err: &errs}
				err := c.patiently(func() string { return tt.say }, func() error {
					time.Sleep(tt.takes) // in the bubble's time
					return failed
				})
				if !errors.Is(err, failed) || errs.String() != tt.want {
					t.Errorf("%v: %q, want %q", err, errs.String(), tt.want)
				}
			})
		})
	}
}
