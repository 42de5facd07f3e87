package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// Queue implements [backend.Store].
func (s *Store) Queue(ctx context.Context, session string) ([]agent.Queued, error) {
	rows, err := s.read.QueryContext(ctx, s.query["select-queue"], session)
	if err != nil {
		return nil, s.failed("read what waits", err)
	}
	defer rows.Close()
	var out []agent.Queued
	for rows.Next() {
		var m agent.Queued
		var details sql.NullString
		if err := rows.Scan(&m.ID, &m.Verb, &m.Text, &details); err != nil {
			return nil, s.failed("read what waits", err)
		}
		if details.Valid {
			if err := readQueued(details.String, &m); err != nil {
				return nil, s.failed("read what waits", err)
			}
		}
		out = append(out, m)
	}
	return out, s.failed("read what waits", rows.Err())
}

// queuedDetail is what few messages have.
type queuedDetail struct {
	Typed string          `json:"typed,omitempty"`
	Skill *agent.SkillUse `json:"skill,omitempty"`
	From  string          `json:"from,omitempty"`
	Media []llm.Media     `json:"media,omitempty"`
}

func queuedDetails(m agent.Queued) sql.NullString {
	if m.Typed == "" && m.Skill == nil && m.From == "" && m.Media == nil {
		return sql.NullString{}
	}
	b, err := json.Marshal(queuedDetail{m.Typed, m.Skill, m.From, m.Media})
	if err != nil {
		panic(err) // they are texts and bytes
	}
	return sql.NullString{String: string(b), Valid: true}
}

// readQueued reads what queuedDetails wrote. A message whose skill cannot be read must
// not become an ordinary one, which would not be limited.
func readQueued(details string, m *agent.Queued) error {
	var d queuedDetail
	if err := json.Unmarshal([]byte(details), &d); err != nil {
		return fmt.Errorf("read the details of message %s: %w", m.ID, err)
	}
	m.Typed, m.Skill, m.From, m.Media = d.Typed, d.Skill, d.From, d.Media
	return nil
}

// AddQueued implements [backend.Store].
func (s *Store) AddQueued(ctx context.Context, session string, m agent.Queued) error {
	return s.queued(ctx, func(tx *sql.Tx) error {
		return enqueue(ctx, s, tx, session, m)
	})
}

// enqueue appends a message in a transaction.
func enqueue(ctx context.Context, s *Store, tx *sql.Tx, session string, m agent.Queued) error {
	_, err := tx.ExecContext(ctx, s.query["insert-queued"], m.ID, session, m.Verb, m.Text, queuedDetails(m))
	return err
}

// EditQueued implements [backend.Store].
func (s *Store) EditQueued(ctx context.Context, m agent.Queued) error {
	return s.queued(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.query["update-queued"], m.Verb, m.Text, queuedDetails(m), m.ID)
		return err
	})
}

// OrderQueued implements [backend.Store].
func (s *Store) OrderQueued(ctx context.Context, order []agent.Queued) error {
	return s.queued(ctx, func(tx *sql.Tx) error {
		for i, m := range order {
			if _, err := tx.ExecContext(ctx, s.query["move-queued"], i+1, m.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// RemoveQueued implements [backend.Store].
func (s *Store) RemoveQueued(ctx context.Context, id string) error {
	return s.queued(ctx, func(tx *sql.Tx) error {
		if err := s.Unsend(ctx, tx, id); err != nil {
			return err
		}
		return s.dequeue(ctx, tx, id)
	})
}

// queued makes one change to the queue, in a transaction.
func (s *Store) queued(ctx context.Context, change func(*sql.Tx) error) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return s.failed("save what waits", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if err := change(tx); err != nil {
		return s.failed("save what waits", err)
	}
	return s.failed("save what waits", tx.Commit())
}

// dequeue removes a delivered message; an empty id means none.
func (s *Store) dequeue(ctx context.Context, tx *sql.Tx, id string) error {
	if id == "" {
		return nil
	}
	if _, err := tx.ExecContext(ctx, s.query["delete-queued"], id); err != nil {
		return fmt.Errorf("delete queued message: %w", err)
	}
	return nil
}
