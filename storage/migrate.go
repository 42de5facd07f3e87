package storage

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"

	"atelier.dev/atelier/backend"
	"github.com/mattn/go-sqlite3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// counted lists the migrations from the time when databases only counted them,
// in user_version. The list never grows.
var counted = []string{"20261121_sessions", "20261121b_ledger", "20261121c_queue", "20261121d_helpers"}

// migrate runs the migrations that the database has not seen, in the order of
// their names and in one transaction, which is taken back if one fails or if its
// result does not pass the checks. A database that has anything is copied first.
// The table migrations lists the ones that were run. user_version counts them,
// which keeps older programs from changing the database.
func (s *Store) migrate(ctx context.Context) error {
	known, err := migrationNames()
	if err != nil {
		return err
	}
	seen, _, err := seenMigrations(ctx, s.read)
	if err != nil {
		return openError(s.path(), err)
	}
	if len(seen) == len(known) {
		return nil
	}
	var copied string
	if len(seen) > 0 {
		if copied, err = s.backUp(ctx); err != nil {
			return err
		}
	}
	if err := s.migrateTo(ctx, known); err != nil {
		if copied != "" {
			_ = os.Remove(copied) // the database itself is unchanged
		}
		return err
	}
	if copied != "" {
		slog.Info("the database was updated", "copy from before", copied)
		return s.keepNewest()
	}
	return nil
}

// migrateTo runs what is missing. Another process may have been faster.
func (s *Store) migrateTo(ctx context.Context, known []string) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return openError(s.path(), err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	seen, named, err := seenMigrations(ctx, tx)
	if err != nil {
		return openError(s.path(), err)
	}
	if !named {
		if err := nameMigrations(ctx, tx, seen); err != nil {
			return openError(s.path(), err)
		}
	}
	var before map[string]int // a new database has none, and is checked once it is ready
	if len(seen) > 0 {
		if before, err = rowsOf(ctx, tx); err != nil {
			return openError(s.path(), err)
		}
	}
	last := "the count"
	for _, name := range known {
		if slices.Contains(seen, name) {
			continue
		}
		last = name
		if err := runMigration(ctx, tx, name); err != nil {
			return s.unmigrated(name, err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(known))); err != nil {
		return s.unmigrated(last, err)
	}
	if len(seen) > 0 {
		if err := checkMigrated(ctx, tx, before); err != nil {
			return s.unmigrated(last, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return s.unmigrated(last, err)
	}
	return nil
}

// unmigrated explains why a migration was taken back.
func (s *Store) unmigrated(name string, err error) error {
	var e sqlite3.Error
	if errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked) {
		return locked(s.path(), err)
	}
	if errors.As(err, &e) && (e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB) {
		return corrupt(s.path(), err.Error())
	}
	return backend.Problem(backend.ProblemMigration, s.path(), name).Because(err)
}

// keptRows are the tables that no migration takes anything from.
var keptRows = []string{"sessions", "events", "ledger", "approvals", "queue", "settings"}

// rowsOf counts the rows of those tables that exist.
func rowsOf(ctx context.Context, tx *sql.Tx) (map[string]int, error) {
	counts := map[string]int{}
	for _, table := range keptRows {
		var exists, n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?", table).Scan(&exists); err != nil {
			return nil, err
		}
		if exists == 0 {
			continue
		}
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			return nil, err
		}
		counts[table] = n
	}
	return counts, nil
}

// checkMigrated checks what migrations made of a database, before it is
// committed: that it is sound and has all rows.
func checkMigrated(ctx context.Context, tx *sql.Tx, before map[string]int) error {
	after, err := rowsOf(ctx, tx)
	if err != nil {
		return err
	}
	for table, n := range before {
		if after[table] < n {
			return fmt.Errorf("the table %s had %d rows and would have %d", table, n, after[table])
		}
	}
	var check string
	if err := tx.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&check); err != nil {
		return err
	}
	if check != "ok" {
		return fmt.Errorf("check the result: %s", check)
	}
	return nil
}

// unknownMigration names a migration that the database has seen and this program
// does not know; empty if there is none.
func (s *Store) unknownMigration(ctx context.Context) (string, error) {
	known, err := migrationNames()
	if err != nil {
		return "", err
	}
	seen, _, err := seenMigrations(ctx, s.read)
	for _, name := range seen {
		if !slices.Contains(known, name) {
			return name, nil
		}
	}
	return "", err
}

// migrationNames lists the migrations that this program knows, in order.
func migrationNames() ([]string, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	names := make([]string, 0, len(files))
	for _, f := range files { // in lexical order
		names = append(names, strings.TrimSuffix(path.Base(f), ".sql"))
	}
	return names, nil
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// seenMigrations lists the migrations that were run on the database, and reports
// whether it names them. An older one has only counted them.
func seenMigrations(ctx context.Context, db querier) (seen []string, named bool, err error) {
	var version, tables int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return nil, false, err
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'").Scan(&tables); err != nil {
		return nil, false, err
	}
	if tables == 0 {
		if version > len(counted) {
			return []string{fmt.Sprintf("number %d", version)}, false, nil
		}
		return slices.Clone(counted[:max(version, 0)]), false, nil
	}
	rows, err := db.QueryContext(ctx, "SELECT name FROM migrations")
	if err != nil {
		return nil, true, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, true, err
		}
		seen = append(seen, name)
	}
	if version > len(seen) {
		seen = append(seen, fmt.Sprintf("number %d", version))
	}
	return seen, true, rows.Err()
}

// nameMigrations writes the names of migrations that were only counted.
func nameMigrations(ctx context.Context, tx *sql.Tx, names []string) error {
	if _, err := tx.ExecContext(ctx, "CREATE TABLE migrations (name TEXT PRIMARY KEY)"); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := tx.ExecContext(ctx, "INSERT INTO migrations VALUES (?)", name); err != nil {
			return err
		}
	}
	return nil
}

func runMigration(ctx context.Context, tx *sql.Tx, name string) error {
	script, err := migrations.ReadFile("migrations/" + name + ".sql")
	if err != nil {
		return fmt.Errorf("read migration %s: %w", name, err)
	}
	if _, err := tx.ExecContext(ctx, string(script)); err != nil {
		return fmt.Errorf("run migration %s: %w", name, err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO migrations VALUES (?)", name); err != nil {
		return fmt.Errorf("note migration %s: %w", name, err)
	}
	return nil
}
