// Package board keeps the tasks that a session and its agents share: who does what, and what came
// out. A task is claimed by whoever is first (OAS-507 to OAS-511).
package board

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Status says how far a task is.
type Status string

// The statuses. Completed, Failed and Cancelled are final. A task that gets Deleted is taken off
// the board, whatever its status was.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Cancelled  Status = "cancelled"
	Deleted    Status = "deleted"
)

// ParseStatus reads a status in any spelling, such as inProgress.
func ParseStatus(s string) (Status, error) {
	plain := strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
	for _, status := range []Status{Pending, InProgress, Completed, Failed, Cancelled, Deleted} {
		if plain == strings.ReplaceAll(string(status), "_", "") {
			return status, nil
		}
	}
	return "", fmt.Errorf("there is no status %.50q; use pending, in_progress, completed, failed, cancelled or deleted", s)
}

// Final reports whether a task with the status cannot change any more.
func (s Status) Final() bool { return s == Completed || s == Failed || s == Cancelled }

// Task is one task. Its times are in milliseconds since 1970.
type Task struct {
	ID          string            `json:"id"`
	Subject     string            `json:"subject"`
	Description string            `json:"description,omitempty"`
	Status      Status            `json:"status"`
	Owner       string            `json:"owner,omitempty"`
	CreatedAt   int64             `json:"created_at"`
	UpdatedAt   int64             `json:"updated_at"`
	Output      string            `json:"output,omitempty"`
	BlockedBy   []string          `json:"blocked_by,omitempty"`
	Blocks      []string          `json:"blocks,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// MaxTasks limits the tasks of a board.
const MaxTasks = 500

// Errors of changes.
var (
	ErrNoTask = errors.New("there is no such task")
	ErrFinal  = errors.New("its status is final")
	ErrTaken  = errors.New("another one has claimed it")
	ErrCycle  = errors.New("the tasks would wait for each other")
	ErrFull   = errors.New("the board is full")
)

// Board is a list of tasks. The zero Board is empty.
type Board struct {
	// Last is the number of the task that was created last.
	Last  int    `json:"last"`
	Tasks []Task `json:"tasks,omitempty"`
}

// Find returns a task; nil if there is none of the id.
func (b *Board) Find(id string) *Task {
	i := slices.IndexFunc(b.Tasks, func(t Task) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return &b.Tasks[i]
}

// Create adds a task, to which it gives an id.
func (b *Board) Create(t Task, now time.Time) (Task, error) {
	if len(b.Tasks) >= MaxTasks {
		return Task{}, fmt.Errorf("%w: it has %d tasks", ErrFull, len(b.Tasks))
	}
	before := slices.Clone(b.Tasks)
	b.Last++
	waits := t.BlockedBy
	t.ID, t.BlockedBy, t.Blocks = "task_"+strconv.Itoa(b.Last), nil, nil
	if t.Status == "" {
		t.Status = Pending
	}
	t.CreatedAt, t.UpdatedAt = now.UnixMilli(), now.UnixMilli()
	b.Tasks = append(b.Tasks, t)
	for _, id := range waits {
		if err := b.wait(t.ID, id); err != nil {
			b.Tasks = before // also without what the first of these blocks
			return Task{}, err
		}
	}
	return *b.Find(t.ID), nil
}

// Change is what is changed of a task; what is empty stays.
type Change struct {
	ID string
	// By is who changes it. Without a name it is the session itself, which may change
	// every task.
	By                           string
	Status                       Status
	Subject, Description, Output string
	Owner                        string
	BlockedBy, Blocks            []string // added
	Metadata                     map[string]string
}

// Update changes a task. Of several that claim it, the first gets it.
func (b *Board) Update(c Change, now time.Time) (Task, error) {
	t := b.Find(c.ID)
	switch {
	case t == nil:
		return Task{}, fmt.Errorf("%w: %.50q", ErrNoTask, c.ID)
	case t.Status.Final() && c.Status != "" && c.Status != t.Status && c.Status != Deleted:
		return *t, fmt.Errorf("%s cannot become %s: %w, %s", t.ID, c.Status, ErrFinal, t.Status)
	}
	owner := c.Owner
	if owner == "" && c.Status == InProgress {
		owner = c.By
	}
	isOthers := t.Owner != "" && t.Status == InProgress
	if isOthers && (c.By != "" && c.By != t.Owner || c.Status == InProgress && owner != "" && owner != t.Owner) {
		return *t, fmt.Errorf("%s is not yours: %w, %s", t.ID, ErrTaken, t.Owner)
	}
	if c.Status == Deleted {
		return b.remove(*t, now), nil
	}
	before := slices.Clone(b.Tasks)
	for _, id := range c.BlockedBy {
		if err := b.wait(c.ID, id); err != nil {
			b.Tasks = before
			return *b.Find(c.ID), err
		}
	}
	for _, id := range c.Blocks {
		if err := b.wait(id, c.ID); err != nil {
			b.Tasks = before
			return *b.Find(c.ID), err
		}
	}
	for to, value := range map[*string]string{&t.Subject: c.Subject, &t.Description: c.Description, &t.Output: c.Output, &t.Owner: owner} {
		if value != "" {
			*to = value
		}
	}
	if c.Status != "" {
		t.Status = c.Status
	}
	if len(c.Metadata) > 0 {
		t.Metadata = maps.Clone(t.Metadata)
		if t.Metadata == nil {
			t.Metadata = map[string]string{}
		}
		maps.Copy(t.Metadata, c.Metadata)
	}
	t.UpdatedAt = now.UnixMilli()
	return *t, nil
}

// remove takes a task off the board. No other task waits for it any more.
func (b *Board) remove(gone Task, now time.Time) Task {
	is := func(id string) bool { return id == gone.ID }
	b.Tasks = slices.DeleteFunc(slices.Clone(b.Tasks), func(t Task) bool { return is(t.ID) })
	for i := range b.Tasks {
		t := &b.Tasks[i]
		if slices.ContainsFunc(slices.Concat(t.BlockedBy, t.Blocks), is) {
			t.BlockedBy, t.Blocks = slices.DeleteFunc(slices.Clone(t.BlockedBy), is), slices.DeleteFunc(slices.Clone(t.Blocks), is)
			t.UpdatedAt = now.UnixMilli()
		}
	}
	gone.Status, gone.UpdatedAt = Deleted, now.UnixMilli()
	return gone
}

// Select returns the tasks with a status and an owner; an empty one means any.
func (b *Board) Select(s Status, owner string) (found []Task) {
	for _, t := range b.Tasks {
		if (s == "" || t.Status == s) && (owner == "" || t.Owner == owner) {
			found = append(found, t)
		}
	}
	return found
}

// wait has one task wait for another one.
func (b *Board) wait(id, until string) error {
	task, other := b.Find(id), b.Find(until)
	switch {
	case task == nil:
		return fmt.Errorf("%w: %.50q", ErrNoTask, id)
	case other == nil:
		return fmt.Errorf("%w: %.50q", ErrNoTask, until)
	case id == until || b.waits(until, id, map[string]bool{}):
		return fmt.Errorf("%s cannot wait for %s: %w", id, until, ErrCycle)
	}
	if !slices.Contains(task.BlockedBy, until) {
		task.BlockedBy, other.Blocks = append(slices.Clip(task.BlockedBy), until), append(slices.Clip(other.Blocks), id)
	}
	return nil
}

// waits reports whether one task waits for another one, also by way of others.
func (b *Board) waits(id, until string, seen map[string]bool) bool {
	t := b.Find(id)
	if t == nil || seen[id] {
		return false
	}
	seen[id] = true
	return slices.ContainsFunc(t.BlockedBy, func(next string) bool { return next == until || b.waits(next, until, seen) })
}

// Open returns the tasks that a task waits for and that are not completed.
func (b *Board) Open(t Task) (open []string) {
	for _, id := range t.BlockedBy {
		if other := b.Find(id); other != nil && other.Status != Completed {
			open = append(open, id)
		}
	}
	return open
}

// Store keeps a board. It is safe for concurrent use.
type Store interface {
	// Read returns the board, which the caller must not change.
	Read(ctx context.Context) (Board, error)
	// Change changes the board, or nothing if change returns an error. No other change
	// happens meanwhile.
	Change(ctx context.Context, change func(*Board) error) error
}

// Tables keeps the boards of all sessions. It is safe for concurrent use, also by several
// processes: of two changes of one board, the second sees what the first has left.
type Tables interface {
	// Board returns the board of a session; an empty one if it has none.
	Board(ctx context.Context, session string) (Board, error)
	// ChangeBoard changes the board of a session, or nothing if change returns an error,
	// which it returns as it is.
	ChangeBoard(ctx context.Context, session string, change func(*Board) error) error
}

// Of returns the board of one session.
func Of(all Tables, session string) Store { return one{all, session} }

// one is the board of one session.
type one struct {
	all     Tables
	session string
}

// Read implements [Store].
func (o one) Read(ctx context.Context) (Board, error) { return o.all.Board(ctx, o.session) }

// Change implements [Store].
func (o one) Change(ctx context.Context, change func(*Board) error) error {
	return o.all.ChangeBoard(ctx, o.session, change)
}

// Memory is a store in memory. The zero Memory is empty.
type Memory struct {
	mu    sync.Mutex
	board Board
}

// Read implements [Store].
func (m *Memory) Read(context.Context) (Board, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Board{m.board.Last, slices.Clone(m.board.Tasks)}, nil
}

// Change implements [Store].
func (m *Memory) Change(_ context.Context, change func(*Board) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := Board{m.board.Last, slices.Clone(m.board.Tasks)}
	if err := change(&next); err != nil {
		return err
	}
	m.board = next
	return nil
}
