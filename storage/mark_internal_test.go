package storage

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"sync"
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

// Programs that start and end at once do not take each other's marks for those of
// killed ones, and look at the same ones of killed ones without getting in each other's way.
func TestManyMarksAtOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := &Store{home: home}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				m, err := enter(home)
				if err != nil {
					t.Error(err)
					return
				}
				left := filepath.Join(home, marks, rand.Text()) // as by a program that was killed
				if err := os.WriteFile(left, nil, 0o600); err != nil {
					t.Error(err)
				}
				if err := s.reviewMarks(t.Context()); err != nil {
					t.Error(err)
				}
				m.leave()
			}
		})
	}
	all.Wait()
	left, err := os.ReadDir(filepath.Join(home, marks))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range left {
		if file.Name() != repairing {
			t.Errorf("%s is left", file.Name())
		}
	}
}
