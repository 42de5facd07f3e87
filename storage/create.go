package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// CreateSessionFrom implements [backend.Store].
func (s *Store) CreateSessionFrom(ctx context.Context, info backend.SessionInfo, events iter.Seq2[agent.Event, error]) (backend.SessionInfo, error) {
	const doing = "save the session"
	tx, err := s.begin(ctx)
	if err != nil {
		return info, s.failed(doing, err)
	}
	var unread error // of the source, for which the store is not to blame
	filled, err := s.fill(ctx, tx, info, func(yield func(agent.Event, error) bool) {
		for ev, err := range events {
			unread = err
			if !yield(ev, err) {
				return
			}
		}
	})
	if err == nil {
		err = tx.Commit()
	}
	if err == nil {
		return filled, nil
	}
	left := s.failed(doing, errors.Join(undone(tx.Rollback()), s.removeUnused(ctx, info.ID)))
	if unread != nil {
		return info, errors.Join(unread, left)
	}
	return info, errors.Join(s.failed(doing, err), left)
}

// fill inserts a session and its events, and returns its row.
func (s *Store) fill(ctx context.Context, tx *sql.Tx, info backend.SessionInfo, events iter.Seq2[agent.Event, error]) (backend.SessionInfo, error) {
	cols, err := columns(info)
	if err != nil {
		return info, err
	}
	if _, err := tx.ExecContext(ctx, s.query["insert-session"], cols...); err != nil {
		return info, fmt.Errorf("insert session: %w", err)
	}
	for ev, err := range events {
		if err != nil {
			return info, err
		}
		if info.CreatedAt == 0 {
			info.CreatedAt = ev.At
		}
		ev.Session, ev.Seq = info.ID, info.Seq+1
		info.Apply(ev)
		if err := s.insertRow(ctx, tx, ev); err != nil {
			return info, err
		}
	}
	if cols, err = columns(info); err != nil {
		return info, err
	}
	if _, err := s.in(tx, "update-session").ExecContext(ctx, cols...); err != nil {
		return info, fmt.Errorf("update session: %w", err)
	}
	return info, nil
}

// undone is the error of a rollback, unless the transaction had ended already.
func undone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// removeUnused removes the large events of a session that was not created. If there
// is such a session, because its id was in use, nothing is removed.
func (s *Store) removeUnused(ctx context.Context, id string) error {
	if _, err := s.Session(context.WithoutCancel(ctx), id); err == nil {
		return nil
	}
	return os.RemoveAll(s.blobDir(id))
}
