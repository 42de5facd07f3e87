package storage_test

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
)

// source returns events, and then an error if there is one.
func source(err error, data ...agent.Payload) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for i, p := range data {
			if !yield(agent.Event{Turn: 1, At: int64(1000 + i), Data: p}, nil) {
				return
			}
		}
		if err != nil {
			yield(agent.Event{}, err)
		}
	}
}

// A session that was read from a file is listed like any other, and nothing of it
// is in the ledger, waits for an answer or counts as spent.
func TestCreateSessionFrom(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	imported := agent.Imported{Program: agent.ProgramCodex, Path: "/r.jsonl", ID: "r", Size: 7}
	data := []agent.Payload{
		agent.SessionStart{Folder: "/elsewhere"},
		agent.Title{Text: "A title"},
		agent.UserInput{Text: "Do it."},
		agent.TextEnd{Message: llm.Text(llm.RoleAssistant, strings.Repeat("x", 300<<10)), Usage: llm.Usage{Input: 5, Known: true}, Cost: new(llm.Dollar)},
		agent.ApprovalRequest{ID: "a", CallID: "c"},
		agent.ProcessingEnd{Reason: agent.EndDone},
		imported,
	}
	info := backend.SessionInfo{ID: "one", Folder: "/w", CreatedAt: 900, Usage: llm.Usage{Known: true}}
	got, err := s.CreateSessionFrom(t.Context(), info, source(nil, data...))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := s.Session(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, stored); diff != "" {
		t.Errorf("the stored row differs (-returned +stored):\n%s", diff)
	}
	if stored.UpdatedAt != 1006 || stored.Cost != (llm.Spending{}) || stored.Usage.Input != 0 || stored.Title != "A title" ||
		stored.Imported == nil || *stored.Imported != imported || stored.State != agent.StateIdle {
		t.Errorf("%+v", stored)
	}
	events, err := s.Events(t.Context(), backend.EventRange{Session: "one"})
	if err != nil || len(events) != len(data) {
		t.Fatalf("%d events, %v", len(events), err)
	}
	for i, ev := range events {
		if diff := cmp.Diff(agent.Event{Session: "one", Seq: int64(i + 1), Turn: 1, At: int64(1000 + i), Data: data[i]}, ev); diff != "" {
			t.Errorf("event %d: %s", i, diff)
		}
	}
	costs, err := s.Costs(t.Context(), "/w", "")
	if err != nil || costs.Total.Requests != 0 {
		t.Errorf("%+v, %v", costs.Total, err)
	}
	if waiting, err := s.Approvals(t.Context(), "/w"); err != nil || len(waiting) != 0 {
		t.Errorf("%d requests wait, %v", len(waiting), err)
	}
}

