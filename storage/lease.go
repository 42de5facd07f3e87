package storage

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"atelier.dev/atelier/backend"
	"github.com/gofrs/flock"
)

// leases are file locks, one for each session. The system releases them when
// their process ends, however it ends.
type leases struct {
	dir  string
	mu   sync.Mutex
	held map[string]*flock.Flock
}

// Lease implements [backend.Store].
func (s *Store) Lease(session string) (func(), error) {
	if s.newer {
		return nil, backend.Problem(backend.ProblemStoreReadOnly, s.path())
	}
	lock := flock.New(filepath.Join(s.leases.dir, filepath.Base(session)+".lock"), flock.SetPermissions(0o600))
	if !s.leases.reserve(session, lock) {
		return nil, busy(session)
	}
	release := func() { s.leases.release(session) }
	if err := os.MkdirAll(s.leases.dir, 0o700); err != nil {
		release()
		return nil, s.failed("reserve the session", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaseWait)
	defer cancel()
	switch ok, err := lock.TryLockContext(ctx, leaseWait/10); {
	case ok:
		return release, nil
	case err == nil || errors.Is(err, context.DeadlineExceeded):
		release()
		return nil, busy(session)
	default:
		release()
		return nil, s.failed("reserve the session", err)
	}
}

// taken reports whether a process runs a session. One that has just ended may still
// have taken it.
func (l *leases) taken(session string) bool {
	l.mu.Lock()
	own := l.held[session] != nil
	l.mu.Unlock()
	if own {
		return true
	}
	path := filepath.Join(l.dir, filepath.Base(session)+".lock")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY)) // shared, so that a lease has to wait for an instant only
	free, err := lock.TryRLock()
	return lock.Close() != nil || err != nil || !free
}

// leaseWait limits the wait for a lease. If a process is killed while it starts
// a command, the command holds its lock for an instant.
const leaseWait = 300 * time.Millisecond

// reserve claims a session within this process; it reports false if the session
// is already claimed.
func (l *leases) reserve(session string, lock *flock.Flock) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[session] != nil {
		return false
	}
	if l.held == nil {
		l.held = map[string]*flock.Flock{}
	}
	l.held[session] = lock
	return true
}

func busy(session string) error {
	return backend.Problem(backend.ProblemSessionElsewhere, session)
}

func (l *leases) release(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lock := l.held[session]; lock != nil {
		_ = lock.Close() // releases the lock; the file stays for the next holder
		delete(l.held, session)
	}
}

func (l *leases) releaseAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for session, lock := range l.held {
		_ = lock.Close()
		delete(l.held, session)
	}
}
