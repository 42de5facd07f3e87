package storage

import (
	"context"
	"database/sql"
	"sync"

	"atelier.dev/atelier/backend"
)

// Logs reads the logs of all sessions and notices that they have changed, for an
// index of them. It is safe for concurrent use.
type Logs struct {
	*Store
	mu sync.Mutex
	// watch is a connection whose data_version tells of the commits of all others;
	// nil until it is needed. opened counts such connections.
	watch  *sql.Conn
	opened int64
}

// Logs returns the logs. They have to be closed before the store.
func (s *Store) Logs() *Logs { return &Logs{Store: s} }

// Version is another number once something was stored, also by another process.
func (l *Logs) Version(ctx context.Context) (version int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watch == nil {
		if l.watch, err = l.read.Conn(ctx); err != nil {
			return 0, l.failed("read the version of the database", err)
		}
		l.opened++
	}
	if err := l.watch.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
		_ = l.watch.Close() // it failed already
		l.watch = nil
		return 0, l.failed("read the version of the database", err)
	}
	return l.opened<<32 | version, nil
}

// Heads says how far the logs of all sessions of all folders go. It does not look for
// damaged rows.
func (l *Logs) Heads(ctx context.Context) ([]backend.LogHead, error) {
	rows, err := l.read.QueryContext(ctx, l.query["select-log-heads"])
	if err != nil {
		return nil, l.failed("list the sessions", err)
	}
	defer rows.Close()
	var out []backend.LogHead
	for rows.Next() {
		var h backend.LogHead
		if err := rows.Scan(&h.Session, &h.Folder, &h.Seq, &h.UpdatedAt); err != nil && !isConversion(err) {
			return nil, l.failed("list the sessions", err)
		}
		out = append(out, h)
	}
	return out, l.failed("list the sessions", rows.Err())
}

// Close ends the watch. The store stays open.
func (l *Logs) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watch == nil {
		return nil
	}
	err := l.watch.Close()
	l.watch = nil
	return err
}
