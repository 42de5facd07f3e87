package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"atelier.dev/atelier/backend"
	"github.com/gofrs/flock"
)

// marks is the folder with one file for each process that has the database open.
// A process locks its file, writes into it what it stored last, and removes it
// when it closes the database. So a file that nobody locks was left by a process
// that was killed, and tells what must be in the log.
//
// A write to the file is not synced. It comes after a transaction that was, so
// the file never names more than the disk has, unless the write-ahead log was
// removed or cut since. SQLite takes what is left of such a log for the whole.
const marks = "open"

// maxMarks limits the files that are looked at when the database is opened. They
// are removed once they were looked at.
const maxMarks = 1000

// A file has a session's id and a place, padded to markSize. They are behind the
// first byte, which other handles cannot read or write on Windows while the file is locked.
const (
	markAt   = 16
	markSize = 128
)

// mark is the file of this process.
type mark struct {
	lock *flock.Flock
	file *os.File
}

// repairing names the lock of a process that repairs the database, beside the marks.
const repairing = "repair.lock"

// enter makes the mark of this process. It fails while the database is being
// repaired. A repair locks first and then looks for marks, so that one of the
// two notices the other.
func enter(home string) (mark, error) {
	dir := filepath.Join(home, marks)
	unusable := func(err error) (mark, error) {
		return mark{}, backend.Problem(backend.ProblemHomeUnusable, home).Because(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unusable(err)
	}
	m, err := newMark(dir)
	if err != nil {
		return unusable(err)
	}
	repair := flock.New(filepath.Join(dir, repairing), flock.SetPermissions(0o600))
	ok, err := repair.TryRLock()
	_ = repair.Close()
	if err != nil {
		m.leave()
		return unusable(err)
	}
	if !ok {
		m.leave()
		return mark{}, backend.Problem(backend.ProblemStoreRepairing, filepath.Join(home, File))
	}
	return m, nil
}

// markAttempts limits how often a process begins again to make its mark.
const markAttempts = 20

// newMark makes a file and locks it. Before it is locked, another process may take it
// for one that a killed process left, and remove it; then another one is made.
func newMark(dir string) (m mark, err error) {
	for range markAttempts {
		m = mark{lock: flock.New(filepath.Join(dir, rand.Text()), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))}
		ok, err := m.lock.TryLock()
		if err != nil {
			return m, fmt.Errorf("lock a file in %s: %w", dir, err)
		}
		if ok {
			if m.file, err = os.OpenFile(m.lock.Path(), os.O_RDWR, 0); err == nil {
				return m, nil
			}
		}
		m.leave()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return m, fmt.Errorf("open a file in %s: %w", dir, err)
		}
	}
	return m, fmt.Errorf("lock a file in %s: others keep removing it", dir)
}

// stored notes what was stored last.
func (m mark) stored(session string, seq int64) {
	line := fmt.Sprintf("%s %d", session, seq)
	if len(line) <= markSize {
		_, _ = m.file.WriteAt([]byte(line+strings.Repeat(" ", markSize-len(line))), markAt) // without it, a loss may go unnoticed
	}
}

// leave removes the mark.
func (m mark) leave() {
	_ = m.file.Close() // which is nil if it was not opened
	_ = m.lock.Close()
	_ = os.Remove(m.lock.Path()) // if another process was faster, it found that nothing is missing
}

// eachMark calls do with the place that each mark names, and with whether its
// process still runs; a mark that names no place has an empty session.
func eachMark(home string, do func(path, session string, seq int64, runs bool) error) error {
	dir, err := os.Open(filepath.Join(home, marks))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxMarks) // the end of the folder is not a failure
	var errs []error
	for _, name := range names {
		if name == repairing {
			continue
		}
		lock := flock.New(filepath.Join(dir.Name(), name), flock.SetFlag(os.O_RDWR))
		ok, err := lock.TryLock()
		if errors.Is(err, fs.ErrNotExist) {
			continue // its process has just closed the database
		}
		session, rest, _ := strings.Cut(noted(lock.Path()), " ")
		seq, _ := strconv.ParseInt(rest, 10, 64)
		errs = append(errs, do(lock.Path(), session, seq, !ok), lock.Close())
	}
	return errors.Join(errs...)
}

// noted returns the text of a mark.
func noted(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text := make([]byte, markSize)
	n, _ := f.ReadAt(text, markAt) // an empty one ends early
	return strings.Trim(string(text[:n]), " \x00")
}

// reviewMarks looks at the marks of processes that were killed for what they
// stored and is missing. The mark of something that is missing stays until the user
// has seen it; see [Store.Accept].
func (s *Store) reviewMarks(ctx context.Context) error {
	return eachMark(s.home, func(path, session string, seq int64, runs bool) error {
		if runs {
			return nil
		}
		if session != "" {
			var newest int64
			if err := s.read.QueryRowContext(ctx, s.query["select-last-seq"], session).Scan(&newest); err != nil {
				return err
			}
			if newest < seq {
				s.health.gone(backend.LostEvents{Session: session, From: newest + 1, To: seq})
				return nil
			}
		}
		return unlessGone(os.Remove(path))
	})
}

// unlessGone drops the error about a mark that another process has removed meanwhile.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Accept forgets what the marks of killed processes say is missing.
func (s *Store) Accept() error {
	err := eachMark(s.home, func(path, session string, _ int64, runs bool) error {
		if runs || session == "" {
			return nil
		}
		return unlessGone(os.Remove(path))
	})
	s.health.accept()
	return s.failed("forget what was lost", err)
}

// forget removes what the marks in a folder say of deleted sessions, also those of
// running processes.
func forget(home string, ids []string) error {
	return eachMark(home, func(path, session string, _ int64, runs bool) error {
		if !slices.Contains(ids, session) {
			return nil
		}
		if runs {
			return unlessGone(os.Truncate(path, 0))
		}
		return unlessGone(os.Remove(path))
	})
}
