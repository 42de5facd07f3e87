package storage

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"github.com/mattn/go-sqlite3"
)

// CreateSession implements [backend.Store].
func (s *Store) CreateSession(ctx context.Context, info backend.SessionInfo) error {
	if err := backend.CheckSessionID(info.ID); err != nil {
		return err
	}
	cols, err := columns(info)
	if err != nil {
		return err
	}
	return s.failed("create the session", s.execute(ctx, "insert-session", cols...))
}

// Sessions implements [backend.Store]. A session with a damaged row is listed
// with the values from its log.
func (s *Store) Sessions(ctx context.Context, folder string) ([]backend.SessionInfo, error) {
	list, err := s.sessions(ctx, "select-sessions", folder)
	if err != nil {
		return nil, err
	}
	for _, id := range s.health.suspected() {
		if slices.ContainsFunc(list, func(info backend.SessionInfo) bool { return info.ID == id }) {
			continue
		}
		if info, err := s.Session(ctx, id); err == nil && info.Folder == folder {
			list = append(list, info)
		}
	}
	slices.SortStableFunc(list, func(a, b backend.SessionInfo) int { return cmp.Compare(b.UpdatedAt, a.UpdatedAt) })
	return list, nil
}

// Waiting implements [backend.Store]. It does not look for damaged rows.
func (s *Store) Waiting(ctx context.Context) (map[string]int, error) {
	rows, err := s.read.QueryContext(ctx, s.query["count-waiting-sessions"], agent.StateAwaitingInput)
	if err != nil {
		return nil, s.failed("count the sessions", err)
	}
	defer rows.Close()
	counts := map[string]int{}
	for rows.Next() {
		var folder string
		var n int
		if err := rows.Scan(&folder, &n); err != nil {
			return nil, s.failed("count the sessions", err)
		}
		counts[folder] = n
	}
	return counts, s.failed("count the sessions", rows.Err())
}

// Helpers implements [backend.Store]. Those whose rows are damaged are listed as
// their logs have them.
func (s *Store) Helpers(ctx context.Context, parent string) ([]backend.SessionInfo, error) {
	list, err := s.sessions(ctx, "select-helpers", parent)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(info backend.SessionInfo) bool { return info.Helper != nil && info.Helper.Parent != parent })
	for _, id := range s.health.suspected() {
		if slices.ContainsFunc(list, func(info backend.SessionInfo) bool { return info.ID == id }) {
			continue
		}
		if named, err := s.parentOf(ctx, id); err != nil {
			return nil, s.failed("list the sessions", err)
		} else if named != parent {
			continue
		}
		if info, err := s.Session(ctx, id); err == nil && info.Helper != nil { // a fork of an agent's is not an agent's
			list = append(list, info)
		}
	}
	slices.SortFunc(list, func(a, b backend.SessionInfo) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

func (s *Store) sessions(ctx context.Context, query, of string) ([]backend.SessionInfo, error) {
	rows, err := s.read.QueryContext(ctx, s.query[query], of)
	if err != nil {
		return nil, s.failed("list the sessions", err)
	}
	defer rows.Close()
	var out []backend.SessionInfo
	for rows.Next() {
		info, damaged, err := s.scanInfo(rows)
		if err == nil && damaged {
			info, err = s.rebuild(ctx, info)
		}
		if errors.Is(err, sql.ErrNoRows) {
			continue // nothing shows that there was such a session
		}
		if err != nil {
			return nil, s.failed("list the sessions", err)
		}
		out = append(out, info)
	}
	return out, s.failed("list the sessions", rows.Err())
}

// Session implements [backend.Store].
func (s *Store) Session(ctx context.Context, id string) (backend.SessionInfo, error) {
	info, damaged, err := s.row(ctx, id)
	if damaged || errors.Is(err, sql.ErrNoRows) {
		info, err = s.rebuild(ctx, info)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return info, noSession(id)
	}
	if err != nil {
		return info, s.failed("read the session", err)
	}
	cut, err := s.interrupted(ctx, info)
	info.Interrupted = len(cut) > 0
	return info, err
}

// DeleteSessions implements [backend.Store].
func (s *Store) DeleteSessions(ctx context.Context, ids ...string) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return s.failed("delete the session", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	for _, id := range ids {
		done, err := tx.ExecContext(ctx, s.query["delete-session"], id)
		if err != nil {
			return s.failed("delete the session", err)
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			continue // its log goes with it
		}
		if done, err = tx.ExecContext(ctx, s.query["delete-log"], id); err != nil {
			return s.failed("delete the session", err)
		}
		if n, err := done.RowsAffected(); err == nil && n == 0 {
			return noSession(id)
		}
	}
	if err := tx.Commit(); err != nil {
		return s.failed("delete the session", err)
	}
	errs := []error{forget(s.home, ids)}
	for _, id := range ids {
		errs = append(errs, os.RemoveAll(s.blobDir(id)))
	}
	return s.failed("delete the session's files", errors.Join(errs...))
}

func noSession(id string) error {
	return backend.Problem(backend.ProblemSessionMissing, id)
}

// failed explains a failed read or write to the user; nil stays nil.
func (s *Store) failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	var known *backend.Error
	if errors.As(err, &known) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w", doing, err) // the store is fine
	}
	problem := backend.ProblemStoreFailed
	if errors.Is(err, syscall.ENOSPC) { // the file of a large event does not fit
		problem = backend.ProblemStoreFull
	}
	var e sqlite3.Error
	if errors.As(err, &e) {
		switch e.Code {
		case sqlite3.ErrInterrupt:
			return fmt.Errorf("%s: %w", doing, errors.Join(context.Canceled, err))
		case sqlite3.ErrBusy, sqlite3.ErrLocked:
			return locked(s.home, err)
		case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
			return corrupt(s.home, err.Error())
		case sqlite3.ErrFull:
			problem = backend.ProblemStoreFull
		}
	}
	return backend.Problem(problem, s.home).Because(fmt.Errorf("%s: %w", doing, err))
}
