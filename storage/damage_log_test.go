package storage_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"atelier.dev/atelier/backend"
)

// The damage of a session is logged once, however often it is read. Not
// parallel, because the program has one log.
func TestDamageIsLoggedOnce(t *testing.T) {
	s, _ := damaged(t, `UPDATE events SET body = x'00' WHERE seq IN (3, 5)`)
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	for range 3 {
		if _, err := s.Events(t.Context(), backend.EventRange{Session: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "an event is damaged"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
}
