package storage

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"atelier.dev/atelier/backend"
	"github.com/gofrs/flock"
)

// leases are file locks, one a session: the system gives them up when their
// process ends, however it ends.
type leases struct {
	dir  string
	mu   sync.Mutex
	held map[string]*flock.Flock
}

// Lease implements [backend.Store].
func (s *Store) Lease(session string) (func(), error) {
	l := &s.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[session] != nil {
		return nil, busy(session)
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, s.failed("reserve the session", err)
	}
	lock := flock.New(filepath.Join(l.dir, filepath.Base(session)+".lock"), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, s.failed("reserve the session", err)
	}
	if !ok {
		return nil, busy(session)
	}
	if l.held == nil {
		l.held = map[string]*flock.Flock{}
	}
	l.held[session] = lock
	return func() { l.release(session) }, nil
}

func busy(session string) error {
	return &backend.Error{
		Code: backend.CodeBusy, Message: fmt.Sprintf("Session %s is being run by another Atelier.", session),
		Kept: "Nothing was changed.", Next: "Use it there, or close it there first.",
	}
}

func (l *leases) release(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lock := l.held[session]; lock != nil {
		_ = lock.Close() // releases; the file stays for the next holder
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
