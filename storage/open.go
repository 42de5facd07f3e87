package storage

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage/teamwork"
	"github.com/mattn/go-sqlite3"
)

//go:embed queries.sql
var queriesFile string

// Store is an open database and its folder.
type Store struct {
	*teamwork.Tables // the boards, teams and messages of agents

	home  string
	write *sql.DB // nil if the database is only read
	read  *sql.DB
	query map[string]string
	// prepared are the statements of the writing transactions.
	prepared map[string]*sql.Stmt
	leases   leases
	hooks    hookLog
	health   health
	mark     mark
	// newer says that a newer program wrote the database, which is only read.
	newer bool
	told  sync.Map // sessions whose damage was logged
}

var _ backend.Store = (*Store)(nil)

// File is the database's name in the home folder.
const File = "atelier.db"

// Open opens or creates the database in home, updates its schema and checks it.
// It creates home with mode 0700 and the database with 0600. A database that a
// newer program wrote is only read. Errors are *[backend.Error].
func Open(ctx context.Context, home string) (*Store, error) {
	path := filepath.Join(home, File)
	if err := prepare(home, path); err != nil {
		return nil, err
	}
	m, err := enter(home)
	if err != nil {
		return nil, err
	}
	s := &Store{
		home: home, mark: m, query: parseQueries(queriesFile), prepared: map[string]*sql.Stmt{},
		leases: leases{dir: filepath.Join(home, "leases")}, hooks: hookLog{limits: usualHookLimits},
	}
	s.Tables = teamwork.New(teamwork.Config{Read: func() *sql.DB { return s.read }, Begin: s.begin, Failed: s.failed, Sum: sumOf, Enqueue: func(ctx context.Context, tx *sql.Tx, session string, m agent.Queued) error {
		return enqueue(ctx, s, tx, session, m)
	}})
	if s.write, err = connect(path, "_txlock=immediate"); err == nil {
		s.write.SetMaxOpenConns(1)
		s.read, err = connect(path, "_query_only=1")
	}
	if err == nil {
		err = firstConnection(ctx, s.read)
	}
	if err != nil {
		return nil, errors.Join(openError(path, err), s.Close())
	}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) path() string { return filepath.Join(s.home, File) }

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
		if errors.Is(err, fs.ErrExist) {
			return nil // another process was faster
		}
		if err != nil {
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

// firstConnection makes the first connection, which gives a new database its write-ahead
// log. SQLite does not wait for another process that does so at the same time, as it
// waits for other locks.
func firstConnection(ctx context.Context, db *sql.DB) error {
	begun := time.Now()
	again := time.NewTicker(firstWait / 500)
	defer again.Stop()
	for {
		err := db.PingContext(ctx)
		if e := (sqlite3.Error{}); !errors.As(err, &e) || e.Code != sqlite3.ErrBusy || time.Since(begun) >= firstWait {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return err
		}
	}
}

// firstWait is how long it tries: as long as SQLite waits for locks.
const firstWait = 5 * time.Second

// ready updates the schema and checks the database.
func (s *Store) ready(ctx context.Context) error {
	path := s.path()
	unknown, err := s.unknownMigration(ctx)
	switch {
	case err != nil:
		return openError(path, err)
	case unknown != "":
		err = s.onlyRead(ctx, unknown)
	default:
		err = s.migrate(ctx)
	}
	if err != nil {
		return err
	}
	if err := s.checkStart(ctx); err != nil {
		return openError(path, err)
	}
	if err := s.reviewMarks(ctx); err != nil {
		return openError(path, err)
	}
	if s.newer {
		return nil
	}
	for _, name := range inTransactions {
		if s.prepared[name], err = s.write.PrepareContext(ctx, s.query[name]); err != nil {
			return openError(path, fmt.Errorf("prepare %s: %w", name, err))
		}
	}
	return nil
}

// onlyRead connects to a database of a newer program so that nothing writes to
// it, if it still has the tables and columns that reading takes.
func (s *Store) onlyRead(ctx context.Context, unknown string) (err error) {
	path := s.path()
	newer := backend.Problem(backend.ProblemStoreNewer, path).Detailed(fmt.Sprintf("this program does not know the migration %q", unknown))
	if err := errors.Join(s.write.Close(), s.read.Close()); err != nil {
		return openError(path, err)
	}
	s.newer, s.write = true, nil
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro&_query_only=1&_busy_timeout=5000"}
	if s.read, err = sql.Open("sqlite3", dsn.String()); err != nil {
		return openError(path, err)
	}
	for name, query := range s.query {
		if !strings.HasPrefix(name, "select-") && !strings.HasPrefix(name, "costs-") && !strings.HasPrefix(name, "count-") {
			continue
		}
		statement, err := s.read.PrepareContext(ctx, query)
		if err != nil {
			slog.Warn("a database of a newer program cannot be read", "query", name, "error", err)
			return newer
		}
		if err := statement.Close(); err != nil {
			return openError(path, err)
		}
	}
	s.health.change(func(state *backend.StoreHealth) { state.ReadOnly = true })
	return nil
}

// begin begins a writing transaction. All writes go through it.
func (s *Store) begin(ctx context.Context) (*sql.Tx, error) {
	if s.newer {
		return nil, backend.Problem(backend.ProblemStoreReadOnly, s.path())
	}
	return s.write.BeginTx(ctx, nil)
}

// execute runs one writing statement.
func (s *Store) execute(ctx context.Context, name string, args ...any) error {
	if s.newer {
		return backend.Problem(backend.ProblemStoreReadOnly, s.path())
	}
	_, err := s.write.ExecContext(ctx, s.query[name], args...)
	return err
}

// inTransactions names the queries that run for every event. Preparing them
// each time would cost more than running them.
var inTransactions = []string{
	"select-session", "select-last-seq", "insert-event", "insert-approval", "delete-approval", "update-session", "insert-ledger",
	"insert-file-step",
}

// in returns a prepared query in a transaction.
func (s *Store) in(tx *sql.Tx, name string) *sql.Stmt { return tx.Stmt(s.prepared[name]) }

// Close closes the database and releases remaining leases.
func (s *Store) Close() error {
	s.leases.releaseAll()
	var errs []error
	for _, db := range []*sql.DB{s.read, s.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	s.mark.leave()
	return errors.Join(errs...)
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
	var known *backend.Error
	if errors.As(err, &known) {
		return err
	}
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
