package storage

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"atelier.dev/atelier/backend"
)

//go:embed migrations/*.sql
var migrations embed.FS

// counted lists the migrations from the time when databases only counted them,
// in user_version. The list never grows.
var counted = []string{"20261121_sessions", "20261121b_ledger", "20261121c_queue", "20261121d_helpers"}

// migrate runs the migrations that the database has not seen, in the order of
// their names and in one transaction. The table migrations lists the ones that
// were run. user_version counts them, which keeps older programs from opening
// the database.
func (s *Store) migrate(ctx context.Context, file string) error {
	known, err := migrationNames()
	if err != nil {
		return err
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return openError(file, err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	seen, err := seenMigrations(ctx, tx)
	if err != nil {
		return openError(file, err)
	}
	for _, name := range seen {
		if !slices.Contains(known, name) {
			return backend.Problem(backend.ProblemStoreNewer, file).Detailed(fmt.Sprintf("this program does not know the migration %q", name))
		}
	}
	if len(seen) == len(known) {
		return nil
	}
	for _, name := range known {
		if !slices.Contains(seen, name) {
			if err := runMigration(ctx, tx, name); err != nil {
				return openError(file, err)
			}
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(known))); err != nil {
		return openError(file, err)
	}
	if err := tx.Commit(); err != nil {
		return openError(file, err)
	}
	return nil
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

// seenMigrations lists the migrations that were run on the database. If it has
// only counted them, their names are added.
func seenMigrations(ctx context.Context, tx *sql.Tx) (seen []string, err error) {
	var version, named int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return nil, err
	}
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'").Scan(&named); err != nil {
		return nil, err
	}
	if named == 0 {
		if version > len(counted) {
			return []string{fmt.Sprintf("number %d", version)}, nil
		}
		if _, err := tx.ExecContext(ctx, "CREATE TABLE migrations (name TEXT PRIMARY KEY)"); err != nil {
			return nil, err
		}
		for _, name := range counted[:version] {
			if _, err := tx.ExecContext(ctx, "INSERT INTO migrations VALUES (?)", name); err != nil {
				return nil, err
			}
		}
		return slices.Clone(counted[:version]), nil
	}
	rows, err := tx.QueryContext(ctx, "SELECT name FROM migrations")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		seen = append(seen, name)
	}
	if version > len(seen) {
		seen = append(seen, fmt.Sprintf("number %d", version))
	}
	return seen, rows.Err()
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
