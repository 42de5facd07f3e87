package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// K-36: wherever in a transaction the disk is full, nothing of it is kept, nothing
// before it is lost, and the session goes on once there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s, err := Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	info := backend.SessionInfo{ID: "a", Folder: "/p", State: agent.StateIdle, Settings: agent.Settings{Mode: agent.ModeDefault}}
	if err := s.CreateSession(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	limit := func(pages int64) {
		t.Helper()
		if _, err := s.write.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	stored, full := int64(0), 0
	for n := range int64(30) {
		var pages int64
		if err := s.write.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
			t.Fatal(err)
		}
		limit(pages + n)
		for i := range 4 { // of several pages, an index among them
			seq, err := s.Append(t.Context(),
				agent.Event{Session: "a", At: n, Data: agent.UserInput{Text: strings.Repeat("x", 3000*(i+1))}},
				agent.Event{Session: "a", At: n, Data: agent.ToolCallEnd{CallID: fmt.Sprint(n, i), Output: strings.Repeat("y", 9000)}})
			var e *backend.Error
			switch {
			case err == nil && seq == stored+2:
				stored = seq
			case errors.As(err, &e) && e.ID == backend.ProblemStoreFull:
				full++
			default:
				t.Fatalf("stored at %d after %d: %v", seq, stored, err)
			}
		}
		limit(1 << 20)
		events, err := s.Events(t.Context(), backend.EventRange{Session: "a"})
		if err != nil || int64(len(events)) != stored {
			t.Fatalf("%d events, %d were stored: %v", len(events), stored, err)
		}
		if info, err := s.Session(t.Context(), "a"); err != nil || info.Seq != stored || info.Damaged {
			t.Fatalf("row at %d, damaged %t, %v", info.Seq, info.Damaged, err)
		}
	}
	if full < 30 || stored < 30 {
		t.Errorf("%d were refused, %d events stored", full, stored)
	}
	if err := s.verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// A disk without room for the file of a large event is full, too.
func TestFullDiskForAFile(t *testing.T) {
	t.Parallel()
	s := &Store{home: t.TempDir()}
	err := s.failed("save", fmt.Errorf("write blob: %w", &fs.PathError{Op: "write", Path: "1.json", Err: syscall.ENOSPC}))
	var e *backend.Error
	if !errors.As(err, &e) || e.ID != backend.ProblemStoreFull {
		t.Error(err)
	}
}
