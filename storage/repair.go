package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"atelier.dev/atelier/backend"
	"github.com/gofrs/flock"
)

// Repaired says what a repair kept and what is lost.
type Repaired struct {
	// Copy is the folder with the files of the database as they were.
	Copy string
	// Sessions, Events, Settings and Requests count what was kept; requests are the
	// rows of the ledger.
	Sessions, Events, Settings, Requests int
	// LostEvents counts the events that sessions had and that cannot be read,
	// and LostSessions the sessions of which only the name is left.
	LostEvents, LostSessions, LostSettings int
	// Lacking are the sessions that lack something.
	Lacking []Lacking
	// Returned says that sessions which were deleted may be back, because the list
	// of free pages cannot be read.
	Returned bool
}

// Lacking is a session that lacks some of the events that it had.
type Lacking struct {
	Session     string
	Missing, Of int64
}

// derived are files beside the database that can be rebuilt from it.
var derived = []string{"search.db", "search.db-wal", "search.db-shm"}

// parts are the files of a database.
var parts = []string{"", "-wal", "-shm"}

// Repair copies the database in home and replaces it by a new one with every row
// that can be read: events, settings, what waits for delivery and the log of hooks.
// Everything else is made from the log: the sessions' rows, the ledger, what waits
// for a person and all indexes. Nobody may have the database open. Until the
// new one is complete, the old one is not touched. Errors are *[backend.Error].
func Repair(ctx context.Context, home string) (Repaired, error) {
	path := filepath.Join(home, File)
	failed := func(err error) (Repaired, error) {
		var known *backend.Error
		if errors.As(err, &known) {
			return Repaired{}, err
		}
		return Repaired{}, backend.Problem(backend.ProblemRepairFailed, path).Because(err)
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return failed(cmpErr(err, fmt.Errorf("%s is not a regular file", path)))
	}
	release, err := alone(home)
	if err != nil {
		return failed(err)
	}
	defer release()
	had, err := marked(home)
	if err != nil {
		return failed(err)
	}
	// The copy, and the new database, which may be as large.
	if err := needRoom(path, home, path, path+"-wal", path, path+"-wal"); err != nil {
		return failed(err)
	}
	temporary, err := os.MkdirTemp(home, "repair-")
	if err != nil {
		return failed(err)
	}
	defer os.RemoveAll(temporary)
	result, err := rebuildFrom(ctx, home, temporary, had)
	if err != nil {
		return failed(err)
	}
	if result.Events+result.Settings+result.Requests+result.Sessions == 0 {
		return failed(backend.Problem(backend.ProblemRepairEmpty, path))
	}
	if result.Copy, err = copyAside(home); err != nil {
		return failed(err)
	}
	if err := swap(home, temporary); err != nil {
		return failed(fmt.Errorf("%w; the files as they were are in %s", err, result.Copy))
	}
	return result, eachMark(home, func(mark, _ string, _ int64, runs bool) error {
		if runs {
			return nil
		}
		return unlessGone(os.Remove(mark)) // what is lost is in the result
	})
}

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// alone keeps every other process from opening the database until release is
// called. It fails if one has it open.
func alone(home string) (release func(), err error) {
	dir := filepath.Join(home, marks)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(home, File)
	lock := flock.New(filepath.Join(dir, repairing), flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil {
		return nil, err
	} else if !ok {
		return nil, backend.Problem(backend.ProblemStoreRepairing, path)
	}
	running := false
	err = eachMark(home, func(_, _ string, _ int64, runs bool) error {
		running = running || runs
		return nil
	})
	if err == nil && running {
		err = backend.Problem(backend.ProblemStoreInUse, path)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func() { _ = lock.Close() }, nil
}

// marked returns the last places that killed processes stored, by session.
func marked(home string) (map[string]int64, error) {
	had := map[string]int64{}
	err := eachMark(home, func(_, session string, seq int64, _ bool) error {
		if session != "" {
			had[session] = max(had[session], seq)
		}
		return nil
	})
	return had, err
}

// rebuildFrom makes a new database in a folder from the one in home. had are
// places that sessions are known to have reached.
func rebuildFrom(ctx context.Context, home, folder string, had map[string]int64) (result Repaired, err error) {
	p, closePages, err := openPages(filepath.Join(home, File))
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, closePages()) }()
	into, err := Open(ctx, folder)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, into.Close()) }()                            // which empties the write-ahead log
	if _, err := into.write.ExecContext(ctx, "PRAGMA synchronous = OFF"); err != nil { // the file is synced at the end
		return result, err
	}
	g := salvage{into: into, from: &Store{home: home}, sessions: map[string]bool{}, had: had}
	if err := g.run(ctx, p); err != nil {
		return result, err
	}
	result.LostSettings, result.Returned = g.damagedSettings, p.headless
	if err := result.countSessions(ctx, into, had); err != nil {
		return result, err
	}
	into.home = home // where the files of large events are
	err = into.refold(ctx)
	into.home = folder
	if err != nil {
		return result, err
	}
	for table, n := range map[string]*int{"sessions": &result.Sessions, "events": &result.Events, "settings": &result.Settings, "ledger": &result.Requests} {
		if err := into.read.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(n); err != nil {
			return result, err
		}
	}
	return result, into.quickCheck(ctx, "PRAGMA quick_check(1)")
}

// countSessions finds what sessions lack, before their rows are folded.
func (r *Repaired) countSessions(ctx context.Context, s *Store, had map[string]int64) error {
	ids, err := s.texts(ctx, s.query["select-session-ids"])
	if err != nil {
		return err
	}
	for id := range had {
		if !slices.Contains(ids, id) {
			r.LostSessions++
			r.LostEvents += int(had[id])
			r.Lacking = append(r.Lacking, Lacking{id, had[id], had[id]})
		}
	}
	for _, id := range ids {
		var count, last int64
		if err := s.read.QueryRowContext(ctx, s.query["count-events"], id).Scan(&count, &last); err != nil {
			return err
		}
		info, damaged, err := s.row(ctx, id)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if !damaged {
			last = max(last, info.Seq)
		}
		last = max(last, had[id])
		if count < last {
			r.LostEvents += int(last - count)
			r.Lacking = append(r.Lacking, Lacking{id, last - count, last})
		}
		if count == 0 && last > 0 {
			r.LostSessions++
		}
	}
	return nil
}

// copyAside copies the files of the database into a folder of their own.
func copyAside(home string) (dir string, err error) {
	dir = filepath.Join(home, Backups, time.Now().UTC().Format("repaired-20060102-150405.000"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for _, part := range parts {
		err := copyFile(filepath.Join(home, File+part), filepath.Join(dir, File+part))
		if err != nil && !(part != "" && errors.Is(err, fs.ErrNotExist)) {
			return "", fmt.Errorf("copy the database: %w", err)
		}
	}
	return dir, syncDir(dir)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// swap replaces the old database with the new one. The old write-ahead log goes
// first, because SQLite would take it for the new one's.
func swap(home, folder string) error {
	for _, name := range append([]string{File + "-wal", File + "-shm"}, derived...) {
		if err := os.Remove(filepath.Join(home, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	fresh := filepath.Join(folder, File)
	return errors.Join(syncFile(fresh), os.Rename(fresh, filepath.Join(home, File)), syncDir(home))
}
