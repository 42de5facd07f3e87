package storage_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

// OAS-602: sessions follow a moved folder with what they cost and with their
// agents. The log says so, so that rows which are made anew agree.
func TestMove(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	add(t, s, "a", agent.SessionStart{Folder: "/p"}, answer("x", 100, 3))
	err := s.CreateSession(t.Context(), backend.SessionInfo{
		ID: "h", Folder: "/p", State: agent.StateIdle, Settings: agent.Settings{Mode: agent.ModeDefault}, Usage: llm.Usage{Known: true}, Helper: &agent.Helper{Parent: "a", Folder: "/p/web"},
	})
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, "h", agent.SessionStart{Folder: "/p", Helper: &agent.Helper{Parent: "a", Folder: "/p/web"}})
	folders, err := s.Folders(t.Context(), 10)
	if diff := cmp.Diff([]backend.SessionFolder{{Folder: "/p", Sessions: 1, UpdatedAt: 101}}, folders); diff != "" || err != nil {
		t.Error(diff, err)
	}
	moved, err := s.Move(t.Context(), "/p", "/new/p")
	if err != nil || len(moved) != 2 {
		t.Fatalf("%v, %v", moved, err)
	}
	check := func(when string, s *storage.Store) {
		t.Helper()
		if list, err := s.Sessions(t.Context(), "/p"); len(list) != 0 || err != nil {
			t.Errorf("%s, left: %+v, %v", when, list, err)
		}
		helper, err := s.Session(t.Context(), "h")
		if err != nil || helper.Folder != "/new/p" || helper.Helper.Folder != "/new/p/web" {
			t.Errorf("%s, agent: %+v, %v", when, helper, err)
		}
		costs, err := s.Costs(t.Context(), "/new/p", "")
		if err != nil || costs.Total.Requests != 1 || costs.Total.Cost.Cost != 3 {
			t.Errorf("%s, costs: %+v, %v", when, costs.Total, err)
		}
	}
	check("moved", s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, filepath.Join(home, storage.File), "UPDATE sessions SET usage = 'x' WHERE id = 'h'; UPDATE ledger SET checksum = 1, cost = 9")
	s = open(t, home)
	check("folded again", s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	repair(t, home)
	s = open(t, home)
	check("made anew", s)
	if back, err := s.Move(t.Context(), "/new/p", "/p", "a"); err != nil || len(back) != 1 {
		t.Errorf("%v, %v", back, err)
	}
	if info, err := s.Session(t.Context(), "a"); err != nil || info.Folder != "/p" {
		t.Errorf("%+v, %v", info, err)
	}
}

// A session that another process runs keeps all where they are.
func TestMoveOfARunningSession(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	session(t, s, "b")
	add(t, s, "b", agent.UserInput{Text: "x"})
	release, err := open(t, home).Lease("b")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	_, err = s.Move(t.Context(), "/p", "/q")
	var e *backend.Error
	if !errors.As(err, &e) || e.Code != backend.CodeBusy {
		t.Errorf("moved: %v", err)
	}
	if list, err := s.Sessions(t.Context(), "/p"); len(list) != 2 || err != nil {
		t.Errorf("%+v, %v", list, err)
	}
}
