package board

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/plain"
)

type createInput struct {
	Subject     string            `json:"subject" jsonschema:"the task in a few words"`
	Description string            `json:"description,omitempty" jsonschema:"what is to be done"`
	Owner       string            `json:"owner,omitempty" jsonschema:"who is to do it"`
	Status      string            `json:"status,omitempty" jsonschema:"pending if left out"`
	BlockedBy   []string          `json:"blocked_by,omitempty" jsonschema:"ids of tasks to be completed before"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// The limits of texts, in characters.
const maxSubject, maxText = 300, 8000

// Validate says in a phrase for the model what is wrong with a call.
func (in createInput) Validate() error {
	return errors.Join(plain.Line("the subject", in.Subject, maxSubject, true), plain.Check("the description", in.Description, maxText, false), small(in.Metadata))
}

type getInput struct {
	ID string `json:"id" jsonschema:"such as task_3"`
}

type updateInput struct {
	ID          string            `json:"id" jsonschema:"such as task_3"`
	Status      string            `json:"status,omitempty" jsonschema:"in_progress claims the task; completed, failed and cancelled are final; deleted takes it off the board"`
	Subject     string            `json:"subject,omitempty"`
	Description string            `json:"description,omitempty"`
	Owner       string            `json:"owner,omitempty"`
	Output      string            `json:"output,omitempty" jsonschema:"what came out"`
	BlockedBy   []string          `json:"add_blocked_by,omitempty" jsonschema:"ids of tasks to be completed before"`
	Blocks      []string          `json:"add_blocks,omitempty" jsonschema:"ids of tasks that wait for this one"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// Validate says in a phrase for the model what is wrong with a call.
func (in updateInput) Validate() error {
	return errors.Join(plain.Line("the subject", in.Subject, maxSubject, false), plain.Check("the description", in.Description, maxText, false),
		plain.Check("the output", in.Output, maxText, false), small(in.Metadata))
}

func small(metadata map[string]string) error {
	size := 0
	for key, value := range metadata {
		size += len(key) + len(value)
	}
	if size > maxText {
		return fmt.Errorf("the metadata has %d bytes, more than %d", size, maxText)
	}
	return nil
}

// Tools returns the tools of a board for a session or, with a name, for one of its agents. Those
// of commands with which background tasks are listed, read and stopped are replaced by ones that
// do the same with tasks of the board (OAS-313 to OAS-318).
func Tools(s Store, by string, commands []agent.Tool) []agent.Tool {
	out := make([]agent.Tool, 0, len(commands)+3)
	for _, t := range commands {
		switch t.Spec().Name {
		case "TaskList", "TaskOutput", "TaskStop":
			t = both{t, s, by}
		}
		out = append(out, t)
	}
	spec := func(name, description string) agent.Spec {
		return agent.Spec{Name: name, Description: description, ReadOnly: name == "TaskGet", Idempotent: name == "TaskGet", Bindings: bindings(name)}
	}
	return append(out,
		own{agent.Function(spec("TaskCreate", "Adds a task to the board that you share with the agents that you start. Each of them sees it with TaskList and claims it with TaskUpdate."), func(ctx context.Context, in createInput) (any, error) {
			return create(ctx, s, in)
		})},
		own{agent.Function(spec("TaskGet", "Returns a task of the board."), func(ctx context.Context, in getInput) (any, error) {
			return get(ctx, s, in.ID)
		})},
		own{agent.Function(spec("TaskUpdate", "Changes a task of the board. The status in_progress claims it, if nobody else has; then do it, and give it the status completed or failed with what came out."), func(ctx context.Context, in updateInput) (any, error) {
			return update(ctx, s, by, in)
		})},
	)
}

func create(ctx context.Context, s Store, in createInput) (made Task, err error) {
	t := Task{Subject: in.Subject, Description: in.Description, Owner: in.Owner, BlockedBy: in.BlockedBy, Metadata: in.Metadata}
	if in.Status != "" {
		if t.Status, err = ParseStatus(in.Status); err != nil {
			return made, err
		}
	}
	err = s.Change(ctx, func(b *Board) error {
		made, err = b.Create(t, time.Now())
		return err
	})
	return made, err
}

func get(ctx context.Context, s Store, id string) (Task, error) {
	b, err := s.Read(ctx)
	if err != nil {
		return Task{}, err
	}
	if t := b.Find(id); t != nil {
		return *t, nil
	}
	return Task{}, fmt.Errorf("%w: %.50q", ErrNoTask, id)
}

// updated is a changed task, with a warning.
type updated struct {
	Task
	Warning string `json:"warning,omitempty"`
}

func update(ctx context.Context, s Store, by string, in updateInput) (out updated, err error) {
	c := Change{ID: in.ID, By: by, Subject: in.Subject, Description: in.Description, Output: in.Output, Owner: in.Owner, BlockedBy: in.BlockedBy, Blocks: in.Blocks, Metadata: in.Metadata}
	if in.Status != "" {
		if c.Status, err = ParseStatus(in.Status); err != nil {
			return out, err
		}
	}
	err = s.Change(ctx, func(b *Board) error {
		if out.Task, err = b.Update(c, time.Now()); err != nil {
			return err
		}
		if open := b.Open(out.Task); len(open) > 0 && (c.Status == InProgress || c.Status == Completed) {
			out.Warning = "It waits for tasks that are not completed: " + strings.Join(open, ", ") + "."
		}
		return nil
	})
	return out, err
}

// own marks a tool that concerns only the session and its agents.
type own struct{ agent.Tool }

// Access implements [agent.Accessor].
func (own) Access(context.Context, json.RawMessage) agent.Access { return agent.Access{Own: true} }

// Validate implements [agent.Validator].
func (o own) Validate(input json.RawMessage) error { return o.Tool.(agent.Validator).Validate(input) }

// both is a tool for background commands that does the same with tasks of the board.
type both struct {
	agent.Tool
	store Store
	by    string
}

// Access implements [agent.Accessor].
func (t both) Access(ctx context.Context, input json.RawMessage) agent.Access {
	if a, ok := t.Tool.(agent.Accessor); ok && !strings.HasPrefix(idOf(input), "task_") {
		return a.Access(ctx, input)
	}
	return agent.Access{Own: true}
}

func idOf(input json.RawMessage) string {
	var in struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(input, &in) // it has passed the schema
	return in.ID
}

// Run implements [agent.Tool].
func (t both) Run(ctx context.Context, call agent.Invocation) agent.Result {
	id := idOf(call.Input)
	switch name := t.Spec().Name; {
	case name == "TaskList":
		return t.list(ctx, call)
	case !strings.HasPrefix(id, "task_"):
		return t.Tool.Run(ctx, call)
	case name == "TaskOutput":
		task, err := get(ctx, t.store, id)
		return result(task, err)
	}
	var in struct {
		Reason string `json:"reason"`
	}
	_ = json.Unmarshal(call.Input, &in) // it has passed the schema
	task, err := update(ctx, t.store, t.by, updateInput{ID: id, Status: string(Cancelled), Output: in.Reason})
	return result(task, err)
}

func result(v any, err error) agent.Result {
	if err != nil {
		return agent.Fail(err.Error() + ".")
	}
	return agent.ResultOf(v)
}

// list lists commands and tasks of the board. A status or an owner selects among them: commands
// have neither an owner nor the statuses of tasks.
func (t both) list(ctx context.Context, call agent.Invocation) agent.Result {
	var in struct{ Status, Owner string }
	_ = json.Unmarshal(call.Input, &in) // it has passed the schema
	status, err := ParseStatus(in.Status)
	ofTasks := err == nil || in.Owner != ""
	out := agent.Result{Output: "No task is like that."}
	if !ofTasks {
		if out = t.Tool.Run(ctx, call); in.Status != "" {
			return out // running or ended, or the message that there is no such status
		}
	}
	b, err := t.store.Read(ctx)
	found := b.Select(status, in.Owner)
	if err != nil || len(found) == 0 {
		return out
	}
	var text strings.Builder
	if !ofTasks {
		text.WriteString(strings.TrimSpace(out.Output) + "\n\n")
	}
	text.WriteString("Tasks of the board:\n")
	for _, task := range found {
		fmt.Fprintf(&text, "%s [%s] %s", task.ID, task.Status, task.Subject)
		if task.Owner != "" {
			fmt.Fprintf(&text, " (%s)", task.Owner)
		}
		if open := b.Open(task); len(open) > 0 {
			fmt.Fprintf(&text, ", waits for %s", strings.Join(open, ", "))
		}
		text.WriteByte('\n')
	}
	out.Output, out.Data = text.String(), nil
	return out
}

// bindings say how models know a tool of the board.
func bindings(name string) map[string][]agent.Binding {
	as := func(called string) agent.Binding {
		b := agent.Called(name, called)
		b.Lenience.Synonyms = map[string]string{"taskId": "id", "task_id": "id", "addBlocks": "add_blocks", "addBlockedBy": "add_blocked_by", "title": "subject"}
		b.Lenience.Ignored = []string{"activeForm"}
		return b
	}
	spec := as(map[string]string{"TaskCreate": "task_create", "TaskGet": "task_get", "TaskUpdate": "task_update"}[name])
	return map[string][]agent.Binding{"anthropic": {as(name)}, "openai": {spec}, "gemini": {spec}, "spec": {spec}}
}
