package storage_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
)

// copyOf is a fork of session a after one of its events.
func copyOf(id string, through int64) backend.Copy {
	return backend.Copy{
		From: "a", Through: through,
		Session: backend.SessionInfo{ID: id, Folder: "/p", State: agent.StateIdle, CreatedAt: 2, UpdatedAt: 2, Seq: through, Usage: llm.Usage{Known: true}},
		Then:    []agent.Event{{At: 900, Data: agent.Forked{Origin: agent.ForkOrigin{Session: "a", Seq: through}}}, {At: 900, Data: agent.Title{Text: "b"}}},
	}
}

func events(t *testing.T, s *storage.Store, id string) []agent.Event {
	t.Helper()
	all, err := s.Events(t.Context(), backend.EventRange{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].Session = ""
	}
	return all
}

// COM-96: a fork is a session of its own. It keeps what it was copied from when the
// other session grows or is deleted, and each counts its own costs.
func TestFork(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	cost := llm.Cost(500)
	large := strings.Repeat("x", 300<<10) // stored in a file
	add(t, s, "a", agent.UserInput{Text: large}, agent.TextEnd{Provider: "p", Model: "m", Usage: llm.Usage{Known: true, Input: 7}, Cost: &cost},
		agent.ApprovalRequest{ID: "ask", CallID: "c"}, agent.UserInput{Text: "later"})
	seq, err := s.Fork(t.Context(), copyOf("b", 3))
	if err != nil || seq != 5 {
		t.Fatal(seq, err)
	}
	if err := s.AddQueued(t.Context(), "a", agent.Queued{ID: "q", Verb: agent.FollowUp, Text: "x"}); err != nil {
		t.Fatal(err)
	}
	before := events(t, s, "b")
	if diff := cmp.Diff(events(t, s, "a")[:3], before[:3]); diff != "" {
		t.Error(diff)
	}
	info, err := s.Session(t.Context(), "b")
	if err != nil || info.Cost.Cost != 0 || info.Origin == nil || info.Title != "b" || info.Seq != 5 {
		t.Errorf("%+v, %v", info, err)
	}
	if costs, err := s.Costs(t.Context(), "/p", ""); err != nil || costs.Total.Cost.Cost != cost || costs.Total.Requests != 1 {
		t.Errorf("%+v, %v", costs.Total, err)
	}
	if waits, err := s.Approvals(t.Context(), "/p"); err != nil || len(waits) != 1 || waits[0].Session != "a" {
		t.Errorf("%+v, %v", waits, err)
	}
	if err := s.DeleteSessions(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	add(t, s, "b", agent.UserInput{Text: "on"})
	_ = s.Close()
	s = open(t, home)
	after := events(t, s, "b")
	if diff := cmp.Diff(before, after[:len(after)-1]); diff != "" {
		t.Error(diff)
	}
}

// An id is used once: the second fork changes nothing of the first.
func TestForkNeedsANewID(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	session(t, s, "a")
	add(t, s, "a", agent.UserInput{Text: strings.Repeat("x", 300<<10)}, agent.TextStart{})
	if _, err := s.Fork(t.Context(), copyOf("b", 1)); err != nil {
		t.Fatal(err)
	}
	before := events(t, s, "b")
	for _, id := range []string{"a", "b"} {
		if _, err := s.Fork(t.Context(), copyOf(id, 1)); code(err) != backend.CodeInvalid {
			t.Errorf("%s: %v", id, err)
		}
	}
	if diff := cmp.Diff(before, events(t, s, "b")); diff != "" {
		t.Error(diff)
	}
}

// What is damaged in a log is missing in its copy, with the same warning.
func TestForkOfADamagedLog(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	large := strings.Repeat("x", 300<<10)
	add(t, s, "a", agent.UserInput{Text: "1"}, agent.UserInput{Text: "2"}, agent.UserInput{Text: large}, agent.UserInput{Text: large}, agent.UserInput{Text: "5"})
	execute(t, filepath.Join(home, storage.File), `UPDATE events SET body = '{}' WHERE session = 'a' AND seq = 2`)
	if err := os.Remove(filepath.Join(home, "blobs", "a", "3.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "blobs", "a", "4.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Fork(t.Context(), copyOf("b", 5)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(events(t, s, "a"), events(t, s, "b")[:3]); diff != "" {
		t.Error(diff)
	}
}

// The row of a fork that is damaged is folded from the log again: it belongs to nobody,
// also if it was copied from an agent's session, and counts no cost twice.
func TestForkIsRebuilt(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	cost := llm.Cost(5)
	add(t, s, "a", agent.SessionStart{Folder: "/p", Helper: &agent.Helper{Parent: "top"}}, agent.TextEnd{Cost: &cost, Usage: llm.Usage{Known: true}})
	if _, err := s.Fork(t.Context(), copyOf("b", 2)); err != nil {
		t.Fatal(err)
	}
	want, err := s.Session(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	execute(t, filepath.Join(home, storage.File), `UPDATE sessions SET title = 'x' WHERE id = 'b'`)
	_ = s.Close()
	s = open(t, home)
	got, err := s.Session(t.Context(), "b")
	if err != nil || !got.Damaged {
		t.Fatal(got, err)
	}
	got.Damaged = false
	want.Settings, want.CreatedAt, want.Messages = got.Settings, got.CreatedAt, got.Messages // this test stored none of them
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if helpers, err := s.Helpers(t.Context(), "top"); err != nil || len(helpers) != 0 {
		t.Errorf("%+v, %v", helpers, err)
	}
}

// Forks that are made at once, also by another process, do not disturb each other or
// a session that works.
func TestForksAtOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	other := open(t, home)
	session(t, s, "a")
	add(t, s, "a", agent.UserInput{Text: "1"}, agent.UserInput{Text: "2"})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			in := []*storage.Store{s, other}[i%2]
			if _, err := in.Fork(t.Context(), copyOf(fmt.Sprint("b", i), 2)); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() { add(t, s, "a", agent.UserInput{Text: "on"}) })
	}
	all.Wait()
	list, err := s.Sessions(t.Context(), "/p")
	if err != nil || len(list) != 9 || len(events(t, s, "a")) != 10 || len(events(t, s, "b7")) != 4 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}

const forkerHome = "ATELIER_TEST_FORKER_HOME"

// forkForever forks session a and prints the id of each fork once it is stored.
func forkForever(home string) {
	s, err := storage.Open(context.Background(), home)
	for i := 0; err == nil; i++ {
		id := fmt.Sprintf("f%d-%d", os.Getpid(), i)
		if _, err = s.Fork(context.Background(), copyOf(id, 60)); err == nil {
			fmt.Println(i + 1)
		}
	}
	fmt.Println("error", err)
	os.Exit(1)
}

// A process that is killed while it forks leaves whole forks or none.
func TestKillDuringFork(t *testing.T) {
	t.Parallel()
	cycles := 8
	if testing.Short() {
		cycles = 2
	}
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	for i := range 60 {
		text := "x"
		if i == 20 { // one that is stored in a file
			text = strings.Repeat("y", 257<<10)
		}
		add(t, s, "a", agent.UserInput{Text: text})
	}
	want := events(t, s, "a")
	acknowledged := int64(0)
	for cycle := range cycles {
		acknowledged += killed(t, forkerHome, home, 1+cycle)
	}
	list, err := s.Sessions(t.Context(), "/p")
	if err != nil || int64(len(list)) < acknowledged+1 {
		t.Fatalf("%d sessions, %d forks were acknowledged, %v", len(list), acknowledged, err)
	}
	for _, info := range list {
		if got := events(t, s, info.ID); info.ID != "a" && (len(got) != 62 || cmp.Diff(want, got[:60]) != "") {
			t.Errorf("%s has %d events", info.ID, len(got))
		}
	}
}
