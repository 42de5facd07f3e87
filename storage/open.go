package storage

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"atelier.dev/atelier/backend"
	"github.com/mattn/go-sqlite3"
)

//go:embed queries.sql
var queriesFile string

// Store is an open database and its folder.
type Store struct {
	home  string
	write *sql.DB
	read  *sql.DB
	query map[string]string
	// prepared are the statements of the writing transactions.
	prepared map[string]*sql.Stmt
	leases   leases
	settings settings
	hooks    hookLog
	// suspects are sessions that a query by folder may miss; see findDamage.
	suspects []string
	told     sync.Map // sessions whose damage was logged
}

var _ backend.Store = (*Store)(nil)

// File is the database's name in the home folder.
const File = "atelier.db"

// Open opens or creates the database in home, updates its schema and checks it.
// It creates home with mode 0700 and the database with 0600. Errors are
// *[backend.Error].
func Open(ctx context.Context, home string) (*Store, error) {
	path := filepath.Join(home, File)
	if err := prepare(home, path); err != nil {
		return nil, err
	}
	s := &Store{home: home, query: parseQueries(queriesFile), prepared: map[string]*sql.Stmt{}, leases: leases{dir: filepath.Join(home, "leases")}, hooks: hookLog{limits: usualHookLimits}}
	var err error
	if s.write, err = connect(path, "_txlock=immediate"); err != nil {
		return nil, openError(path, err)
	}
	s.write.SetMaxOpenConns(1)
	if s.read, err = connect(path, "_query_only=1"); err != nil {
		return nil, errors.Join(openError(path, err), s.write.Close())
	}
	if err := s.ready(ctx, path); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepare creates the folder and an empty private database file if they are
// missing.
func prepare(home, path string) error {
	unusable := func(err error) error {
		return backend.Problem(backend.ProblemHomeUnusable, home).Because(err)
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return unusable(err)
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil && !errors.Is(err, fs.ErrExist) { // another process may have been faster
			return unusable(err)
		}
		return f.Close()
	case err != nil:
		return unusable(err)
	case !info.Mode().IsRegular():
		return unusable(fmt.Errorf("%s is not a regular file", path))
	}
	return nil
}

func connect(path, options string) (*sql.DB, error) {
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
	dsn.RawQuery = "_journal_mode=WAL&_synchronous=FULL&_busy_timeout=5000&_foreign_keys=on&" + options
	return sql.Open("sqlite3", dsn.String())
}

// ready checks the database and updates its schema.
func (s *Store) ready(ctx context.Context, path string) error {
	var check string
	if err := s.read.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&check); err != nil {
		return openError(path, err)
	}
	if check != "ok" {
		return corrupt(path, check)
	}
	if err := s.migrate(ctx, path); err != nil {
		return err
	}
	if err := errors.Join(s.findDamage(ctx), s.repairLedger(ctx)); err != nil {
		return openError(path, err)
	}
	for _, name := range inTransactions {
		var err error
		if s.prepared[name], err = s.write.PrepareContext(ctx, s.query[name]); err != nil {
			return openError(path, fmt.Errorf("prepare %s: %w", name, err))
		}
	}
	return nil
}

// inTransactions names the queries that run for every event. Preparing them
// each time would cost more than running them.
var inTransactions = []string{
	"select-session", "select-last-seq", "insert-event", "insert-approval", "delete-approval", "update-session", "insert-ledger",
}

// in returns a prepared query in a transaction.
func (s *Store) in(tx *sql.Tx, name string) *sql.Stmt { return tx.Stmt(s.prepared[name]) }

// Close closes the database and releases remaining leases.
func (s *Store) Close() error {
	s.leases.releaseAll()
	var err error
	if s.read != nil {
		err = s.read.Close()
	}
	return errors.Join(err, s.write.Close())
}

// parseQueries splits a file of "-- name: x" sections.
func parseQueries(file string) map[string]string {
	queries := map[string]string{}
	for _, section := range strings.Split(file, "-- name: ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		queries[strings.TrimSpace(name)] = strings.TrimSpace(text)
	}
	return queries
}

// openError explains why a database could not be opened.
func openError(path string, err error) error {
	var e sqlite3.Error
	if errors.As(err, &e) {
		switch e.Code {
		case sqlite3.ErrBusy, sqlite3.ErrLocked:
			return locked(path, err)
		case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
			return corrupt(path, err.Error())
		}
	}
	return backend.Problem(backend.ProblemStoreUnopened, path).Because(err)
}

func locked(path string, err error) error {
	return backend.Problem(backend.ProblemStoreLocked, path).Because(err)
}

func corrupt(path, details string) error {
	return backend.Problem(backend.ProblemStoreDamaged, path).Detailed(details)
}
