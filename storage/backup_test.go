package storage_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

// unmigrated takes the newest migration of a database back.
const unmigrated = "DROP INDEX first_events; DELETE FROM migrations WHERE name = '20261123c_first_events'; PRAGMA user_version = 3;"

func backups(t *testing.T, home string) []string {
	t.Helper()
	copies, err := filepath.Glob(filepath.Join(home, storage.Backups, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return copies
}

// OAS-602: a database is copied before it is migrated, and the newest copies stay.
func TestCopyBeforeMigration(t *testing.T) {
	t.Parallel()
	s, path := filled(t)
	home, before := filepath.Dir(path), all(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if made := backups(t, home); len(made) != 0 {
		t.Errorf("a new database was copied: %v", made)
	}
	for range 5 {
		execute(t, path, unmigrated)
		s := open(t, home)
		if diff := cmp.Diff(before, all(t, s)); diff != "" {
			t.Error(diff)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	made := backups(t, home)
	if len(made) != 3 {
		t.Fatalf("copies: %v", made)
	}
	if info, err := os.Stat(made[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	other := t.TempDir()
	if err := os.CopyFS(other, os.DirFS(home)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(other, storage.Backups, filepath.Base(made[2])), filepath.Join(other, storage.File)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, all(t, open(t, other))); diff != "" {
		t.Errorf("restored: %s", diff)
	}
}

// A migration that fails, or that loses rows, is taken back as a whole, and leaves
// no copy.
func TestMigrationIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]string{
		"it fails":      unmigrated + "CREATE TABLE first_events (x)",
		"it loses rows": unmigrated + "CREATE TRIGGER lose AFTER INSERT ON migrations BEGIN DELETE FROM queue; END",
		"its result is not sound": unmigrated + `CREATE TABLE odd (x INTEGER NOT NULL); INSERT INTO odd VALUES (1);
			PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = 'CREATE TABLE odd (x INTEGER NOT NULL CHECK (x > 5))' WHERE name = 'odd'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, path := filled(t)
			home := filepath.Dir(path)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			execute(t, path, spoil)
			_, err := storage.Open(t.Context(), home)
			var e *backend.Error
			if !errors.As(err, &e) || e.ID != backend.ProblemMigration || e.Args[1] != "20261123c_first_events" {
				t.Errorf("opened: %v", err)
			}
			if made := backups(t, home); len(made) != 0 {
				t.Errorf("copies: %v", made)
			}
			db, err := sql.Open("sqlite3", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var version, queued, named int
			err = db.QueryRow("SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM queue), (SELECT count(*) FROM migrations WHERE name LIKE '20261123c%')").
				Scan(&version, &queued, &named)
			if err != nil || version != 3 || queued != 2 || named != 0 {
				t.Errorf("version %d, %d queued, %d named, %v", version, queued, named, err)
			}
		})
	}
}
