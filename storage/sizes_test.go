package storage_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

// The size of a log covers large events, which are files (OAS-604).
func TestLogSizes(t *testing.T) {
	t.Parallel()
	s, err := storage.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	last := map[string]int64{}
	for _, id := range []string{"a", "b"} {
		if err := s.CreateSession(t.Context(), backend.SessionInfo{ID: id, Folder: "/p", State: agent.StateIdle}); err != nil {
			t.Fatal(err)
		}
	}
	for _, size := range []int64{100, 1000, 400 << 10} {
		if _, err := s.Append(t.Context(), agent.Event{Session: "a", Data: agent.UserInput{Text: strings.Repeat("x", int(size))}}); err != nil {
			t.Fatal(err)
		}
		sizes, err := s.LogSizes(t.Context(), "a", "b", "unknown")
		if err != nil || sizes["a"]-last["a"] < size || sizes["a"]-last["a"] > size+100 || sizes["b"] != 0 || sizes["unknown"] != 0 {
			t.Errorf("after %d bytes: %v, before %v (%v)", size, sizes, last, err)
		}
		last = sizes
	}
}
