package subagent

import (
	"cmp"
	"context"
	_ "embed" // for the descriptions
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/plain"
)

// Task is work for another session.
type Task struct {
	// Text is what the agent is told.
	Text string
	// Label says in a few words what the task is, for people; empty means the beginning
	// of Text.
	Label string
	// Call is the id of the call that starts it.
	Call string
	// Type names the agent that is started; empty means the general one.
	Type string
	// Name is how the agent can be called beside its id; empty means by its id alone.
	Name string
	// Team is the team that it joins under its name; empty means none.
	Team string
	Place
	// Model is another model of the parent's provider, or a level: low, mid or
	// high. Empty means the agent's own, or the parent's model.
	Model string
	// MaxTurns limits the rounds of tools; 0 means the agent's own limit, or
	// [DefaultMaxTurns].
	MaxTurns int
	// Mode is the permission mode; the parent's or the agent's holds if it is tighter, and
	// if Mode is empty.
	Mode agent.Mode
	// Skills are the names of those whose text the agent is given at its start.
	Skills []string
	// Servers are MCP servers whose tools the agent has beside those that its definition
	// names. Without such a list in its definition it has those of all.
	Servers []string
	// Waits says that the caller waits for the report, and so for a place among the agents
	// that work. Otherwise there has to be one.
	Waits bool
}

