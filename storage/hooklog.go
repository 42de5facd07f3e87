package storage

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"

	"atelier.dev/atelier/backend"
)

// hookLimits limit the log of hooks.
type hookLimits struct {
	kept, inAll, bytes int
	// every is after how many new records the log of all sessions is trimmed.
	every int
}

var usualHookLimits = hookLimits{backend.HookRecordsKept, backend.HookRecordsInAll, backend.HookBytesInAll, 200}

// hookLog counts what this process added to the log of hooks.
type hookLog struct {
	limits hookLimits
	mu     sync.Mutex
	added  int // since the log of all sessions was trimmed
	begun  bool
}

// due reports whether the log of all sessions is to be trimmed, now that some
// records are added. The first ones of a process are a reason, too.
func (l *hookLog) due(records int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.added += records
	if l.added < l.limits.every && l.begun {
		return false
	}
	l.added, l.begun = 0, true
	return true
}

// AddHookRecords implements [backend.HookLog].
func (s *Store) AddHookRecords(ctx context.Context, records ...backend.HookRecord) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return s.failed("log hooks", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	sessions := map[string]bool{}
	for _, r := range records {
		values := hookValues(r)
		values = append(values, len(r.Row)+len(r.Body), sumOf(values...), string(r.Body), sumOf(string(r.Body)))
		if _, err := tx.ExecContext(ctx, s.query["insert-hook-record"], values...); err != nil {
			return s.failed("log hooks", err)
		}
		sessions[r.Session] = true
	}
	for id := range sessions {
		if _, err := tx.ExecContext(ctx, s.query["trim-hook-log-of-session"], id, s.hooks.limits.kept); err != nil {
			return s.failed("trim the log of hooks", err)
		}
	}
	if s.hooks.due(len(records)) {
		if _, err := tx.ExecContext(ctx, s.query["trim-hook-log"], s.hooks.limits.inAll, s.hooks.limits.bytes); err != nil {
			return s.failed("trim the log of hooks", err)
		}
	}
	return s.failed("log hooks", tx.Commit())
}

// hookValues returns the columns of a record that its first checksum covers.
func hookValues(r backend.HookRecord) []any {
	return []any{r.Session, r.At, r.Hook, string(r.Point), r.Tool, r.CallID, r.Outcome, string(r.Row)}
}

// HookRecords implements [backend.HookLog].
func (s *Store) HookRecords(ctx context.Context, r backend.HookRange) ([]backend.HookRecord, error) {
	rows, err := s.read.QueryContext(ctx, s.query["select-hook-records"],
		r.Folder, r.Session, r.Hook, string(r.Point), r.Tool, r.CallID, r.Outcome, r.Before, r.Limit)
	if err != nil {
		return nil, s.failed("read the log of hooks", err)
	}
	defer rows.Close()
	var out []backend.HookRecord
	for rows.Next() {
		record, whole, err := scanHookRecord(rows.Scan)
		if err != nil {
			return nil, s.failed("read the log of hooks", err)
		}
		if !whole {
			continue
		}
		out = append(out, record)
	}
	return out, s.failed("read the log of hooks", rows.Err())
}

// HookRecord implements [backend.HookLog].
func (s *Store) HookRecord(ctx context.Context, folder string, id int64) (backend.HookRecord, error) {
	var body string
	var sum int64
	row := s.read.QueryRowContext(ctx, s.query["select-hook-record"], folder, id)
	r, whole, err := scanHookRecord(func(to ...any) error { return row.Scan(append(to, &body, &sum)...) })
	if errors.Is(err, sql.ErrNoRows) || err == nil && (!whole || sum != sumOf(body)) {
		return r, backend.Problem(backend.ProblemHookEntry)
	}
	r.Body = []byte(body)
	return r, s.failed("read the log of hooks", err)
}

// LastHookRecords implements [backend.HookLog].
func (s *Store) LastHookRecords(ctx context.Context, folder, session string, hooks []string) (map[string]backend.HookRecord, error) {
	last := map[string]backend.HookRecord{}
	for _, hook := range hooks {
		r, whole, err := scanHookRecord(s.read.QueryRowContext(ctx, s.query["select-last-hook-record"], hook, folder, session).Scan)
		if errors.Is(err, sql.ErrNoRows) || err == nil && !whole {
			continue
		}
		if err != nil {
			return nil, s.failed("read the log of hooks", err)
		}
		last[hook] = r
	}
	return last, nil
}

// scanHookRecord reads a record without its body, and reports whether it is whole.
func scanHookRecord(scan func(...any) error) (r backend.HookRecord, whole bool, err error) {
	var row string
	var sum int64
	err = scan(&r.ID, &r.Session, &r.At, &r.Hook, &r.Point, &r.Tool, &r.CallID, &r.Outcome, &row, &sum)
	if isConversion(err) {
		return r, false, nil
	}
	r.Row = []byte(row)
	if err == nil && sum != sumOf(hookValues(r)...) {
		slog.Warn("an entry of the log of hooks is damaged", "id", r.ID)
		return r, false, nil
	}
	return r, err == nil, err
}
