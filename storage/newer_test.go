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
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

// OAS-602: a database of a newer program is read, as far as this one knows its
// tables and columns. Nothing is written to it, and every write says why.
func TestNewerIsOnlyRead(t *testing.T) {
	t.Parallel()
	for name, newer := range map[string]string{
		"counted":              "PRAGMA user_version = 9999",
		"named":                "DELETE FROM migrations WHERE name LIKE '20261122%'; INSERT INTO migrations VALUES ('20270101_of_another_branch')",
		"with more columns":    "INSERT INTO migrations VALUES ('20270101_more'); ALTER TABLE sessions ADD COLUMN mood TEXT; UPDATE sessions SET checksum = 1; ALTER TABLE events ADD COLUMN mood TEXT; UPDATE events SET checksum = 1; UPDATE settings SET checksum = 1",
		"with a kind of event": "INSERT INTO migrations VALUES ('20270101_more'); UPDATE events SET kind = 'mood' WHERE seq = 4; UPDATE events SET checksum = 1 WHERE seq = 4",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, path := filled(t)
			before := all(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			execute(t, path, newer)
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s = open(t, filepath.Dir(path))
			if !s.Health().ReadOnly || !s.Health().Sound() {
				t.Errorf("health: %+v", s.Health())
			}
			if name == "with a kind of event" {
				events := before[1].([]agent.Event)
				events[3].Data = agent.Warn(agent.WarnNewerEvent, "4")
			}
			if diff := cmp.Diff(before, all(t, s)); diff != "" {
				t.Error(diff)
			}
			for name, write := range map[string]call{
				"append": appending(agent.Warning{Code: "w"}),
				"create": func(ctx context.Context, s *storage.Store) error {
					return s.CreateSession(ctx, backend.SessionInfo{ID: "b"})
				},
				"delete":  func(ctx context.Context, s *storage.Store) error { return s.DeleteSessions(ctx, "a") },
				"setting": func(ctx context.Context, s *storage.Store) error { return s.SetSetting(ctx, "k", "w") },
				"queue":   func(ctx context.Context, s *storage.Store) error { return s.RemoveQueued(ctx, "q1") },
				"hooks": func(ctx context.Context, s *storage.Store) error {
					return s.AddHookRecords(ctx, backend.HookRecord{Session: "a"})
				},
				"lease": func(_ context.Context, s *storage.Store) error { _, err := s.Lease("a"); return err },
			} {
				if err := write(t.Context(), s); code(err) != backend.CodeStoreNewer || !strings.Contains(err.Error(), "only reads it") {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(file, after) {
				t.Error("the file was changed")
			}
		})
	}
}