// Place is where a session works.
type Place struct {
	// WorkingDir restricts it to a folder; empty means the parent's.
	WorkingDir string
	// Isolation is [Worktree], or empty: the agent works on the parent's files, unless
	// its definition says otherwise.
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

// Started is a session that works on a task.
type Started struct {
	ID string
	// Background says that the agent's definition has it run in the background.
	Background bool
}

// Host starts and drives the sessions of one parent. A session is called by its id or its
// name. Errors are told to the model. It is safe for concurrent use.
type Host interface {
	// Spawn starts a session on a task.
	Spawn(ctx context.Context, task Task) (Started, error)
	// Send gives a session a message, as steering while it works, else as its
	// next input, and returns its id.
	Send(ctx context.Context, agent, message string) (id string, err error)
	// Wait returns when the session is at rest, or ctx ends.
	Wait(ctx context.Context, agent string) (Report, error)
	// End stops a session where it is.
	End(ctx context.Context, agent string) (Report, error)
}

//go:embed agent.md
var agentDescription string

//go:embed run.md
var runDescription string

//go:embed spawn.md
var spawnDescription string

//go:embed send.md
var sendDescription string

//go:embed wait.md
var waitDescription string

//go:embed close.md
var closeDescription string

// Input is a call of the tool Agent.
type Input struct {
	Prompt       string   `json:"prompt" jsonschema:"what to do, with everything the agent needs to know: it does not see this conversation"`
	Description  string   `json:"description,omitempty" jsonschema:"the task in three to five words, for the user"`
	SubagentType string   `json:"subagent_type,omitempty" jsonschema:"which agent does it; general-purpose if left out"`
	Model        string   `json:"model,omitempty" jsonschema:"another model of the same provider; or low, mid or high for how much of a model the task is worth"`
	Name         string   `json:"name,omitempty" jsonschema:"what you call the agent later, beside its id"`
	MaxTurns     int      `json:"max_turns,omitempty" jsonschema:"how many rounds of tool calls it may take, 50 if left out"`
	Background   *bool    `json:"run_in_background,omitempty" jsonschema:"true returns at once with the agent's id"`
	Isolation    string   `json:"isolation,omitempty" jsonschema:"worktree gives it a git worktree of the last commit; left out, it works on the same files as you"`
	WorkingDir   string   `json:"working_dir,omitempty" jsonschema:"a folder to stay in, relative to yours"`
	Mode         string   `json:"mode,omitempty" jsonschema:"a tighter permission mode than yours, such as plan"`
	Resume       string   `json:"resume,omitempty" jsonschema:"the id or name of an agent that goes on with this prompt, instead of a new one"`
	Skills       []string `json:"skills,omitempty" jsonschema:"names of skills whose text it is given"`
	MCPServers   []string `json:"mcp_servers,omitempty" jsonschema:"servers whose tools it gets, if its definition limits its tools"`
	TeamName     string   `json:"team_name,omitempty" jsonschema:"the team that it joins under its name"`
}

// Validate says in a phrase for the model what is wrong with a call.
func (in Input) Validate() error {
	switch {
	case strings.TrimSpace(in.Prompt) == "":
		return errors.New("the task is empty")
	case in.MaxTurns < 0:
		return errors.New("max_turns is negative")
	case in.Mode != "" && !slices.Contains(agent.Modes(), agent.Mode(in.Mode)):
		return fmt.Errorf("there is no mode %q", in.Mode)
	case in.TeamName != "" && strings.TrimSpace(in.Name) == "" && in.Resume == "":
		return errors.New("an agent of a team needs a name")
	}
	return errors.Join(plain.Line("the name", in.Name, maxName, false), plain.Line("the team", in.TeamName, maxName, false), plain.Check("the description", in.Description, maxLabel, false))
}

// maxName and maxLabel limit the name of an agent and the description of its task, in
// characters.
const maxName, maxLabel = 60, 400

func (in Input) task() Task {
	return Task{
		Text: in.Prompt, Label: in.Description, Type: in.SubagentType, Name: strings.TrimSpace(in.Name),
		Place: Place{WorkingDir: in.WorkingDir, Isolation: in.Isolation}, Model: in.Model, MaxTurns: in.MaxTurns,
		Mode: agent.Mode(in.Mode), Skills: in.Skills, Servers: in.MCPServers, Team: strings.TrimSpace(in.TeamName),
	}
}

type sendInput struct {
	AgentID string `json:"agent_id" jsonschema:"the id or the name of the agent"`
	Message string `json:"message"`
}

type idInput struct {
	AgentID string `json:"agent_id" jsonschema:"the id or the name of the agent"`
}

// Tools returns the tools of a parent. They change nothing themselves, because
// each session's gate decides about its own calls. Agent and Wait are
// concurrent, so that several agents work in parallel. Agents lists those that can be
// started, one a line.
func Tools(h Host, agents string) []agent.Tool {
	spawn := agent.Spec{Name: "Agent", Description: withAgents(agentDescription, agents), Concurrent: true, Bindings: agentBindings(agents)}
	return []agent.Tool{
		define(spawn, func(ctx context.Context, in Input) (agent.Result, error) { return start(ctx, h, in) }),
		define(agent.Spec{Name: "SendInput", Description: sendDescription, Bindings: bindings("SendInput", "send_input")}, func(ctx context.Context, in sendInput) (agent.Result, error) {
			if strings.TrimSpace(in.Message) == "" {
				return agent.Result{}, errors.New("the message is empty")
			}
			id, err := h.Send(ctx, in.AgentID, in.Message)
			return about(id, reply{"agent_id": id, "sent": true}), err
		}),
		define(agent.Spec{Name: "Wait", Description: waitDescription, ReadOnly: true, Concurrent: true, Idempotent: true, Bindings: bindings("Wait", "wait", "wait_agent")}, func(ctx context.Context, in idInput) (agent.Result, error) {
			r, err := h.Wait(ctx, in.AgentID)
			return r.result(in.AgentID), err
		}),
		define(agent.Spec{Name: "CloseAgent", Description: closeDescription, Bindings: bindings("CloseAgent", "close_agent")}, func(ctx context.Context, in idInput) (agent.Result, error) {
			r, err := h.End(ctx, in.AgentID)
			return r.result(in.AgentID), err
		}),
	}
}

// RunTool returns a tool for programs that call tools themselves: it starts an agent and waits for
// its report. The gate asks about each call of it, because an agent spends the user's money.
func RunTool(h Host, agents string) agent.Tool {
	spec := agent.Spec{Name: "RunAgent", Description: strings.TrimSpace(withAgents(runDescription, agents))}
	return agent.Function(spec, func(ctx context.Context, in specSpawn) (agent.Result, error) {
		foreground := false
		return start(ctx, h, Input{
			Prompt: in.Task, SubagentType: in.AgentType, WorkingDir: in.WorkingDir, Model: in.Model, MaxTurns: in.MaxTurns,
			Name: in.Name, Isolation: in.Isolation, Background: &foreground,
		})
	})
}

// withAgents adds the list of agents to a description.
func withAgents(description, agents string) string {
	if agents == "" {
		return description
	}
	return strings.TrimSpace(description) + "\n\nAgents:\n" + agents
}

// start carries out a call of the tool Agent. If the call is interrupted, the agent is ended.
func start(ctx context.Context, h Host, in Input) (agent.Result, error) {
	background := in.Background != nil && *in.Background
	var id string
	if in.Resume != "" {
		var err error
		if id, err = h.Send(ctx, in.Resume, in.Prompt); err != nil {
			return agent.Result{}, err
		}
	} else {
		task := in.task()
		task.Waits = !background
		if call, err := agent.ThisCall(ctx); err == nil {
			task.Call = call.CallID
		}
		started, err := h.Spawn(ctx, task)
		if err != nil {
			return agent.Result{}, err
		}
		id = started.ID
		background = background || in.Background == nil && started.Background
	}
	if background {
		return about(id, reply{"agent_id": id, "status": Running}), nil
	}
	r, err := h.Wait(ctx, id)
	if err != nil {
		if r, err = h.End(context.WithoutCancel(ctx), id); err != nil {
			return agent.Result{}, err
		}
	}
	return r.result(id), nil
}

// harmless marks a tool that concerns only the session's own agents.
type harmless struct{ agent.Tool }

// Access implements [agent.Accessor].
func (harmless) Access(context.Context, json.RawMessage) agent.Access { return agent.Access{Own: true} }

// Validate implements [agent.Validator].
func (h harmless) Validate(input json.RawMessage) error {
	return h.Tool.(agent.Validator).Validate(input)
}

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
	told := reply{"agent_id": id, "output": cmp.Or(r.Output, noOutput), "success": r.Status == Completed, "status": r.Status, "turns_used": r.Turns}
	if r.Worktree != "" {
		told["worktree"] = r.Worktree
	}
	result := about(id, told)
	result.IsError = r.Status == Failed
	return result
}
