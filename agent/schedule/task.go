package schedule

import (
	"errors"
	"fmt"
	"time"

	"atelier.dev/atelier/agent/internal/plain"
)

// The limits of a project's tasks.
const (
	MaxTasks  = 50
	MaxName   = 80     // characters
	MaxPrompt = 10_000 // characters
)

// ErrNoTask says that there is no task of an id.
var ErrNoTask = errors.New("there is no scheduled task")

// TaskKind says what a task is.
type TaskKind string

// The kinds.
const (
	Recurring TaskKind = "recurring" // runs by its schedule until it is deleted
	Once      TaskKind = "once"      // runs once, and is gone
	Wakeup    TaskKind = "wakeup"    // is Once, and the only one of its session
	Stored    TaskKind = "stored"    // runs when it is told to
)

// Task is a prompt that runs later, in the session that made it.
type Task struct {
	ID      string   `json:"id"`
	Session string   `json:"session"`
	Kind    TaskKind `json:"kind"`
	Name    string   `json:"name"`
	// Schedule is empty for a wake-up and for what is only stored.
	Schedule string `json:"schedule,omitempty"`
	Prompt   string `json:"prompt"`
	Paused   bool   `json:"paused,omitempty"`
	// Times are in milliseconds since 1970. Next is 0 if nothing is due.
	Created int64 `json:"created"`
	Next    int64 `json:"next,omitempty"`
}

// Check says in a phrase for the model what is wrong with the texts of a task.
func (t Task) Check() error {
	return errors.Join(plain.Line("the name", t.Name, MaxName, true), plain.Check("the prompt", t.Prompt, MaxPrompt, true))
}

// Plan sets when the task runs next, after a time. The error is a phrase for the model.
func (t *Task) Plan(after time.Time) error {
	t.Next = 0
	if t.Schedule == "" || t.Paused {
		return nil
	}
	spec, err := Parse(t.Schedule)
	if err != nil {
		return err
	}
	t.Schedule = spec.String()
	if at := spec.Next(after); !at.IsZero() {
		t.Next = at.UnixMilli()
	}
	return nil
}

// When says in words when a task runs next.
func (t Task) When(in *time.Location) string {
	switch {
	case t.Paused:
		return "paused"
	case t.Next == 0:
		return "when it is told to"
	}
	return fmt.Sprintf("next %s", time.UnixMilli(t.Next).In(in).Format("Mon 2006-01-02 15:04 MST"))
}