// A source that breaks off leaves nothing behind, also on disk, and an id that is in
// use keeps its session.
func TestCreateSessionFromABrokenSource(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	broken := errors.New("the file ends in the middle")
	large := agent.UserInput{Text: strings.Repeat("x", 300<<10)}
	info := backend.SessionInfo{ID: "one", Folder: "/w"}
	if _, err := s.CreateSessionFrom(t.Context(), info, source(broken, large)); !errors.Is(err, broken) || code(err) == backend.CodeStoreFailed {
		t.Errorf("%v", err)
	}
	if _, err := s.Session(t.Context(), "one"); code(err) != backend.CodeNotFound {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(home, "blobs", "one")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its large event is left: %v", err)
	}
	if _, err := s.CreateSessionFrom(t.Context(), info, source(nil, large)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateSessionFrom(t.Context(), info, source(nil, large)); err == nil {
		t.Error("an id was used twice")
	}
	if events, err := s.Events(t.Context(), backend.EventRange{Session: "one"}); err != nil || len(events) != 1 || !cmp.Equal(events[0].Data, agent.Payload(large)) {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// While a long log is stored, another process stores what happens in its sessions, and
// nobody sees the unfinished one.
func TestCreateSessionFromALongSource(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s, other := open(t, home), open(t, home)
	if err := other.CreateSession(t.Context(), backend.SessionInfo{ID: "other", Folder: "/w"}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the file ends in the middle")
	long := func(end error) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			for i := range 2500 {
				if !yield(agent.Event{At: int64(i), Data: agent.UserInput{Text: "x"}}, nil) {
					return
				}
			}
			if _, err := other.Append(t.Context(), agent.Event{Session: "other", Data: agent.UserInput{Text: "mine"}}); err != nil {
				t.Errorf("the other process waits: %v", err)
			}
			if half, err := other.Session(t.Context(), "long"); err != nil || half.Marks.Deleted == 0 || half.Seq != 2000 {
				t.Errorf("half of it: %+v, %v", half, err)
			}
			if end != nil {
				yield(agent.Event{}, end)
			}
		}
	}
	info := backend.SessionInfo{ID: "long", Folder: "/w"}
	if _, err := s.CreateSessionFrom(t.Context(), info, long(broken)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if events, err := s.Events(t.Context(), backend.EventRange{Session: "long"}); err == nil && len(events) > 0 {
		t.Errorf("%d events are left", len(events))
	}
	got, err := s.CreateSessionFrom(t.Context(), info, long(nil))
	if err != nil {
		t.Fatal(err)
	}
	got.Interrupted = true // nobody runs it
	if stored, err := other.Session(t.Context(), "long"); err != nil || stored.Seq != 2500 || stored.Marks.Deleted != 0 || !cmp.Equal(got, stored) {
		t.Errorf("%+v, %v", stored, err)
	}
}

// What is left of a session whose process was killed while it was stored is removed. A
// session that is being stored, one that a person deleted, and an unfinished one that a
// person brought back, stay.
func TestDropUnfinished(t *testing.T) {
	t.Parallel()
	home, crashed := t.TempDir(), t.TempDir()
	s, other := open(t, home), open(t, home)
	session(t, s, "whole")
	add(t, s, "whole", agent.UserInput{Text: "x"}, agent.SessionMarks{Deleted: 7})
	drop := func(s *storage.Store) {
		t.Helper()
		if err := s.DropUnfinished(t.Context()); err != nil {
			t.Error(err)
		}
	}
	ids := func(s *storage.Store) string {
		t.Helper()
		list, err := s.Sessions(t.Context(), "/p")
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, info := range list {
			all = append(all, info.ID)
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	long := func(killed func()) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			for range 8 { // each is a file, and all are more than one part
				if !yield(agent.Event{At: 1, Data: agent.UserInput{Text: strings.Repeat("x", 300<<10)}}, nil) {
					return
				}
			}
			killed()
		}
	}
	_, err := s.CreateSessionFrom(t.Context(), backend.SessionInfo{ID: "back", Folder: "/p"}, long(func() {
		_, err := s.CreateSessionFrom(t.Context(), backend.SessionInfo{ID: "cut", Folder: "/p"}, long(func() {
			drop(other)
			if err := os.CopyFS(crashed, os.DirFS(home)); err != nil { // a killed process leaves as much
				t.Fatal(err)
			}
		}))
		if err != nil {
			t.Error(err)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	drop(other)
	if got := ids(other); got != "back cut whole" {
		t.Errorf("without a crash there are %q", got)
	}
	c := open(t, crashed)
	if got := ids(c); got != "back cut whole" {
		t.Fatalf("after a crash there are %q", got)
	}
	add(t, c, "back", agent.SessionMarks{})
	drop(c)
	if got := ids(c); got != "back whole" {
		t.Errorf("%q are left", got)
	}
	if _, err := os.Stat(filepath.Join(crashed, "blobs", "cut")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its large events are left: %v", err)
	}
	add(t, c, "back", agent.SessionMarks{Deleted: 9})
	drop(c)
	if got := ids(c); got != "back whole" {
		t.Errorf("%q are left after a person deleted one", got)
	}
}

var _ backend.Store = (*storage.Store)(nil)
