package storage_test

import (
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
)

func logHooks(t *testing.T, s *storage.Store, records ...backend.HookRecord) {
	t.Helper()
	if err := s.AddHookRecords(t.Context(), records...); err != nil {
		t.Fatal(err)
	}
}

// hookRows lists the rows of records, which name them.
func hookRows(t *testing.T, s *storage.Store, r backend.HookRange) (rows []string) {
	t.Helper()
	if r.Folder == "" {
		r.Folder = "/p"
	}
	if r.Limit == 0 {
		r.Limit = 1 << 20
	}
	records, err := s.HookRecords(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records {
		if record.Body != nil {
			t.Errorf("a list has the body %s", record.Body)
		}
		rows = append(rows, string(record.Row))
	}
	return rows
}

// The log of hooks is read by what was asked for, the newest first. It survives a
// restart, goes with its session, and leaves out what was damaged.
func TestHookLog(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	session(t, s, "b")
	if err := s.CreateSession(t.Context(), backend.SessionInfo{
		ID: "helper", Folder: "/p", Settings: agent.Settings{Model: "m"}, Usage: llm.Usage{Known: true}, Helper: &agent.Helper{Parent: "a"},
	}); err != nil {
		t.Fatal(err)
	}
	record := func(session, hook, row string, point agent.HookPoint, outcome string) backend.HookRecord {
		return backend.HookRecord{Session: session, At: 5, Hook: hook, Point: point, Tool: "Bash", CallID: "c" + row, Outcome: outcome, Row: []byte(row), Body: []byte("body " + row)}
	}
	logHooks(t, s,
		record("a", "h1", "1", agent.HookPreToolUse, "ran"), record("b", "h2", "2", agent.HookStop, "failed"),
		record("gone", "h1", "3", agent.HookStop, "ran"), record("helper", "h1", "4", agent.HookStop, "not_matched"),
		record("a", "h2", "5", agent.HookPreToolUse, "ran"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, home)
	for name, tt := range map[string]struct {
		r    backend.HookRange
		want []string
	}{
		"all":              {backend.HookRange{}, []string{"5", "4", "2", "1"}},
		"another folder":   {backend.HookRange{Folder: "/q"}, nil},
		"with its agents":  {backend.HookRange{Session: "a"}, []string{"5", "4", "1"}},
		"of a hook":        {backend.HookRange{Hook: "h2"}, []string{"5", "2"}},
		"of a point":       {backend.HookRange{Point: agent.HookStop}, []string{"4", "2"}},
		"of a call":        {backend.HookRange{CallID: "c2", Tool: "Bash"}, []string{"2"}},
		"of another tool":  {backend.HookRange{Tool: "Edit"}, nil},
		"with an outcome":  {backend.HookRange{Outcome: "ran"}, []string{"5", "1"}},
		"a page":           {backend.HookRange{Limit: 2}, []string{"5", "4"}},
		"before some":      {backend.HookRange{Before: 3}, []string{"2", "1"}},
		"before all there": {backend.HookRange{Before: 1}, nil},
	} {
		if diff := cmp.Diff(tt.want, hookRows(t, s, tt.r)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	last, err := s.LastHookRecords(t.Context(), "/p", "", []string{"h1", "h2", "h3"})
	if err != nil || len(last) != 2 || string(last["h1"].Row) != "1" || string(last["h2"].Row) != "5" {
		t.Errorf("%+v, %v", last, err)
	}
	one, err := s.HookRecord(t.Context(), "/p", 1)
	want := record("a", "h1", "1", agent.HookPreToolUse, "ran")
	want.ID = 1
	if diff := cmp.Diff(want, one); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	execute(t, filepath.Join(home, storage.File), `UPDATE hook_log SET outcome = 'ran' WHERE id = 2`)
	execute(t, filepath.Join(home, storage.File), `UPDATE hook_log SET body = X'7B' WHERE id = 1`)
	if diff := cmp.Diff([]string{"5", "4", "1"}, hookRows(t, s, backend.HookRange{})); diff != "" {
		t.Error(diff)
	}
	for _, tt := range []struct {
		folder string
		id     int64
	}{{"/p", 1}, {"/p", 2}, {"/q", 4}, {"/p", 99}} {
		if _, err := s.HookRecord(t.Context(), tt.folder, tt.id); code(err) != backend.CodeNotFound {
			t.Errorf("record %d of %s: %v", tt.id, tt.folder, err)
		}
	}
	if err := s.DeleteSessions(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"4"}, hookRows(t, s, backend.HookRange{})); diff != "" {
		t.Error(diff)
	}
}
