package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"atelier.dev/atelier/backend"
	"github.com/mattn/go-sqlite3"
)

// CreateSession implements [backend.Store].
func (s *Store) CreateSession(ctx context.Context, info backend.SessionInfo) error {
	settings, usage, err := encodeInfo(info)
	if err != nil {
		return err
	}
	var helper sql.NullString
	if info.Helper != nil {
		b, err := json.Marshal(info.Helper)
		if err != nil {
			return fmt.Errorf("encode helper: %w", err)
		}
		helper = sql.NullString{String: string(b), Valid: true}
	}
	_, err = s.write.ExecContext(ctx, s.query["insert-session"], info.ID, info.Folder, info.Title, info.State,
		settings, info.CreatedAt, info.UpdatedAt, info.Seq, info.LastEnd, usage, info.Context, helper)
	return s.failed("create the session", err)
}

// Sessions implements [backend.Store].
func (s *Store) Sessions(ctx context.Context, folder string) ([]backend.SessionInfo, error) {
	return s.sessions(ctx, "select-sessions", folder)
}

// Helpers implements [backend.Store].
func (s *Store) Helpers(ctx context.Context, parent string) ([]backend.SessionInfo, error) {
	return s.sessions(ctx, "select-helpers", parent)
}

func (s *Store) sessions(ctx context.Context, query, of string) ([]backend.SessionInfo, error) {
	rows, err := s.read.QueryContext(ctx, s.query[query], of)
	if err != nil {
		return nil, s.failed("list the sessions", err)
	}
	defer rows.Close()
	var out []backend.SessionInfo
	for rows.Next() {
		info, err := scanInfo(rows)
		if err != nil {
			return nil, s.failed("list the sessions", err)
		}
		out = append(out, info)
	}
	return out, s.failed("list the sessions", rows.Err())
}

// Session implements [backend.Store].
func (s *Store) Session(ctx context.Context, id string) (backend.SessionInfo, error) {
	info, err := scanInfo(s.read.QueryRowContext(ctx, s.query["select-session"], id))
	if errors.Is(err, sql.ErrNoRows) {
		return info, noSession(id)
	}
	return info, s.failed("read the session", err)
}

// DeleteSessions implements [backend.Store].
func (s *Store) DeleteSessions(ctx context.Context, ids ...string) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return s.failed("delete the session", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	for _, id := range ids {
		done, err := tx.ExecContext(ctx, s.query["delete-session"], id)
		if err != nil {
			return s.failed("delete the session", err)
		}
		if n, err := done.RowsAffected(); err == nil && n == 0 {
			return noSession(id)
		}
	}
	if err := tx.Commit(); err != nil {
		return s.failed("delete the session", err)
	}
	var errs []error
	for _, id := range ids {
		errs = append(errs, os.RemoveAll(s.blobDir(id)))
	}
	return s.failed("delete the session's files", errors.Join(errs...))
}

// Setting implements [backend.Store].
func (s *Store) Setting(ctx context.Context, key string) (string, error) {
	var value string
	err := s.read.QueryRowContext(ctx, s.query["select-setting"], key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, s.failed("read a setting", err)
}

// SetSetting implements [backend.Store].
func (s *Store) SetSetting(ctx context.Context, key, value string) error {
	_, err := s.write.ExecContext(ctx, s.query["upsert-setting"], key, value)
	return s.failed("save a setting", err)
}

type scanner interface{ Scan(...any) error }

func scanInfo(row scanner) (info backend.SessionInfo, err error) {
	var settings, usage, helper []byte
	if err := row.Scan(&info.ID, &info.Folder, &info.Title, &info.State, &settings, &info.CreatedAt,
		&info.UpdatedAt, &info.Seq, &info.LastEnd, &usage, &info.Context,
		&info.Cost.Cost, &info.Cost.Unknown, &helper); err != nil {
		return info, err
	}
	if err := json.Unmarshal(settings, &info.Settings); err != nil {
		return info, fmt.Errorf("read settings of session %s: %w", info.ID, err)
	}
	if err := json.Unmarshal(usage, &info.Usage); err != nil {
		return info, fmt.Errorf("read usage of session %s: %w", info.ID, err)
	}
	if helper != nil {
		if err := json.Unmarshal(helper, &info.Helper); err != nil {
			return info, fmt.Errorf("read helper of session %s: %w", info.ID, err)
		}
	}
	return info, nil
}

func encodeInfo(info backend.SessionInfo) (settings, usage []byte, err error) {
	if settings, err = json.Marshal(info.Settings); err != nil {
		return nil, nil, fmt.Errorf("encode settings: %w", err)
	}
	if usage, err = json.Marshal(info.Usage); err != nil {
		return nil, nil, fmt.Errorf("encode usage: %w", err)
	}
	return settings, usage, nil
}

func noSession(id string) error {
	return &backend.Error{Code: backend.CodeNotFound, Message: fmt.Sprintf("There is no session %s.", id)}
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
	next := "Check that the disk is not full and try again."
	var e sqlite3.Error
	if errors.As(err, &e) {
		switch e.Code {
		case sqlite3.ErrBusy, sqlite3.ErrLocked:
			return locked(s.home, err)
		case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
			return corrupt(s.home, err.Error())
		case sqlite3.ErrFull:
			next = "The disk is full: make room and try again."
		}
	}
	return &backend.Error{
		Code: backend.CodeStoreFailed, Message: fmt.Sprintf("Atelier could not %s.", doing),
		Kept: "Everything saved before is still there.", Next: next, Details: err.Error(),
	}
}
