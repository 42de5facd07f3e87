package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"atelier.dev/atelier/backend"
	"github.com/mattn/go-sqlite3"
)

// Backups is the folder, in the home folder, with the copies of the database that
// were made before it was changed.
const Backups = "backups"

// keptBackups is how many copies from before a migration stay. Older ones are
// removed when a new one was made and the migration succeeded.
const keptBackups = 3

// backUp copies the database before it is migrated, and returns the copy's path.
func (s *Store) backUp(ctx context.Context) (path string, err error) {
	failed := func(err error) (string, error) {
		var e sqlite3.Error
		if errors.As(err, &e) && (e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB) {
			return "", corrupt(s.path(), err.Error())
		}
		return "", backend.Problem(backend.ProblemBackupFailed, s.path()).Because(err)
	}
	dir := filepath.Join(s.home, Backups)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return failed(err)
	}
	if err := needRoom(s.path(), dir, s.path(), s.path()+"-wal"); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, "unfinished-")
	if err != nil {
		return failed(err)
	}
	defer os.Remove(f.Name()) // once it was renamed, there is nothing to remove
	if err := f.Close(); err != nil {
		return failed(err)
	}
	if _, err := s.write.ExecContext(ctx, "VACUUM INTO ?", f.Name()); err != nil {
		return failed(err)
	}
	path = filepath.Join(dir, time.Now().UTC().Format("atelier-20060102-150405.000.db"))
	if err := errors.Join(syncFile(f.Name()), os.Rename(f.Name(), path), syncDir(dir)); err != nil {
		return failed(err)
	}
	return path, nil
}

// keepNewest removes all but the newest copies from before migrations.
func (s *Store) keepNewest() error {
	copies, err := filepath.Glob(filepath.Join(s.home, Backups, "atelier-*.db"))
	if err != nil {
		return err
	}
	slices.Sort(copies)
	for _, old := range copies[:max(0, len(copies)-keptBackups)] {
		if err := os.Remove(old); err != nil {
			return backend.Problem(backend.ProblemBackupFailed, s.path()).Because(err)
		}
	}
	return nil
}

// needRoom fails if a disk has no room for copies of files, and some to spare.
func needRoom(database, dir string, files ...string) error {
	var size int64
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			size += info.Size()
		}
	}
	const spare = 16 << 20
	if free, known := freeBytes(dir); known && free < size+spare {
		megabytes := strconv.FormatInt((size+spare+1<<20-1)>>20, 10)
		return backend.Problem(backend.ProblemBackupRoom, database, megabytes).Because(fmt.Errorf("%d bytes are free", free))
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
