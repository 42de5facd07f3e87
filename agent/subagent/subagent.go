// Package subagent lets a session hand work to other sessions: four tools that
// start one, tell it more, wait for it and end it. What a session is, and where
// it is kept, is its host's business (LOOP-48, LOOP-49).
package subagent

import (
	"context"
	_ "embed" // for the descriptions
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"atelier.dev/atelier/agent"
)

// Task is work for a session of its own.
type Task struct {
	Text string
	// WorkingDir bounds it to a folder; empty is the parent's.
	WorkingDir string
	// Model is another one of the parent's provider, or a level: low, mid or
	// high. Empty is the parent's.
	Model string
	// MaxTurns is how many rounds of tools it may take; 0 is
	// [DefaultMaxTurns].
	MaxTurns int
}

// DefaultMaxTurns is what a task may take that says nothing of it (K-06).
const DefaultMaxTurns = 50

// Report is how far a session is.
type Report struct {
	// Output is what it said last.
	Output string
	Status Status
	Turns  int // rounds of tools
}

// Status is the state of a session that works on a task.
type Status string

// The statuses (LOOP-49).
const (
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
)

// Host starts and drives the sessions of one parent. Errors are told to the
// model. It is safe for concurrent use.
type Host interface {
	// Spawn begins a session on a task and returns its id.
	Spawn(ctx context.Context, task Task) (id string, err error)
	// Send gives a session a message: while it works one that steers, else its
	// next input.
	Send(ctx context.Context, id, message string) error
	// Wait returns when the session is at rest, or ctx ends.
	Wait(ctx context.Context, id string) (Report, error)
	// End stops a session where it is.
	End(ctx context.Context, id string) (Report, error)
}

//go:embed spawn.md
var spawnDescription string

//go:embed send.md
var sendDescription string

//go:embed wait.md
var waitDescription string

//go:embed close.md
var closeDescription string

type spawnInput struct {
	Task       string `json:"task" jsonschema:"what to do, with everything the agent needs to know: it does not see this conversation"`
	WorkingDir string `json:"working_dir,omitempty" jsonschema:"a folder to stay in, relative to yours"`
	Model      string `json:"model,omitempty" jsonschema:"another model of the same provider; or low, mid or high for how much of a model the task is worth"`
	MaxTurns   int    `json:"max_turns,omitempty" jsonschema:"how many rounds of tool calls it may take, 50 if left out"`
}

type sendInput struct {
	AgentID string `json:"agent_id" jsonschema:"what SpawnAgent gave back"`
	Message string `json:"message"`
}

type idInput struct {
	AgentID string `json:"agent_id" jsonschema:"what SpawnAgent gave back"`
}

// Tools returns the tools of a parent. None of them changes anything by itself:
// what the sessions do passes the gate of each of them.
func Tools(h Host) []agent.Tool {
	return []agent.Tool{
		define("SpawnAgent", spawnDescription, func(ctx context.Context, in spawnInput) agent.Result {
			id, err := h.Spawn(ctx, Task{Text: in.Task, WorkingDir: in.WorkingDir, Model: in.Model, MaxTurns: in.MaxTurns})
			if err != nil {
				return agent.Fail(err.Error())
			}
			return told(id, reply{"agent_id": id, "status": Running})
		}),
		define("SendInput", sendDescription, func(ctx context.Context, in sendInput) agent.Result {
			if strings.TrimSpace(in.Message) == "" {
				return agent.Fail("The message is empty.")
			}
			if err := h.Send(ctx, in.AgentID, in.Message); err != nil {
				return agent.Fail(err.Error())
			}
			return told(in.AgentID, reply{"agent_id": in.AgentID, "sent": true})
		}),
		define("Wait", waitDescription, func(ctx context.Context, in idInput) agent.Result {
			return reported(in.AgentID)(h.Wait(ctx, in.AgentID))
		}),
		define("CloseAgent", closeDescription, func(ctx context.Context, in idInput) agent.Result {
			return reported(in.AgentID)(h.End(ctx, in.AgentID))
		}),
	}
}

// reply is what the model is told, as JSON.
type reply map[string]any

// told is a result about a session.
func told(id string, r reply) agent.Result {
	b, err := json.Marshal(r)
	if err != nil {
		return agent.Fail(fmt.Sprintf("The report of agent %s cannot be read: %v", id, err))
	}
	return agent.Result{Output: string(b), Details: &agent.Details{Agent: &agent.AgentRef{Session: id}}}
}

// noOutput is what is told of a session that said nothing (OAS-504).
const noOutput = "(The agent ended without a word.)"

func reported(id string) func(Report, error) agent.Result {
	return func(r Report, err error) agent.Result {
		if err != nil {
			return agent.Fail(err.Error())
		}
		if r.Output == "" {
			r.Output = noOutput
		}
		result := told(id, reply{"output": r.Output, "success": r.Status == Completed, "status": r.Status, "turns_used": r.Turns})
		result.IsError = r.Status == Failed
		return result
	}
}

// tool is one of the four.
type tool[In any] struct {
	spec agent.Spec
	run  func(context.Context, In) agent.Result
}

func define[In any](name, description string, run func(context.Context, In) agent.Result) agent.Tool {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("schema of %s: %v", name, err)) // a mistake in this package
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("schema of %s: %v", name, err))
	}
	return tool[In]{agent.Spec{Name: name, Description: strings.TrimSpace(description), Schema: raw, ReadOnly: true}, run}
}

// Spec implements [agent.Tool].
func (t tool[In]) Spec() agent.Spec { return t.spec }

// Run implements [agent.Tool].
func (t tool[In]) Run(ctx context.Context, call agent.Invocation) agent.Result {
	var in In
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return agent.Fail(err.Error())
	}
	return t.run(ctx, in)
}
