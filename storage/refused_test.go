package storage_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

// call is one call of the store.
type call func(context.Context, *storage.Store) error

func appending(p agent.Payload) call {
	return func(ctx context.Context, s *storage.Store) error {
		_, err := s.Append(ctx, agent.Event{Session: "a", Turn: 1, At: 900, Data: p})
		return err
	}
}

func reading(r backend.EventRange) call {
	return func(ctx context.Context, s *storage.Store) error {
		_, err := s.Events(ctx, r)
		return err
	}
}

// filled returns a database with something in every table.
func filled(t *testing.T) (s *storage.Store, path string) {
	t.Helper()
	home := t.TempDir()
	s = open(t, home)
	session(t, s, "a")
	add(t, s, "a", agent.SessionStart{Folder: "/p"}, answer("x", 100, 3), agent.ApprovalRequest{ID: "r", CallID: "c"},
		agent.UserInput{Text: strings.Repeat("long ", 53_000)})
	for _, id := range []string{"q1", "q2"} {
		if err := s.AddQueued(t.Context(), "a", agent.Queued{ID: id, Verb: agent.FollowUp, Text: id}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetSetting(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	return s, filepath.Join(home, storage.File)
}

// all returns everything that a store can return.
func all(t *testing.T, s *storage.Store) (out []any) {
	t.Helper()
	note := func(v any, err error) {
		if err != nil {
			t.Error(err)
		}
		out = append(out, v)
	}
	ctx := t.Context()
	sessions, err := s.Sessions(ctx, "/p")
	note(sessions, err)
	events, err := s.Events(ctx, backend.EventRange{Session: "a"})
	note(events, err)
	queue, err := s.Queue(ctx, "a")
	note(queue, err)
	setting, err := s.Setting(ctx, "k")
	note(setting, err)
	approval, err := s.PendingApproval(ctx, "r")
	note(approval, err)
	approvals, err := s.Approvals(ctx, "/p")
	note(approvals, err)
	costs, err := s.Costs(ctx, "/p", "")
	note(costs, err)
	return out
}

// K-36: a change that the database refuses, in the middle or at its end, leaves
// nothing behind. It is reported as a failure, and succeeds once the cause is
// gone.
func TestRefusedWrites(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		refused string
		call    call
	}{
		"an event":           {"INSERT ON events", appending(agent.Warning{Code: "w"})},
		"its session's row":  {"UPDATE ON sessions", appending(agent.Warning{Code: "w"})},
		"a request's cost":   {"INSERT ON ledger", appending(answer("x", 1, 1))},
		"a question":         {"INSERT ON approvals", appending(agent.ApprovalRequest{ID: "r2", CallID: "c2"})},
		"an answer to it":    {"DELETE ON approvals", appending(agent.ApprovalAnswer{ID: "r", CallID: "c"})},
		"an unanswered call": {"DELETE ON approvals", appending(agent.ToolCallEnd{CallID: "c"})},
		"a queued input":     {"DELETE ON queue", appending(agent.UserInput{Text: "x", QueueID: "q1"})},
		"queued steering":    {"DELETE ON queue", appending(agent.SteeringInjected{Text: "x", QueueID: "q1"})},
		"a new session": {"INSERT ON sessions", func(ctx context.Context, s *storage.Store) error {
			return s.CreateSession(ctx, backend.SessionInfo{ID: "b", Folder: "/p"})
		}},
		"a session's end":   {"DELETE ON sessions", func(ctx context.Context, s *storage.Store) error { return s.DeleteSessions(ctx, "a") }},
		"a new setting":     {"INSERT ON settings", func(ctx context.Context, s *storage.Store) error { return s.SetSetting(ctx, "l", "v") }},
		"a changed setting": {"UPDATE ON settings", func(ctx context.Context, s *storage.Store) error { return s.SetSetting(ctx, "k", "w") }},
		"what is queued": {"INSERT ON queue", func(ctx context.Context, s *storage.Store) error {
			return s.AddQueued(ctx, "a", agent.Queued{ID: "q3"})
		}},
		"what is edited": {"UPDATE ON queue", func(ctx context.Context, s *storage.Store) error { return s.EditQueued(ctx, agent.Queued{ID: "q1"}) }},
		"another order": {"UPDATE ON queue", func(ctx context.Context, s *storage.Store) error {
			return s.OrderQueued(ctx, []agent.Queued{{ID: "q2"}, {ID: "q1"}})
		}},
		"what is taken back": {"DELETE ON queue", func(ctx context.Context, s *storage.Store) error { return s.RemoveQueued(ctx, "q1") }},
	} {
		for when, refuse := range map[string]string{
			"at once":       "CREATE TRIGGER refuse BEFORE " + tt.refused + " BEGIN SELECT RAISE(ABORT, 'no'); END",
			"at the commit": "CREATE TABLE strays (of TEXT REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED); CREATE TRIGGER refuse AFTER " + tt.refused + " BEGIN INSERT INTO strays VALUES ('nowhere'); END",
		} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				s, path := filled(t)
				before := all(t, s)
				execute(t, path, refuse)
				if err := tt.call(t.Context(), s); code(err) != backend.CodeStoreFailed {
					t.Errorf("reported %v", err)
				}
				if diff := cmp.Diff(before, all(t, s)); diff != "" {
					t.Errorf("a part was kept: %s", diff)
				}
				execute(t, path, "DROP TRIGGER refuse")
				if err := tt.call(t.Context(), s); err != nil {
					t.Errorf("tried again: %v", err)
				}
			})
		}
	}
}

