package storage_test

import (
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

// A database of an older program gets the lines and the branch of its sessions
// from their events. An event that cannot be read counts nothing.
func TestLinesOfAnOldDatabase(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	changed := func(outcome agent.Outcome, added, removed int) agent.ToolCallEnd {
		return agent.ToolCallEnd{Outcome: outcome, Details: &agent.Details{Changes: []agent.FileChange{
			{Path: "a", Added: added, Removed: removed}, {Path: "b", Added: 1},
		}}}
	}
	for _, id := range []string{"a", "b", "plain"} {
		session(t, s, id)
	}
	add(t, s, "a", agent.Briefing{Told: agent.BriefingState{agent.ToldBranch: "main"}}, changed(agent.OutcomeDone, 2, 3), changed(agent.OutcomeDenied, 5, 5),
		agent.BriefingUpdate{Told: agent.BriefingState{agent.ToldBranch: "fix"}}, agent.BriefingUpdate{Told: agent.BriefingState{"date": "x"}})
	add(t, s, "b", changed(agent.OutcomeDone, 7, 0), changed(agent.OutcomeDone, 7, 0))
	add(t, s, "plain", agent.UserInput{Text: "x"}, agent.ToolCallEnd{Outcome: agent.OutcomeDone})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, filepath.Join(home, storage.File), `DELETE FROM migrations WHERE name = '20261122c_session_lines'; PRAGMA user_version = 6;
		ALTER TABLE sessions DROP COLUMN lines_added; ALTER TABLE sessions DROP COLUMN lines_removed; ALTER TABLE sessions DROP COLUMN branch;
		UPDATE events SET body = X'7B' WHERE session = 'b' AND seq = 1`)
	s = open(t, home)
	for id, want := range map[string]backend.SessionInfo{
		"a":     {Lines: backend.Lines{Added: 3, Removed: 3}, Branch: "fix"},
		"b":     {Lines: backend.Lines{Added: 8}},
		"plain": {},
	} {
		if got, err := s.Session(t.Context(), id); err != nil || got.Lines != want.Lines || got.Branch != want.Branch || got.Damaged {
			t.Errorf("%s: %+v on %q, damaged %t, %v", id, got.Lines, got.Branch, got.Damaged, err)
		}
	}
}
