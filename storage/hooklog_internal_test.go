package storage

import (
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/backend"
)

// The log of hooks does not grow without end: of a session, of all sessions, and in
// bytes.
func TestHookLogIsBounded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		limits   hookLimits
		size     int
		inAll, b int // rows that are left, of all and of the second session
	}{
		"of a session": {hookLimits{kept: 5, inAll: 100, bytes: 1 << 20, every: 1}, 1, 10, 5},
		"of all":       {hookLimits{kept: 100, inAll: 7, bytes: 1 << 20, every: 1}, 1, 7, 7},
		"in bytes":     {hookLimits{kept: 100, inAll: 100, bytes: 4000, every: 1}, 995, 4, 4},
		"now and then": {hookLimits{kept: 100, inAll: 2, bytes: 1 << 20, every: 14}, 1, 3, 3},
		"enough room":  {usualHookLimits, 1, 16, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Open(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			s.hooks.limits = tt.limits
			for _, session := range []string{"a", "b"} {
				if err := s.CreateSession(t.Context(), backend.SessionInfo{ID: session, Folder: "/p"}); err != nil {
					t.Fatal(err)
				}
				for i := range 8 {
					r := backend.HookRecord{Session: session, Row: fmt.Appendf(nil, "%s%d", session, i), Body: []byte(strings.Repeat("x", tt.size))}
					if err := s.AddHookRecords(t.Context(), r); err != nil {
						t.Fatal(err)
					}
				}
			}
			for session, want := range map[string]int{"": tt.inAll, "b": tt.b} {
				rows, err := s.HookRecords(t.Context(), backend.HookRange{Folder: "/p", Session: session, Limit: 100})
				if err != nil || len(rows) != want || string(rows[0].Row) != "b7" {
					t.Errorf("session %q has %d rows, want %d: %v", session, len(rows), want, err)
				}
			}
		})
	}
}
