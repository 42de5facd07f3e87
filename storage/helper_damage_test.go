package storage_test

import (
	"errors"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
)

// An agent whose row is damaged or missing stays its parent's, in lists and
// after an append has repaired the row.
func TestDamagedHelperKeepsItsParent(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"missing":        "PRAGMA foreign_keys = off; DELETE FROM sessions WHERE id = 'h'",
		"a user's":       "UPDATE sessions SET helper = NULL, parent = NULL WHERE id = 'h'",
		"another parent": `UPDATE sessions SET helper = '{"parent":"b","folder":"/","rounds":1}', parent = 'b' WHERE id = 'h'`,
		"a parent alone": "UPDATE sessions SET parent = 'b' WHERE id = 'h'",
		"no JSON":        "UPDATE sessions SET helper = '{' WHERE id = 'h'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			s := open(t, home)
			session(t, s, "a")
			session(t, s, "b")
			want := &agent.Helper{Parent: "a", Folder: "/p/web", Rounds: 7}
			err := s.CreateSession(t.Context(), backend.SessionInfo{
				ID: "h", Folder: "/p", State: agent.StateIdle, Settings: agent.Settings{Mode: agent.ModeDefault}, Usage: llm.Usage{Known: true}, Helper: want,
			})
			add(t, s, "h", agent.SessionStart{Folder: "/p", Helper: want}, agent.UserInput{Text: "x"}, agent.SessionStart{Folder: "/p", Resumed: true})
			if err := errors.Join(err, s.Close()); err != nil {
				t.Fatal(err)
			}
			execute(t, filepath.Join(home, storage.File), change)
			s = open(t, home)
			check := func(when string) {
				t.Helper()
				for parent, want := range map[string][]string{"a": {"h"}, "b": nil} {
					helpers, err := s.Helpers(t.Context(), parent)
					var ids []string
					for _, info := range helpers {
						ids = append(ids, info.ID)
					}
					if diff := cmp.Diff(want, ids); diff != "" || err != nil {
						t.Errorf("%s, agents of %s: %s, %v", when, parent, diff, err)
					}
				}
				list, err := s.Sessions(t.Context(), "/p")
				if len(list) != 3 || err != nil {
					t.Fatalf("%s, list: %+v, %v", when, list, err)
				}
				for _, info := range list {
					if (info.ID == "h") != (info.Helper != nil) || info.ID == "h" && !cmp.Equal(info.Helper, want) {
						t.Errorf("%s, %s is listed with %+v", when, info.ID, info.Helper)
					}
				}
			}
			check("damaged")
			add(t, s, "h", agent.Warning{Code: "w"})
			check("repaired")
			if info, err := s.Session(t.Context(), "h"); err != nil || info.Damaged {
				t.Errorf("%+v, %v", info, err)
			}
		})
	}
}

// A session without a row can be deleted, with its log and with its parent.
func TestDeleteSessionWithoutRow(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	session(t, s, "h")
	add(t, s, "h", agent.SessionStart{Folder: "/p", Helper: &agent.Helper{Parent: "a"}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, filepath.Join(home, storage.File), "PRAGMA foreign_keys = off; DELETE FROM sessions WHERE id = 'h'")
	s = open(t, home)
	if err := s.DeleteSessions(t.Context(), "a", "h"); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Sessions(t.Context(), "/p"); len(list) != 0 || err != nil {
		t.Errorf("list: %+v, %v", list, err)
	}
	if events, err := s.Events(t.Context(), backend.EventRange{Session: "h"}); len(events) != 0 || err != nil {
		t.Errorf("events: %v, %v", events, err)
	}
	if err := s.DeleteSessions(t.Context(), "h"); err == nil {
		t.Error("deleted again")
	}
}
