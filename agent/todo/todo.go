// Package todo has the tool with which a model keeps a list of its tasks (OAS-328).
package todo

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/plain"
)

//go:embed todowrite.md
var description string

// Name is the tool's canonical name.
const Name = "TodoWrite"

// Status says how far a task is.
type Status string

// The statuses.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Cancelled  Status = "cancelled"
)

// Task is one entry of the list.
type Task struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	// Active is Content while it is being done; empty if the model did not say.
	Active   string `json:"active,omitempty"`
	Status   Status `json:"status"`
	Priority string `json:"priority,omitempty"` // high, medium or low
}

// List is what the tool keeps in the session.
type List struct {
	Tasks []Task `json:"tasks"`
}

// Input is a call: the whole list, or an action on one task.
type Input struct {
	Todos []Task `json:"todos,omitempty"`
	// Action is add, toggle, remove, list or clear; empty replaces the list by Todos.
	Action   string `json:"action,omitempty"`
	Text     string `json:"text,omitempty"`
	ID       string `json:"id,omitempty"`
	Priority string `json:"priority,omitempty"`
}

// The limits of a list, the texts in characters.
const (
	maxTasks   = 100
	maxContent = 400
)

// Tool returns the tool.
func Tool() agent.Tool {
	return agent.Function(agent.Spec{
		Name: Name, Description: strings.TrimSpace(description), ReadOnly: true, Bindings: bindings(),
	}, agent.Depends(agent.ThisCall, run))
}

// Validate says in a phrase for the model what is wrong with a call, as far as that does
// not depend on the list.
func (in Input) Validate() error {
	switch in.Action {
	case "":
		return validate(in.Todos)
	case "add":
		return errors.Join(plain.Line("text", in.Text, maxContent, true), validPriority(in.Priority))
	case "toggle", "remove":
		if in.ID == "" {
			return fmt.Errorf("the action %s takes the id of a task", in.Action)
		}
	case "list", "clear":
	default:
		return fmt.Errorf("there is no action %q; use add, toggle, remove, list or clear", in.Action)
	}
	return nil
}

func validate(tasks []Task) error {
	if len(tasks) > maxTasks {
		return fmt.Errorf("the list has %d tasks, more than %d: list larger steps", len(tasks), maxTasks)
	}
	for i, t := range tasks {
		err := errors.Join(plain.Line("its content", t.Content, maxContent, true), plain.Line("its activeForm", t.Active, maxContent, false), validPriority(t.Priority))
		if err == nil && !slices.Contains([]Status{Pending, InProgress, Completed, Cancelled}, t.Status) {
			err = fmt.Errorf("there is no status %q; use pending, in_progress or completed", t.Status)
		}
		if err != nil {
			return fmt.Errorf("task %d: %w", i+1, err)
		}
	}
	return nil
}

func validPriority(p string) error {
	if p == "" || slices.Contains([]string{"high", "medium", "low"}, p) {
		return nil
	}
	return fmt.Errorf("there is no priority %q; use high, medium or low", p)
}

func run(_ context.Context, in Input, call agent.Invocation) (agent.Result, error) {
	var list List
	if len(call.Kept) > 0 {
		if err := json.Unmarshal(call.Kept, &list); err != nil {
			return agent.Result{}, fmt.Errorf("read the list of tasks: %w", err)
		}
	}
	if err := list.change(in); err != nil {
		return agent.Result{}, err
	}
	state, err := json.Marshal(list)
	if err != nil {
		return agent.Result{}, err
	}
	kept := agent.KeptState{State: state, Line: list.line()}
	if kept.Line != "" {
		kept.Text = "Your list of tasks, as you wrote it last:\n" + list.String()
	}
	return agent.Result{Output: list.String(), Data: list, Details: &agent.Details{Kept: &kept}}, nil
}

// change carries out a call.
func (l *List) change(in Input) error {
	at := slices.IndexFunc(l.Tasks, func(t Task) bool { return t.ID == in.ID })
	switch in.Action {
	case "":
		l.Tasks = slices.Clone(in.Todos)
		for i := range l.Tasks {
			l.Tasks[i].ID = strconv.Itoa(i + 1)
		}
	case "add":
		if len(l.Tasks) >= maxTasks {
			return fmt.Errorf("the list has %d tasks already: remove some", maxTasks)
		}
		l.Tasks = append(l.Tasks, Task{ID: l.next(), Content: in.Text, Status: Pending, Priority: in.Priority})
	case "clear":
		l.Tasks = nil
	case "toggle", "remove":
		if at < 0 {
			return fmt.Errorf("there is no task %q in the list; its tasks are:\n%s", in.ID, l)
		}
		if in.Action == "remove" {
			l.Tasks = slices.Delete(l.Tasks, at, at+1)
			break
		}
		if l.Tasks[at].Status == Completed {
			l.Tasks[at].Status = Pending
		} else {
			l.Tasks[at].Status = Completed
		}
	}
	return nil
}

// next returns an id that no task has.
func (l *List) next() string {
	highest := 0
	for _, t := range l.Tasks {
		if n, err := strconv.Atoi(t.ID); err == nil {
			highest = max(highest, n)
		}
	}
	return strconv.Itoa(highest + 1)
}

// line is what the list of sessions says: the first task under way, or else the next one.
// It is empty if nothing is left to do.
func (l *List) line() string {
	for _, status := range []Status{InProgress, Pending} {
		for _, t := range l.Tasks {
			if t.Status != status {
				continue
			}
			if status == InProgress && t.Active != "" {
				return t.Active
			}
			return t.Content
		}
	}
	return ""
}

// marks stand before the tasks of a list as text.
var marks = map[Status]string{Pending: "[ ]", InProgress: "[>]", Completed: "[x]", Cancelled: "[-]"}

// String returns the list, a task a line.
func (l *List) String() string {
	if len(l.Tasks) == 0 {
		return "The list is empty."
	}
	var b strings.Builder
	for _, t := range l.Tasks {
		fmt.Fprintf(&b, "%s %s. %s", marks[t.Status], t.ID, t.Content)
		if t.Priority != "" {
			fmt.Fprintf(&b, " (%s)", t.Priority)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
