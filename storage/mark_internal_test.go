package storage

import (
	"testing"

	"github.com/mattn/go-sqlite3"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// A mark names only what is in the log: a commit that fails leaves it as it was, so
// that nothing is missed after a kill.
func TestFailedCommitIsNotMarked(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	info := backend.SessionInfo{ID: "a", Folder: "/p", State: agent.StateIdle, Settings: agent.Settings{Mode: agent.ModeDefault}}
	if err := s.CreateSession(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	fails := 0
	hook := func() int { return fails } // anything but 0 makes a commit fail
	conn, err := s.write.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Raw(func(c any) error {
		c.(*sqlite3.SQLiteConn).RegisterCommitHook(hook)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil { // the store has this connection alone
		t.Fatal(err)
	}
	add := func(want string, ok bool) {
		t.Helper()
		_, err := s.Append(t.Context(), agent.Event{Session: "a", Data: agent.Warning{Code: "w"}})
		if got := noted(s.mark.lock.Path()); got != want || (err == nil) != ok {
			t.Errorf("the mark is %q, want %q; %v", got, want, err)
		}
	}
	add("a 1", true)
	fails = 1
	add("a 1", false)
	fails = 0
	add("a 2", true)
}
