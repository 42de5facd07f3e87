package search

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
	"sync"
	"sync/atomic"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"github.com/gofrs/flock"
	"github.com/mattn/go-sqlite3"
)

//go:embed schema.sql
var schema string

// File is the index's name in the home folder.
const File = "search.db"

// version is that of the schema and of what is indexed. An index of another
// version is rebuilt.
const version = 1

// Log is where the sessions are read from.
type Log interface {
	// Version is another number once something was stored, also by another process.
	Version(context.Context) (int64, error)
	// Heads lists the logs of all folders.
	Heads(context.Context) ([]backend.LogHead, error)
	// Session returns [backend.CodeNotFound] if there is no such session.
	Session(ctx context.Context, id string) (backend.SessionInfo, error)
	Events(context.Context, backend.EventRange) ([]agent.Event, error)
	// Close is called when the index is closed.
	Close() error
}

// Index finds texts in the sessions of a [Log]. It is safe for concurrent use.
type Index struct {
	path string
	log  Log
	// behind counts the sessions that the running pass has not read yet.
	behind  atomic.Int64
	changed chan struct{}
	asked   chan chan error
	stop    context.CancelFunc
	stopped chan struct{}

	// mu is held for writing while the file is replaced.
	mu sync.RWMutex
	db *database
	// broken says that the file is damaged.
	broken atomic.Bool
}

var _ backend.Searcher = (*Index)(nil)

// database is the open file.
type database struct {
	read, write *sql.DB
	file        os.FileInfo
	// have is how far the sessions were indexed when the goroutine looked last, and
	// seen the version of the log at which nothing was missing; -1 is none.
	have map[string]known
	seen int64
}

// Open returns the index in a home folder. Nothing is read before it is needed.
// Close stops its goroutine and closes the file.
func Open(home string, log Log) *Index {
	ctx, stop := context.WithCancel(context.Background())
	ix := &Index{
		path: filepath.Join(home, File), log: log, stop: stop,
		changed: make(chan struct{}, 1), asked: make(chan chan error), stopped: make(chan struct{}),
	}
	go func() {
		defer close(ix.stopped)
		ix.keep(ctx)
	}()
	return ix
}

// Close stops reading logs and closes the index.
func (ix *Index) Close() error {
	ix.stop()
	<-ix.stopped
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return errors.Join(ix.close(), ix.log.Close())
}

// Changed implements [backend.Searcher].
func (ix *Index) Changed() {
	select {
	case ix.changed <- struct{}{}:
	default:
	}
}

