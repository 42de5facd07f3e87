// Package sessionlog keeps the logs of package agent/sessions in SQLite, for programs that use
// the library with a database of their own. It takes an open one, so that the program chooses
// the driver.
package sessionlog

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/sessions"
)

// Log is a [sessions.Log] in a database.
type Log struct{ db *sql.DB }

var _ sessions.Log = (*Log)(nil)

// Open returns the log in a database, and makes its table if there is none.
func Open(ctx context.Context, db *sql.DB) (*Log, error) {
	const table = `CREATE TABLE IF NOT EXISTS session_events (
		session TEXT NOT NULL, seq INTEGER NOT NULL, event TEXT NOT NULL, PRIMARY KEY (session, seq)) WITHOUT ROWID`
	if _, err := db.ExecContext(ctx, table); err != nil {
		return nil, fmt.Errorf("make the table of sessions: %w", err)
	}
	return &Log{db}, nil
}

// Append implements [sessions.Log].
func (l *Log) Append(ctx context.Context, session string, count int64, events []agent.Event) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin to save a session: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	for i, ev := range events {
		b, err := json.Marshal(ev)
		if err != nil {
			return fmt.Errorf("encode an event: %w", err)
		}
		// The first statement writes, so that no other program writes meanwhile.
		const insert = `INSERT INTO session_events (session, seq, event)
			SELECT ?1, ?2, ?3 WHERE (SELECT COALESCE(MAX(seq), 0) FROM session_events WHERE session = ?1) = ?2 - 1`
		done, err := tx.ExecContext(ctx, insert, session, count+int64(i)+1, string(b))
		if err != nil {
			return fmt.Errorf("save an event: %w", err)
		}
		if n, err := done.RowsAffected(); err != nil || n != 1 {
			return sessions.ErrConflict
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("save a session: %w", err)
	}
	return nil
}

// Events implements [sessions.Log].
func (l *Log) Events(ctx context.Context, session string) (events []agent.Event, err error) {
	rows, err := l.db.QueryContext(ctx, "SELECT event FROM session_events WHERE session = ? ORDER BY seq", session)
	if err != nil {
		return nil, fmt.Errorf("read a session: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		var ev agent.Event
		if err := rows.Scan(&text); err != nil {
			return nil, fmt.Errorf("read an event: %w", err)
		}
		if err := json.Unmarshal([]byte(text), &ev); err != nil {
			return nil, fmt.Errorf("decode event %d: %w", len(events)+1, err)
		}
		events = append(events, ev)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read a session: %w", err)
	}
	if len(events) == 0 {
		return nil, sessions.ErrNotFound
	}
	return events, nil
}

// Sessions implements [sessions.Log].
func (l *Log) Sessions(ctx context.Context) (ids []string, err error) {
	rows, err := l.db.QueryContext(ctx, "SELECT DISTINCT session FROM session_events")
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// Delete implements [sessions.Log].
func (l *Log) Delete(ctx context.Context, session string) error {
	if _, err := l.db.ExecContext(ctx, "DELETE FROM session_events WHERE session = ?", session); err != nil {
		return fmt.Errorf("delete a session: %w", err)
	}
	return nil
}
