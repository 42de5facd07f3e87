package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"atelier.dev/atelier/agent"
)

// repairLedger rewrites rows of the ledger that do not match their checksum:
// from the log, which has their source, or without the figures if the log no
// longer has it. An unknown cost is counted as unknown, whereas a wrong one
// would be believed. It runs when the database is opened.
func (s *Store) repairLedger(ctx context.Context) error {
	damaged, err := s.damagedLedgerRows(ctx)
	if err != nil || len(damaged) == 0 || s.newer {
		return err
	}
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	for _, row := range damaged {
		fresh, err := s.ledgerRowFromLog(ctx, row)
		if err != nil {
			return err
		}
		slog.Warn("a row of the ledger was damaged", "session", row[0], "seq", row[1], "restored", fresh != nil)
		if fresh == nil {
			fresh = row
			for i := firstFigure; i <= lastFigure; i++ {
				fresh[i] = nil
			}
		}
		if _, err := tx.ExecContext(ctx, s.query["replace-ledger"], append(fresh, sumOf(fresh...))...); err != nil {
			return fmt.Errorf("repair ledger row: %w", err)
		}
	}
	return tx.Commit()
}

// damagedLedgerRows returns damaged rows without their checksums, in the order
// of the columns.
func (s *Store) damagedLedgerRows(ctx context.Context) (damaged [][]any, err error) {
	rows, err := s.read.QueryContext(ctx, s.query["select-ledger"])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		values := make([]any, ledgerColumns+1)
		places := make([]any, len(values))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		row, sum := values[:ledgerColumns:ledgerColumns], values[ledgerColumns]
		if sum != sumOf(row...) {
			damaged = append(damaged, row)
		}
	}
	return damaged, rows.Err()
}

// ledgerRowFromLog makes a row from its event; nil if the event cannot be read.
func (s *Store) ledgerRowFromLog(ctx context.Context, row []any) ([]any, error) {
	session, isText := row[0].(string)
	seq, isNumber := row[1].(int64)
	if !isText || !isNumber {
		return nil, nil
	}
	ev, damaged, err := s.scanEvent(s.read.QueryRowContext(ctx, s.query["select-oldest-events"], session, seq-1, seq+1, 1), session)
	if errors.Is(err, sql.ErrNoRows) || damaged != nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	request, ok := agent.RequestOf(ev.Data)
	info, damagedInfo, err := s.row(ctx, session)
	if errors.Is(err, sql.ErrNoRows) || damagedInfo || !ok {
		return nil, nil
	}
	return ledgerRow(ev, info, request), err
}
