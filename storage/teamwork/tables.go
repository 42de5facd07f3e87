package teamwork

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/board"
	"atelier.dev/atelier/agent/team"
)

// Config is what Tables take of the open database.
type Config struct {
	// Read is the database for reading, and Begin begins an immediate transaction.
	Read  func() *sql.DB
	Begin func(context.Context) (*sql.Tx, error)
	// Failed explains an error; it returns nil for nil.
	Failed func(doing string, err error) error
	// Enqueue puts a message into the queue of a session.
	Enqueue func(ctx context.Context, tx *sql.Tx, session string, m agent.Queued) error
	// Sum is the checksum of a row.
	Sum func(values ...any) int64
}

// Tables keeps boards, teams and messages. It is safe for concurrent use.
type Tables struct{ cfg Config }

var (
	_ board.Tables = (*Tables)(nil)
	_ team.Tables  = (*Tables)(nil)
)

// New returns the tables of a database.
func New(cfg Config) *Tables { return &Tables{cfg} }

// querier is a database or a transaction.
type querier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

// change makes a change in one transaction. An error of the change itself is returned as it is.
func (t *Tables) change(ctx context.Context, doing string, change func(*sql.Tx) error) error {
	tx, err := t.cfg.Begin(ctx)
	if err != nil {
		return t.cfg.Failed(doing, err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if err := change(tx); err != nil {
		return err
	}
	return t.cfg.Failed(doing, tx.Commit())
}

// details is the column of that name.
type details struct {
	Description string            `json:"description,omitempty"`
	Output      string            `json:"output,omitempty"`
	BlockedBy   []string          `json:"blocked_by,omitempty"`
	Blocks      []string          `json:"blocks,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// Board implements [board.Tables].
func (t *Tables) Board(ctx context.Context, session string) (board.Board, error) {
	b, err := t.board(ctx, t.cfg.Read(), session)
	return b, t.cfg.Failed("read the board of tasks", err)
}

func (t *Tables) board(ctx context.Context, db querier, session string) (b board.Board, err error) {
	rows, err := db.QueryContext(ctx, "SELECT number, subject, status, owner, created_at, updated_at, details, checksum FROM tasks WHERE session = ? ORDER BY number", session)
	if err != nil {
		return b, err
	}
	defer rows.Close()
	for rows.Next() {
		var task board.Task
		var number int
		var more string
		var sum sql.NullInt64
		if err := rows.Scan(&number, &task.Subject, &task.Status, &task.Owner, &task.CreatedAt, &task.UpdatedAt, &more, &sum); err != nil {
			return b, err
		}
		b.Last = number
		if task.Status == board.Deleted {
			continue
		}
		task.ID = "task_" + strconv.Itoa(number)
		var d details
		if sum.Valid && sum.Int64 != t.sumOfTask(session, number, task, more) || json.Unmarshal([]byte(more), &d) != nil {
			slog.Warn("a task of a board is damaged, and left out", "session", session, "task", task.ID)
			continue
		}
		task.Description, task.Output, task.BlockedBy, task.Blocks, task.Metadata = d.Description, d.Output, d.BlockedBy, d.Blocks, d.Metadata
		b.Tasks = append(b.Tasks, task)
	}
	return b, rows.Err()
}

func (t *Tables) sumOfTask(session string, number int, task board.Task, more string) int64 {
	return t.cfg.Sum(session, int64(number), task.Subject, string(task.Status), task.Owner, task.CreatedAt, task.UpdatedAt, more)
}

// ChangeBoard implements [board.Tables].
func (t *Tables) ChangeBoard(ctx context.Context, session string, change func(*board.Board) error) error {
	const doing = "save the board of tasks"
	return t.change(ctx, doing, func(tx *sql.Tx) error {
		before, err := t.board(ctx, tx, session)
		if err != nil {
			return t.cfg.Failed(doing, err)
		}
		after := board.Board{Last: before.Last, Tasks: append([]board.Task(nil), before.Tasks...)}
		if err := change(&after); err != nil {
			return err
		}
		return t.cfg.Failed(doing, t.writeBoard(ctx, tx, session, before, after))
	})
}

// writeBoard writes the tasks that differ. A task is overwritten only as it was read.
func (t *Tables) writeBoard(ctx context.Context, tx *sql.Tx, session string, before, after board.Board) error {
	for _, task := range after.Tasks {
		old := before.Find(task.ID)
		if old != nil && reflect.DeepEqual(*old, task) {
			continue
		}
		if err := t.writeTask(ctx, tx, session, old, task); err != nil {
			return err
		}
	}
	for _, task := range before.Tasks {
		if after.Find(task.ID) == nil {
			if _, err := tx.ExecContext(ctx, "UPDATE tasks SET status = 'deleted', subject = '', owner = '', details = '{}', checksum = NULL WHERE session = ? AND number = ?", session, numberOf(task.ID)); err != nil {
				return err
			}
		}
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM tasks WHERE session = ?1 AND status = 'deleted' AND number < (SELECT max(number) FROM tasks WHERE session = ?1)", session)
	return err
}

func (t *Tables) writeTask(ctx context.Context, tx *sql.Tx, session string, old *board.Task, task board.Task) error {
	b, err := json.Marshal(details{task.Description, task.Output, task.BlockedBy, task.Blocks, task.Metadata})
	if err != nil {
		return fmt.Errorf("encode a task: %w", err)
	}
	number, more := numberOf(task.ID), string(b)
	sum := t.sumOfTask(session, number, task, more)
	if old == nil {
		_, err := tx.ExecContext(ctx, "INSERT INTO tasks (session, number, subject, status, owner, created_at, updated_at, details, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			session, number, task.Subject, task.Status, task.Owner, task.CreatedAt, task.UpdatedAt, more, sum)
		return err
	}
	done, err := tx.ExecContext(ctx, "UPDATE tasks SET subject = ?, status = ?, owner = ?, updated_at = ?, details = ?, checksum = ? WHERE session = ? AND number = ? AND status = ? AND owner = ?",
		task.Subject, task.Status, task.Owner, task.UpdatedAt, more, sum, session, number, old.Status, old.Owner)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("%s has changed meanwhile: %w", task.ID, board.ErrTaken)
	}
	return nil
}

func numberOf(id string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(id, "task_"), "team_")) // as it was made here
	return n
}

// membership is the column members.
type membership struct {
	Leader  string        `json:"leader"`
	Members []team.Member `json:"members"`
}

// Teams implements [team.Tables].
func (t *Tables) Teams(ctx context.Context, session string) (team.Roster, error) {
	r, err := t.teams(ctx, t.cfg.Read(), session)
	return r, t.cfg.Failed("read the teams", err)
}

func (t *Tables) teams(ctx context.Context, db querier, session string) (r team.Roster, err error) {
	rows, err := db.QueryContext(ctx, "SELECT number, name, status, created_at, members, checksum FROM teams WHERE session = ? ORDER BY number", session)
	if err != nil {
		return r, err
	}
	defer rows.Close()
	for rows.Next() {
		var found team.Team
		var members string
		var sum int64
		if err := rows.Scan(&r.Last, &found.Name, &found.Status, &found.CreatedAt, &members, &sum); err != nil {
			return r, err
		}
		found.ID = "team_" + strconv.Itoa(r.Last)
		var m membership
		if sum != t.sumOfTeam(session, r.Last, found, members) || json.Unmarshal([]byte(members), &m) != nil {
			slog.Warn("a team is damaged, and left out", "session", session, "team", found.ID)
			continue
		}
		found.LeaderID, found.Members = m.Leader, m.Members
		r.Teams = append(r.Teams, found)
	}
	return r, rows.Err()
}

func (t *Tables) sumOfTeam(session string, number int, of team.Team, members string) int64 {
	return t.cfg.Sum(session, int64(number), of.Name, string(of.Status), of.CreatedAt, members)
}

// ChangeTeams implements [team.Tables].
func (t *Tables) ChangeTeams(ctx context.Context, session string, change func(*team.Roster) error) error {
	const doing = "save the teams"
	return t.change(ctx, doing, func(tx *sql.Tx) error {
		before, err := t.teams(ctx, tx, session)
		if err != nil {
			return t.cfg.Failed(doing, err)
		}
		after := team.Roster{Last: before.Last, Teams: append([]team.Team(nil), before.Teams...)}
		if err := change(&after); err != nil {
			return err
		}
		for _, of := range after.Teams {
			if old, err := before.Find(of.ID); err == nil && reflect.DeepEqual(old, of) {
				continue
			}
			b, err := json.Marshal(membership{of.LeaderID, of.Members})
			if err != nil {
				return fmt.Errorf("encode a team: %w", err)
			}
			number := numberOf(of.ID)
			if _, err := tx.ExecContext(ctx, "REPLACE INTO teams (session, number, name, status, created_at, members, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)",
				session, number, of.Name, of.Status, of.CreatedAt, string(b), t.sumOfTeam(session, number, of, string(b))); err != nil {
				return t.cfg.Failed(doing, err)
			}
		}
		return nil
	})
}