// A row that cannot be read is reported as a failure, never as absent.
func TestUnreadableRows(t *testing.T) {
	t.Parallel()
	session := func(ctx context.Context, s *storage.Store) error { _, err := s.Session(ctx, "a"); return err }
	sessions := func(ctx context.Context, s *storage.Store) error { _, err := s.Sessions(ctx, "/p"); return err }
	helpers := func(ctx context.Context, s *storage.Store) error { _, err := s.Helpers(ctx, "a"); return err }
	queue := func(ctx context.Context, s *storage.Store) error { _, err := s.Queue(ctx, "a"); return err }
	costs := func(ctx context.Context, s *storage.Store) error { _, err := s.Costs(ctx, "/p", ""); return err }
	setting := func(ctx context.Context, s *storage.Store) error { _, err := s.Setting(ctx, "k"); return err }
	approval := func(ctx context.Context, s *storage.Store) error { _, err := s.PendingApproval(ctx, "r"); return err }
	approvals := func(ctx context.Context, s *storage.Store) error { _, err := s.Approvals(ctx, "/p"); return err }
	const unlogged = "UPDATE sessions SET usage = 'x'; DROP TABLE events" // nothing to rebuild the row from
	for name, tt := range map[string]struct {
		spoil string
		call  call
	}{
		"events":                      {"DROP TABLE events", reading(backend.EventRange{Session: "a"})},
		"events of a session":         {"DROP TABLE sessions", reading(backend.EventRange{Session: "a"})},
		"an append's place":           {"DROP TABLE events", appending(agent.Warning{Code: "w"})},
		"an append's session":         {"DROP TABLE sessions", appending(agent.Warning{Code: "w"})},
		"a damaged append's log":      {"UPDATE sessions SET usage = 'x'; ALTER TABLE events RENAME COLUMN body TO corpus", appending(agent.Warning{Code: "w"})},
		"a missing row":               {"DELETE FROM sessions; CREATE TRIGGER refuse BEFORE INSERT ON sessions BEGIN SELECT RAISE(ABORT, 'no'); END", appending(agent.Warning{Code: "w"})},
		"a session":                   {"DROP TABLE sessions", session},
		"a damaged session":           {unlogged, session},
		"sessions":                    {"DROP TABLE sessions", sessions},
		"damaged sessions":            {unlogged, sessions},
		"helpers":                     {"DROP TABLE sessions", helpers},
		"what waits":                  {"DROP TABLE queue", queue},
		"what waits, without a name":  {"UPDATE queue SET id = NULL WHERE id = 'q1'", queue},
		"costs":                       {"DROP TABLE ledger", costs},
		"half a token":                {"UPDATE ledger SET input = 0.5", costs},
		"a setting":                   {"DROP TABLE settings", setting},
		"a question":                  {"DROP TABLE approvals", approval},
		"the questions":               {"DROP TABLE approvals", approvals},
		"a question's event":          {"ALTER TABLE events RENAME COLUMN body TO corpus", approvals},
		"a question's place":          {"UPDATE approvals SET seq = 'x'", approvals},
		"the end of a session's rows": {"DROP TABLE sessions", func(ctx context.Context, s *storage.Store) error { return s.DeleteSessions(ctx, "a") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, path := filled(t)
			execute(t, path, tt.spoil)
			if err := tt.call(t.Context(), s); code(err) != backend.CodeStoreFailed || !strings.Contains(err.Error(), "could not") {
				t.Errorf("reported %v", err)
			}
		})
	}
}

