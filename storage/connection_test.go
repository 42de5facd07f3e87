package storage

import (
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// K-36: commits are synced, readers cannot write, and a session's rows are
// deleted with it. No kill proves the first; only a power cut would.
func TestConnections(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for pragma, want := range map[string][2]string{ // of the writer and of a reader
		"journal_mode": {"wal", "wal"},
		"synchronous":  {"2", "2"}, // FULL
		"foreign_keys": {"1", "1"},
		"query_only":   {"0", "1"},
		"busy_timeout": {"5000", "5000"},
	} {
		var got [2]string
		if err := s.write.QueryRow("PRAGMA " + pragma).Scan(&got[0]); err != nil {
			t.Fatal(err)
		}
		if err := s.read.QueryRow("PRAGMA " + pragma).Scan(&got[1]); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: %v, want %v", pragma, got, want)
		}
	}
}

// A row that cannot be read leaves no connection open, with which the database could not
// be tidied any more.
func TestUnreadableRowFreesItsConnection(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CreateSession(t.Context(), backend.SessionInfo{ID: "a", State: agent.StateIdle}); err != nil {
		t.Fatal(err)
	}
	if err := s.AddQueued(t.Context(), "a", agent.Queued{ID: "q", Verb: agent.Steer, Text: "x"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.write.Exec("UPDATE queue SET id = NULL"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Queue(t.Context(), "a"); err == nil {
		t.Errorf("read %+v", got)
	}
	if n := s.read.Stats().InUse; n != 0 {
		t.Errorf("%d connections are in use", n)
	}
}
