// Package subagent lets a session delegate work to other sessions. Its four
// tools start a session, write to it, wait for it and close it. The host
// decides what a session is and where it is kept (LOOP-48, LOOP-49).
package subagent

import (
	"cmp"
	"context"
	_ "embed" // for the descriptions
	"encoding/json"
	"errors"
	"strings"

	"atelier.dev/atelier/agent"
)

// Task is work for another session.
type Task struct {
	Text string
	// WorkingDir restricts it to a folder; empty means the parent's.
	WorkingDir string
	// Model is another model of the parent's provider, or a level: low, mid or
	// high. Empty means the parent's model.
	Model string
	// MaxTurns limits the rounds of tools; 0 means [DefaultMaxTurns].
	MaxTurns int
	// Isolation is [Worktree], or empty: the agent works on the parent's files.
	Isolation string
}

// Worktree isolates a session: it works in a git worktree of its own (OAS-506).
const Worktree = "worktree"

// DefaultMaxTurns is the limit for a task that names none (K-06).
const DefaultMaxTurns = 50

// Report is the progress of a session.
type Report struct {
	// Output is the session's last answer.
	Output string
	Status Status
	Turns  int // rounds of tools
	// Worktree says where the session's worktree is, or what became of it; empty
	// if it has none.
	Worktree string
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
	// Spawn starts a session on a task and returns its id.
	Spawn(ctx context.Context, task Task) (id string, err error)
	// Send gives a session a message: as steering while it works, else as its
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
	Isolation  string `json:"isolation,omitempty" jsonschema:"worktree gives it a git worktree of the last commit; left out, it works on the same files as you"`
}

type sendInput struct {
	AgentID string `json:"agent_id" jsonschema:"what SpawnAgent gave back"`
	Message string `json:"message"`
}

type idInput struct {
	AgentID string `json:"agent_id" jsonschema:"what SpawnAgent gave back"`
}

// Tools returns the tools of a parent. They change nothing themselves, because
// each session's gate decides about its own calls. Wait alone is read-only and
// concurrent, so that several agents can be awaited in parallel.
func Tools(h Host) []agent.Tool {
	return []agent.Tool{
		define(agent.Spec{Name: "SpawnAgent", Description: spawnDescription}, func(ctx context.Context, in spawnInput) (agent.Result, error) {
			id, err := h.Spawn(ctx, Task{Text: in.Task, WorkingDir: in.WorkingDir, Model: in.Model, MaxTurns: in.MaxTurns, Isolation: in.Isolation})
			return about(id, reply{"agent_id": id, "status": Running}), err
		}),
		define(agent.Spec{Name: "SendInput", Description: sendDescription}, func(ctx context.Context, in sendInput) (agent.Result, error) {
			if strings.TrimSpace(in.Message) == "" {
				return agent.Result{}, errors.New("the message is empty")
			}
			return about(in.AgentID, reply{"agent_id": in.AgentID, "sent": true}), h.Send(ctx, in.AgentID, in.Message)
		}),
		define(agent.Spec{Name: "Wait", Description: waitDescription, ReadOnly: true, Concurrent: true, Idempotent: true}, func(ctx context.Context, in idInput) (agent.Result, error) {
			r, err := h.Wait(ctx, in.AgentID)
			return r.result(in.AgentID), err
		}),
		define(agent.Spec{Name: "CloseAgent", Description: closeDescription}, func(ctx context.Context, in idInput) (agent.Result, error) {
			r, err := h.End(ctx, in.AgentID)
			return r.result(in.AgentID), err
		}),
	}
}

// harmless marks a tool that concerns only the session's own agents.
type harmless struct{ agent.Tool }

// Access implements [agent.Accessor].
func (harmless) Access(json.RawMessage) agent.Access { return agent.Access{Own: true} }

func define[In any](spec agent.Spec, run func(context.Context, In) (agent.Result, error)) agent.Tool {
	spec.Description = strings.TrimSpace(spec.Description)
	return harmless{agent.Function(spec, run)}
}

// reply is the result for the model, as JSON.
type reply map[string]any

// about returns a result about a session.
func about(id string, r reply) agent.Result {
	result := agent.ResultOf(r)
	result.Details = &agent.Details{Agent: &agent.AgentRef{Session: id}}
	return result
}

// noOutput is the result of a session without text (OAS-504).
const noOutput = "(The agent ended without a word.)"

func (r Report) result(id string) agent.Result {
	told := reply{"output": cmp.Or(r.Output, noOutput), "success": r.Status == Completed, "status": r.Status, "turns_used": r.Turns}
	if r.Worktree != "" {
		told["worktree"] = r.Worktree
	}
	result := about(id, told)
	result.IsError = r.Status == Failed
	return result
}
