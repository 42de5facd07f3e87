package teamwork

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"

	"atelier.dev/atelier/agent/team"
)

// mostMail is how many messages are kept of one session; what was read goes first.
const mostMail = 5000

// AddMessage implements [team.Tables].
func (t *Tables) AddMessage(ctx context.Context, session, reader string, m team.Message) (added bool, err error) {
	const doing = "save a message between agents"
	err = t.change(ctx, doing, func(tx *sql.Tx) error {
		var known, unread int
		err := tx.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM mail WHERE id = ?), (SELECT count(*) FROM mail WHERE session = ? AND recipient = ? AND state IN ('waiting', 'queued'))",
			m.ID, session, m.To).Scan(&known, &unread)
		switch {
		case err != nil:
			return t.cfg.Failed(doing, err)
		case known > 0:
			return nil
		case unread >= team.MaxUnread:
			return team.ErrUnread
		}
		m.State = team.Queued
		if reader == "" {
			m.State = team.Waiting
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO mail (id, session, team, sender, recipient, type, text, at, reader, state, delivered_at, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
			m.ID, session, m.Team, m.From, m.To, m.Type, m.Text, m.At, reader, m.State, t.sumOfMail(session, m)); err != nil {
			return t.cfg.Failed(doing, err)
		}
		if reader != "" {
			if err := t.cfg.Enqueue(ctx, tx, reader, m.Queued()); err != nil {
				return t.cfg.Failed(doing, err)
			}
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM mail WHERE session = ?1 AND state IN ('delivered', 'removed')
			AND at < (SELECT at FROM mail WHERE session = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)`, session, mostMail); err != nil {
			return t.cfg.Failed(doing, err)
		}
		added = true
		return nil
	})
	return added && err == nil, err
}

func (t *Tables) sumOfMail(session string, m team.Message) int64 {
	return t.cfg.Sum(m.ID, session, m.Team, m.From, m.To, string(m.Type), m.Text, m.At)
}

// Messages implements [team.Tables].
func (t *Tables) Messages(ctx context.Context, session string, limit int) ([]team.Message, error) {
	const doing = "read the messages between agents"
	found, err := t.messages(ctx, t.cfg.Read(), session, "SELECT * FROM (SELECT id, team, sender, recipient, type, text, at, state, delivered_at, checksum FROM mail WHERE session = ? ORDER BY at DESC, id DESC LIMIT ?) ORDER BY at, id", session, limit)
	return found, t.cfg.Failed(doing, err)
}

func (t *Tables) messages(ctx context.Context, db querier, session, query string, args ...any) (found []team.Message, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var m team.Message
		var sum int64
		if err := rows.Scan(&m.ID, &m.Team, &m.From, &m.To, &m.Type, &m.Text, &m.At, &m.State, &m.DeliveredAt, &sum); err != nil {
			return nil, err
		}
		if sum != t.sumOfMail(session, m) {
			slog.Warn("a message between agents is damaged, and left out", "session", session, "message", m.ID)
			continue
		}
		found = append(found, m)
	}
	return found, rows.Err()
}

// Collect implements [team.Tables].
func (t *Tables) Collect(ctx context.Context, session, agent, reader string) (found []team.Message, err error) {
	const doing = "hand over the messages that wait for an agent"
	err = t.change(ctx, doing, func(tx *sql.Tx) error {
		found, err = t.messages(ctx, tx, session, "SELECT id, team, sender, recipient, type, text, at, state, delivered_at, checksum FROM mail WHERE session = ? AND recipient = ? AND state = 'waiting' ORDER BY at, id LIMIT ?", session, agent, team.MaxUnread)
		for i := range found {
			if err != nil {
				break
			}
			found[i].State = team.Queued
			if _, err = tx.ExecContext(ctx, "UPDATE mail SET state = 'queued', reader = ? WHERE id = ?", reader, found[i].ID); err == nil {
				err = t.cfg.Enqueue(ctx, tx, reader, found[i].Queued())
			}
		}
		return t.cfg.Failed(doing, err)
	})
	return found, err
}

// Unsend notes that a person takes a message out of a queue before it is read. It does
// nothing about other messages.
func (t *Tables) Unsend(ctx context.Context, tx *sql.Tx, id string) error {
	_, err := tx.ExecContext(ctx, "UPDATE mail SET state = 'removed' WHERE id = ? AND state = 'queued'", id)
	if err != nil {
		return fmt.Errorf("note that a message was removed: %w", err)
	}
	return nil
}

// The numbers of columns, by which rows are known in a damaged database.
const (
	taskColumns = 9
	teamColumns = 7
	mailColumns = 12
)

// Whole reports whether a row of a damaged database is one of these tables, and as it was
// written. It returns the session to which it belongs.
func (t *Tables) Whole(row []any) (session string, ok bool) {
	var covered []any
	switch len(row) {
	case taskColumns, teamColumns:
		session, _ = row[0].(string)
		covered = row[:len(row)-1]
		if number, isNumber := row[1].(int64); !isNumber || number < 1 {
			return "", false
		}
	case mailColumns:
		session, _ = row[1].(string)
		covered = row[:8]
	default:
		return "", false
	}
	sum, summed := row[len(row)-1].(int64)
	return session, session != "" && summed && sum == t.cfg.Sum(covered...)
}

// Restore writes a row that is whole.
func (t *Tables) Restore(ctx context.Context, tx *sql.Tx, row []any) error {
	into := map[int]string{
		taskColumns: "INSERT OR IGNORE INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		teamColumns: "INSERT OR IGNORE INTO teams VALUES (?, ?, ?, ?, ?, ?, ?)",
		mailColumns: "INSERT OR IGNORE INTO mail VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	}[len(row)]
	if _, err := tx.ExecContext(ctx, into, row...); err != nil {
		return fmt.Errorf("restore what agents share: %w", err)
	}
	return nil
}
