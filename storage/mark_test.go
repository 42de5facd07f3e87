package storage_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

// A write-ahead log that is gone after a kill is noticed, though SQLite takes what
// is left for the whole, until the user has seen it.
func TestLostWriteAheadLog(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	add(t, s, "a", agent.Warning{Code: "w"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	last := killed(t, writerHome, home, 5)
	if err := os.Remove(filepath.Join(home, storage.File+"-wal")); err != nil {
		t.Fatal(err)
	}
	want := []backend.LostEvents{{Session: "a", From: 2, To: last}}
	for range 2 { // it stays known
		s := open(t, home)
		if got := s.Health(); got.Sound() || len(got.Lost) != 1 || got.Lost[0].From != 2 || got.Lost[0].To < last {
			t.Errorf("health: %+v, want %+v", got, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, home)
	if err := s.Accept(); err != nil || !s.Health().Sound() {
		t.Errorf("accepted: %+v, %v", s.Health(), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := open(t, home).Health(); !got.Sound() {
		t.Errorf("once accepted: %+v", got)
	}
}

// A session that is deleted is not missed when a process is killed that stored it.
func TestDeletedSessionIsNotMissed(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	add(t, s, "a", agent.Warning{Code: "w"})
	if err := open(t, home).DeleteSessions(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(home, "open", "*"))
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	if err := os.CopyFS(other, os.DirFS(home)); err != nil { // in which nobody holds the marks
		t.Fatal(err)
	}
	if got := open(t, other).Health(); !got.Sound() || len(left) < 3 {
		t.Errorf("%+v, marks %v", got, left)
	}
}

// The counts are true, whatever is damaged.
func TestHealth(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil string
		want  backend.StoreHealth
	}{
		"sound":         {"", backend.StoreHealth{Stored: 2, Shown: 2}},
		"a damaged row": {"UPDATE sessions SET usage = 'x' WHERE id = 'a'", backend.StoreHealth{Stored: 2, Shown: 2}},
		"a missing row": {"PRAGMA foreign_keys = off; DELETE FROM sessions WHERE id = 'a'", backend.StoreHealth{Stored: 2, Shown: 2}},
		"a damaged row without a log": {
			"UPDATE sessions SET usage = 'x' WHERE id = 'a'; DELETE FROM events WHERE session = 'a'", backend.StoreHealth{Stored: 2, Shown: 1},
		},
		"the end of a log": {
			"DELETE FROM events WHERE session = 'a' AND seq > 2", backend.StoreHealth{Stored: 2, Shown: 2, Lost: []backend.LostEvents{{Session: "a", From: 3, To: 4}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, path := filled(t)
			session(t, s, "b")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			execute(t, path, tt.spoil)
			got := open(t, filepath.Dir(path)).Health()
			tt.want.File = path
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A database that is too large to be checked when it is opened is counted, and
// checked while it is used.
func TestVerify(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	session(t, s, "b")
	text := strings.Repeat("x", 200<<10)
	add(t, s, "a", agent.SessionStart{Folder: "/p"})
	for range 30 {
		add(t, s, "a", agent.UserInput{Text: text})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, storage.File)
	s = open(t, home)
	if got := s.Health(); !got.Checking || got.Stored != 2 || got.Shown != 2 {
		t.Errorf("at start: %+v", got)
	}
	if err := s.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(backend.StoreHealth{File: path, Stored: 2, Shown: 2}, s.Health()); diff != "" {
		t.Error(diff)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "PRAGMA foreign_keys = off; UPDATE sessions SET folder = '/elsewhere' WHERE id = 'a'; DELETE FROM sessions WHERE id = 'b'")
	s = open(t, home)
	if err := s.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	if list, err := s.Sessions(t.Context(), "/p"); len(list) != 1 || err != nil {
		t.Errorf("list: %+v, %v", list, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	patch(t, path, info.Size()/2/4096*4096, "\x0a not a page of the tree")
	s = open(t, home)
	err = s.Verify(t.Context())
	var e *backend.Error
	if got := s.Health(); !errors.As(err, &e) || e.Code != backend.CodeStoreCorrupt || got.Damage == "" || got.Checking {
		t.Errorf("%+v, %v", got, err)
	}
}
