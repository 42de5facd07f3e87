package storage

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
)

// stepOf returns the id of a step and the files that it changed.
func stepOf(data agent.Payload) (id string, files []agent.FileRecord) {
	id, changed := agent.Recorded(data)
	if d, ok := data.(agent.FilesRestored); ok {
		id, changed = d.ID, &d.FilesChanged
	}
	if changed == nil {
		return id, nil
	}
	return id, changed.Files
}

// noteFiles enters what an event says of changed files into the index of steps.
func (s *Store) noteFiles(ctx context.Context, tx *sql.Tx, ev agent.Event) error {
	id, files := stepOf(ev.Data)
	for _, file := range files {
		if _, err := s.in(tx, "insert-file-step").ExecContext(ctx, file.Path, ev.At, ev.Session, ev.Seq, string(ev.Kind()), id); err != nil {
			return fmt.Errorf("insert step of file: %w", err)
		}
	}
	return nil
}

// rebuildPage is how many events are read at a time.
const rebuildPage = 500

// rebuildFileSteps rebuilds the index of the steps that changed files from the
// logs.
func (s *Store) rebuildFileSteps(ctx context.Context) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if _, err := tx.ExecContext(ctx, s.query["delete-file-steps"]); err != nil {
		return err
	}
	for last := (agent.Event{}); ; {
		page, err := s.changingEvents(ctx, tx, last)
		if err != nil {
			return err
		}
		for _, ev := range page {
			if ev.Data == nil { // it is damaged
				continue
			}
			if err := s.noteFiles(ctx, tx, ev); err != nil {
				return err
			}
		}
		if len(page) < rebuildPage {
			return tx.Commit()
		}
		last = page[len(page)-1]
	}
}

// changingEvents reads the next events that may say which files changed. A damaged
// one has no data.
func (s *Store) changingEvents(ctx context.Context, tx *sql.Tx, after agent.Event) (page []agent.Event, err error) {
	rows, err := tx.QueryContext(ctx, s.query["select-changing-events"], after.Session, after.Seq, rebuildPage)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var ev agent.Event
		var row storedEvent
		if err := rows.Scan(&ev.Session, &ev.Seq, &ev.Turn, &row.kind, &ev.At, &row.body, &row.blob, &row.sum); err != nil && !isConversion(err) {
			return nil, err
		} else if err == nil {
			decoded, damaged, err := s.decode(ev, row)
			if err != nil {
				return nil, err
			}
			if damaged == nil {
				ev = decoded
			}
		}
		page = append(page, ev)
	}
	return page, rows.Err()
}

// FileSteps implements [backend.FileHistory].
func (s *Store) FileSteps(ctx context.Context, r backend.FileRange) (steps []backend.FileStep, err error) {
	before := r.Before
	before.At = cmp.Or(before.At, maxSeq)
	place := filepath.Join(r.Folder, filepath.FromSlash(r.Worktree))
	rows, err := s.read.QueryContext(ctx, s.query["select-file-steps"], r.Path, r.Folder, before.At, before.Session, before.Seq, r.Limit, r.Worktree, place)
	if err != nil {
		return nil, s.failed("read who changed the file", err)
	}
	defer rows.Close()
	for rows.Next() {
		var step backend.FileStep
		var created int64
		var place [2]string
		if err := rows.Scan(&step.Session, &step.Seq, &step.Kind, &step.Call, &step.At, &created, &place[0], &place[1]); err != nil {
			return nil, s.failed("read who changed the file", err)
		}
		steps = append(steps, step)
	}
	return steps, s.failed("read who changed the file", rows.Err())
}

// TurnOf implements [backend.FileHistory]. It reads at most 20,000 rows around the
// event, and decodes one.
func (s *Store) TurnOf(ctx context.Context, ev agent.Event) (facts backend.TurnFacts, err error) {
	if ev.Turn == 0 {
		return facts, nil
	}
	began := ev.Seq
	prompt, damaged, err := s.scanEvent(s.read.QueryRowContext(ctx, s.query["select-prompt"], ev.Session, ev.Seq, ev.Turn), ev.Session)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return facts, s.failed("read who changed the file", err)
	case err == nil && damaged == nil:
		if input, ok := prompt.Data.(agent.UserInput); ok {
			facts.Prompt, began = input.Wrote(), prompt.Seq
		}
	}
	row := s.read.QueryRowContext(ctx, s.query["select-model"], ev.Session, ev.Seq, ev.Turn)
	if err := row.Scan(&facts.Provider, &facts.Model); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return facts, s.failed("read who changed the file", err)
	}
	var cost llm.Spending
	var requests int
	row = s.read.QueryRowContext(ctx, s.query["cost-of-turn"], ev.Session, began, ev.Turn)
	if err := row.Scan(&cost.Cost, &cost.Unknown, &requests); err != nil {
		return facts, s.failed("read who changed the file", err)
	}
	if requests > 0 {
		facts.Cost = &cost
	}
	return facts, nil
}
