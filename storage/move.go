package storage

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// folderColumn is that of the folder in a row of the ledger.
const folderColumn = 2

// Folders implements [backend.Mover].
func (s *Store) Folders(ctx context.Context, limit int) (out []backend.SessionFolder, err error) {
	rows, err := s.read.QueryContext(ctx, s.query["select-folders"], limit)
	if err != nil {
		return nil, s.failed("list the folders", err)
	}
	defer rows.Close()
	for rows.Next() {
		var f backend.SessionFolder
		if err := rows.Scan(&f.Folder, &f.Sessions, &f.UpdatedAt); err != nil {
			return nil, s.failed("list the folders", err)
		}
		out = append(out, f)
	}
	return out, s.failed("list the folders", rows.Err())
}

// Move implements [backend.Mover].
func (s *Store) Move(ctx context.Context, from, to string, ids ...string) ([]string, error) {
	const doing = "bring the sessions over"
	list, err := s.Sessions(ctx, from)
	if err != nil {
		return nil, err
	}
	var moved []string
	for _, info := range list {
		if len(ids) > 0 && !slices.Contains(ids, info.ID) {
			continue
		}
		moved = append(moved, info.ID)
		if info.State != agent.StateProcessing && info.State != agent.StateAwaitingInput {
			continue
		}
		release, err := s.Lease(info.ID) // only a running session can have one
		if err != nil {
			return nil, err
		}
		defer release()
	}
	tx, err := s.begin(ctx)
	if err != nil {
		return nil, s.failed(doing, err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	at := time.Now().UnixMilli()
	for _, id := range moved {
		if err := s.moveSession(ctx, tx, agent.Event{Session: id, At: at, Data: agent.Moved{From: from, Folder: to}}); err != nil {
			return nil, s.failed(doing, err)
		}
	}
	return moved, s.failed(doing, tx.Commit())
}

func (s *Store) moveSession(ctx context.Context, tx *sql.Tx, ev agent.Event) error {
	info, err := s.appendTo(ctx, tx, []agent.Event{ev})
	if err != nil {
		return err
	}
	costs, err := ledgerOf(ctx, tx, s.query["select-ledger-of-session"], ev.Session)
	if err != nil {
		return err
	}
	for _, row := range costs {
		row[folderColumn] = info.Folder
		if _, err := tx.ExecContext(ctx, s.query["replace-ledger"], append(row, sumOf(row...))...); err != nil {
			return fmt.Errorf("move a row of the ledger: %w", err)
		}
	}
	return nil
}

// ledgerOf reads the rows of a session without their checksums.
func ledgerOf(ctx context.Context, tx *sql.Tx, query, session string) (out [][]any, err error) {
	rows, err := tx.QueryContext(ctx, query, session)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		row := make([]any, ledgerColumns)
		places := make([]any, ledgerColumns)
		for i := range row {
			places[i] = &row[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}
