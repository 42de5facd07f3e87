package lsp

import (
	"context"
	"testing"

	"atelier.dev/atelier/agent/sandbox/confine"
)

// A host whose Confine panics loses that call, and neither the next one nor Close waits for it.
func TestConfineThatPanics(t *testing.T) {
	t.Parallel()
	sh := Language{Name: "Shell", Servers: []Command{{Program: "sh"}}}
	s := New(Config{
		Languages: func(context.Context) []Language { return []Language{sh} },
		Confine:   func(context.Context, string) (*confine.Profile, error) { panic("it is not there yet") },
	})
	root := t.TempDir()
	for range 2 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("Confine was not asked")
				}
			}()
			_, _, _ = s.acquire(t.Context(), sh, root)
		}()
	}
	s.Close()
}
