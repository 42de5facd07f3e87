package storage

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// refold rebuilds everything that follows from the logs: the sessions' rows, the
// costs of their requests, what waits for a person, and the index of changed files.
func (s *Store) refold(ctx context.Context) error {
	ids, err := s.texts(ctx, s.query["select-session-ids"])
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.refoldSession(ctx, id); err != nil {
			return fmt.Errorf("fold session %s: %w", id, err)
		}
	}
	return s.rebuildFileSteps(ctx)
}

// folderOf returns where a session belongs that has lost all that names its folder:
// where its requests were counted, else where most sessions are, because a
// session without a folder is in no list.
func (s *Store) folderOf(ctx context.Context, session string) (folder string, err error) {
	err = s.read.QueryRowContext(ctx, s.query["select-folder-of-requests"], session).Scan(&folder)
	if errors.Is(err, sql.ErrNoRows) {
		err = s.read.QueryRowContext(ctx, s.query["select-main-folder"]).Scan(&folder)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return folder, err
}

func (s *Store) refoldSession(ctx context.Context, id string) error {
	row, damaged, err := s.row(ctx, id)
	if err != nil {
		return err
	}
	info, copied, err := s.fold(ctx, row)
	if errors.Is(err, sql.ErrNoRows) && !damaged { // the row is all that is left
		info, err = row, nil
		info.Seq, info.State = 0, agent.StateIdle
	}
	tx, txErr := s.begin(ctx)
	if txErr != nil {
		return txErr
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if errors.Is(err, sql.ErrNoRows) {
		if _, err := tx.ExecContext(ctx, s.query["delete-session"], id); err != nil {
			return err
		}
		return tx.Commit()
	}
	if err != nil {
		return err
	}
	if info.Folder == "" {
		if info.Folder, err = s.folderOf(ctx, id); err != nil {
			return err
		}
	}
	cols, err := columns(info)
	if err != nil {
		return err
	}
	if _, err := s.in(tx, "update-session").ExecContext(ctx, cols...); err != nil {
		return err
	}
	err = s.eachEvent(ctx, id, copied, func(ev agent.Event) error {
		if request, ok := agent.RequestOf(ev.Data); ok {
			row := ledgerRow(ev, info, request)
			_, err := tx.ExecContext(ctx, s.query["replace-ledger"], append(row, sumOf(row...))...)
			return err
		}
		return s.follow(ctx, tx, ev, info)
	})
	return errors.Join(err, tx.Commit())
}

// fold folds a session's row from its log. copied is the place up to which the log
// was another session's: what that cost is counted there. It fails with
// [sql.ErrNoRows] if there is no log.
func (s *Store) fold(ctx context.Context, row backend.SessionInfo) (info backend.SessionInfo, copied int64, err error) {
	info = backend.SessionInfo{
		ID: row.ID, Folder: row.Folder, State: agent.StateIdle, CreatedAt: row.CreatedAt, Helper: row.Helper, Settings: row.Settings,
	}
	info.Settings.Mode = cmp.Or(info.Settings.Mode, agent.ModeDefault)
	info.Usage.Known = true
	err = s.eachEvent(ctx, row.ID, 0, func(ev agent.Event) error {
		switch d := ev.Data.(type) {
		case agent.SessionStart:
			info.Folder = cmp.Or(d.Folder, info.Folder)
			info.Helper = cmp.Or(d.Helper, info.Helper)
		case agent.Forked, agent.Imported:
			copied = ev.Seq
		}
		info.CreatedAt = cmp.Or(info.CreatedAt, ev.At)
		info.Apply(ev)
		return nil
	})
	if err == nil && info.Seq == 0 {
		err = sql.ErrNoRows
	}
	return info, copied, err
}

// eachEvent calls do with the readable events of a session after a place.
func (s *Store) eachEvent(ctx context.Context, session string, after int64, do func(agent.Event) error) error {
	for {
		got, err := s.readEvents(ctx, backend.EventRange{Session: session, After: after, Limit: rebuildPage})
		if err != nil {
			return err
		}
		for _, ev := range got.events {
			if err := do(ev); err != nil {
				return err
			}
		}
		if got.rows < rebuildPage || got.last <= after {
			return nil
		}
		after = got.last
	}
}