// CatchUp returns once everything is indexed that was in the logs when it was
// called. A file that cannot be used is a [backend.ProblemSearchFailed].
func (ix *Index) CatchUp(ctx context.Context) error {
	if !built {
		return backend.Problem(backend.ProblemSearchMissing)
	}
	done := make(chan error, 1)
	select {
	case ix.asked <- done:
	case <-ix.stopped:
		return errClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-done:
		return ix.explain(err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Behind returns how many sessions the running pass has not read yet; 0 if none runs.
func (ix *Index) Behind() int { return int(ix.behind.Load()) }

// Rebuild rebuilds the index.
func (ix *Index) Rebuild(ctx context.Context) error {
	ix.broken.Store(true)
	return ix.CatchUp(ctx)
}

var errClosed = errors.New("the search index is closed")

// The log is read in the background once it was quiet for this long, and after
// the second time at the latest.
const (
	quiet   = 3 * time.Second
	longest = time.Minute
)

// keep reads the logs when they have changed, and when it is asked to. It is the
// only goroutine that writes the index, so that there is one writer in a process.
func (ix *Index) keep(ctx context.Context) {
	later := time.NewTimer(quiet)
	later.Stop()
	var since time.Time // of the first change that was not read
	for {
		select {
		case <-ctx.Done():
			return
		case <-ix.changed:
			if since.IsZero() {
				since = time.Now()
			}
			later.Reset(max(0, min(quiet, time.Until(since.Add(longest)))))
		case <-later.C:
			since = time.Time{}
			if err := ix.pass(ctx); err != nil && ctx.Err() == nil {
				slog.Warn("could not index the sessions", "err", err)
			}
		case done := <-ix.asked:
			done <- ix.pass(ctx)
		}
	}
}

// pass reads on in all logs. A damaged index is replaced, once. One that another
// process replaces while it is read is opened again.
func (ix *Index) pass(ctx context.Context) error {
	if !built {
		return nil
	}
	err := ix.attempt(ctx)
	if isDamage(err) {
		slog.Warn("the search index is damaged and is made anew", "err", err)
		ix.broken.Store(true)
		err = ix.attempt(ctx)
	}
	if err != nil && ix.replaced() {
		err = ix.attempt(ctx)
	}
	return err
}

func (ix *Index) attempt(ctx context.Context) error {
	if err := ix.ready(ctx); err != nil {
		return err
	}
	return ix.catchUp(ctx)
}

// ready opens the file, or replaces it if it has to be. Another process may have
// replaced it as well.
func (ix *Index) ready(ctx context.Context) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.db != nil && !ix.broken.Load() && ix.current() {
		return nil
	}
	if err := ix.close(); err != nil {
		slog.Warn("could not close the search index", "err", err)
	}
	lock := flock.New(ix.path+".lock", flock.SetPermissions(0o600))
	if ok, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil || !ok {
		return fmt.Errorf("lock the search index: %w", err)
	}
	defer lock.Unlock() //nolint:errcheck // closing the file releases it as well
	if !ix.broken.Load() {
		err := ix.open(ctx)
		if err == nil || !isDamage(err) {
			return err
		}
		slog.Info("making the search index anew", "why", err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(ix.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the search index: %w", err)
		}
	}
	ix.broken.Store(false)
	return ix.open(ctx)
}

// current reports whether the open file is the one in the home folder. The
// caller holds the mutex.
func (ix *Index) current() bool {
	now, err := os.Stat(ix.path)
	return err == nil && os.SameFile(now, ix.db.file)
}

// replaced reports whether another process has replaced the open file.
func (ix *Index) replaced() bool {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.db != nil && !ix.current()
}

// errVersion counts as damage: the file has to be rebuilt.
var errVersion = errors.New("the search index is of another version")

// open opens the file, and creates the tables in an empty one.
func (ix *Index) open(ctx context.Context) (err error) {
	f, err := os.OpenFile(ix.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("create the search index: %w", err)
	}
	file, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("create the search index: %w", err)
	}
	if !file.Mode().IsRegular() {
		return fmt.Errorf("open the search index: %s is not a regular file", ix.path)
	}
	db := &database{file: file, seen: -1}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.close())
		}
	}()
	if db.write, err = connect(ix.path, "_txlock=immediate"); err != nil {
		return err
	}
	db.write.SetMaxOpenConns(1)
	if db.read, err = connect(ix.path, "_query_only=1"); err != nil {
		return err
	}
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("open the search index: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	var has, tables int
	if err := tx.QueryRowContext(ctx, "SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version").Scan(&has, &tables); err != nil {
		return fmt.Errorf("open the search index: %w", err)
	}
	if tables > 0 && has != version {
		return errVersion
	}
	if tables == 0 {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("%s\nPRAGMA user_version = %d", schema, version)); err != nil {
			return fmt.Errorf("create the search index: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("create the search index: %w", err)
	}
	ix.db = db
	return nil
}

// connect opens connections. A commit is not synced: what a crash of the system
// takes is read from the logs again.
func connect(path, options string) (*sql.DB, error) {
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
	dsn.RawQuery = "_journal_mode=WAL&_synchronous=NORMAL&_busy_timeout=10000&_cache_size=-16000&" + options
	return sql.Open("sqlite3", dsn.String())
}

func (ix *Index) close() error {
	db := ix.db
	ix.db = nil
	return db.close()
}

func (d *database) close() error {
	if d == nil {
		return nil
	}
	var errs []error
	for _, pool := range []*sql.DB{d.read, d.write} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(errs...)
}

// isDamage reports whether an error means that the index has to be rebuilt.
func isDamage(err error) bool {
	if errors.Is(err, errVersion) {
		return true
	}
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return false
	}
	// A table that is missing or has other columns is a plain error.
	return e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB || e.Code == sqlite3.ErrError
}