// Calls of a closed store fail and do not panic.
func TestClosedStore(t *testing.T) {
	t.Parallel()
	s, _ := filled(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]call{
		"append": appending(agent.Warning{Code: "w"}),
		"read":   reading(backend.EventRange{Session: "a"}),
		"delete": func(ctx context.Context, s *storage.Store) error { return s.DeleteSessions(ctx, "a") },
		"queue":  func(ctx context.Context, s *storage.Store) error { return s.RemoveQueued(ctx, "q1") },
	} {
		if err := call(t.Context(), s); code(err) != backend.CodeStoreFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// K-36: a database that lacks something, or that cannot be migrated, is not
// opened and not changed.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	const (
		unseen = "PRAGMA user_version = 1; DELETE FROM migrations WHERE name = '20261122b_ledger_checksums';"
		old    = unseen + "ALTER TABLE ledger DROP COLUMN checksum;"
	)
	for name, spoil := range map[string]string{
		"no sessions":              "DROP TABLE sessions",
		"no events":                "DROP TABLE events",
		"no questions":             "DROP TABLE approvals",
		"a migration again":        unseen,
		"a migration is not noted": old + "CREATE TRIGGER refuse BEFORE INSERT ON migrations BEGIN SELECT RAISE(ABORT, 'no'); END",
		"migrations do not commit": old + "CREATE TABLE strays (of TEXT REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED); CREATE TRIGGER refuse AFTER INSERT ON migrations BEGIN INSERT INTO strays VALUES ('nowhere'); END",
		"a migration has no name":  "INSERT INTO migrations VALUES (NULL)",
		"another kind of table":    "DROP TABLE migrations; CREATE VIEW migrations AS SELECT 'x' AS name; PRAGMA user_version = 4",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, path := filled(t)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			execute(t, path, spoil)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := storage.Open(t.Context(), filepath.Dir(path)); code(err) != backend.CodeStoreUnusable {
				t.Errorf("reported %v", err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the database was changed")
			}
		})
	}
}

// An unusable file beside the database is reported, and does not prevent later
// calls.
func TestUnusableFiles(t *testing.T) {
	t.Parallel()
	lease := func(_ context.Context, s *storage.Store) error { _, err := s.Lease("a"); return err }
	large := appending(agent.UserInput{Text: strings.Repeat("long ", 53_000)})
	for name, tt := range map[string]struct {
		file, dir string // what is there instead
		call      call
	}{
		"no folder for leases":         {file: "leases", call: lease},
		"no lease":                     {dir: "leases/a.lock", call: lease},
		"no folder for large events":   {file: "blobs", call: large},
		"no large event":               {dir: "blobs/a/1.json", call: large},
		"large events are not deleted": {file: "blobs", call: func(ctx context.Context, s *storage.Store) error { return s.DeleteSessions(ctx, "a") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			s := open(t, home)
			session(t, s, "a")
			if tt.file != "" {
				write(t, filepath.Join(home, tt.file), nil)
			} else if err := os.MkdirAll(filepath.Join(home, tt.dir), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tt.call(t.Context(), s); code(err) != backend.CodeStoreFailed {
				t.Errorf("reported %v", err)
			}
			if err := os.RemoveAll(filepath.Join(home, tt.file+tt.dir)); err != nil {
				t.Fatal(err)
			}
			if err := tt.call(t.Context(), s); err != nil && name != "large events are not deleted" { // the session is gone
				t.Errorf("tried again: %v", err)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, nil)
	if _, err := storage.Open(t.Context(), filepath.Join(file, "home")); code(err) != backend.CodeStoreUnusable {
		t.Errorf("a home in a file: %v", err)
	}
}

// A session that another one started is listed as its own, with all its limits.
func TestHelpersComeBack(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	session(t, s, "a")
	want := backend.SessionInfo{
		ID: "h", Folder: "/p", State: agent.StateIdle, Settings: agent.Settings{Mode: agent.ModeDefault},
		Usage: llm.Usage{Known: true}, Helper: &agent.Helper{Parent: "a"},
	}
	if err := s.CreateSession(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Session(t.Context(), "h")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	list, err := s.Helpers(t.Context(), "a")
	if diff := cmp.Diff([]backend.SessionInfo{want}, list); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
