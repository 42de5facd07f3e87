package monitor

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
)

//go:embed monitor.md
var description string

// Name is the tool's canonical name.
const Name = "Monitor"

// The time limits of a watched command: unless the call names one, and at most.
const (
	defaultTimeout = 5 * time.Minute
	maxTimeout     = 30 * time.Minute
)

// maxDescription is the longest description, in bytes: it stands above every message.
const maxDescription = 200

// Input is the input of Monitor.
type Input struct {
	Command     string `json:"command" jsonschema:"the command line to run; each line that it prints wakes you"`
	Description string `json:"description" jsonschema:"what is watched, in five to ten words"`
	TimeoutMs   int64  `json:"timeout_ms,omitempty" jsonschema:"end the command after so many milliseconds, 300000 if left out, at most 1800000"`
	Persistent  bool   `json:"persistent,omitempty" jsonschema:"let it run until the session ends, without a time limit"`
	Workdir     string `json:"workdir,omitempty" jsonschema:"the directory to run in, if not the working directory"`
}

// limit returns the command's time limit; 0 means none.
func (in Input) limit() time.Duration {
	if in.Persistent {
		return 0
	}
	if in.TimeoutMs <= 0 {
		return defaultTimeout
	}
	return time.Duration(min(in.TimeoutMs, maxTimeout.Milliseconds())) * time.Millisecond
}

// monitor is the tool of one session.
type monitor struct {
	spec  agent.Spec
	bash  agent.Tool
	tasks *tool.Tasks
	watch *Watch
}

// Tool returns the tool for a session. Its commands are run by bash, the session's tool of that
// name, as tasks of the list, and watch is told their lines.
func Tool(bash agent.Tool, tasks *tool.Tasks, watch *Watch) agent.Tool {
	return &monitor{agent.Spec{
		Name: Name, Description: strings.TrimSpace(description), Schema: agent.SchemaOf[Input](), OpenWorld: true, Bindings: bindings(),
	}, bash, tasks, watch}
}

// Spec implements [agent.Tool].
func (m *monitor) Spec() agent.Spec { return m.spec }

// inBash returns a call as one of Bash.
func inBash(in Input) json.RawMessage {
	raw, _ := json.Marshal(tool.BashInput{Command: in.Command, Workdir: in.Workdir, Description: in.Description, RunInBackground: true}) // never fails
	return raw
}

// Access implements [agent.Accessor]: what Bash would touch.
func (m *monitor) Access(ctx context.Context, input json.RawMessage) agent.Access {
	var in Input
	bash, ok := m.bash.(agent.Accessor)
	if json.Unmarshal(input, &in) != nil || !ok {
		return agent.Access{}
	}
	return bash.Access(ctx, inBash(in))
}

// Run implements [agent.Tool].
func (m *monitor) Run(ctx context.Context, call agent.Invocation) agent.Result {
	var in Input
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return agent.Fail(fmt.Sprintf("The arguments cannot be read: %v.", err))
	}
	if err := m.watch.reserve(); err != nil {
		return agent.Fail(err.Error())
	}
	call.Input = inBash(in)
	result := m.bash.Run(ctx, call)
	progress, ok := result.Data.(tool.Progress)
	if !ok || !progress.Running {
		m.watch.release()
		return result
	}
	id, limit := progress.Task, in.limit()
	about := cmp.Or(strings.TrimSpace(in.Description), in.Command)
	w := m.watch.begin(id, about)
	if err := m.tasks.Follow(id, w.print, w.end); err != nil { // it cannot have gone: 64 are remembered
		m.watch.release()
		return agent.Fail(err.Error())
	}
	ends := "It has no time limit: TaskStop ends it, or the end of the session."
	if limit > 0 {
		stop := time.AfterFunc(limit, func() { // ends with the command
			w.timeOut(limit)
			_, _ = m.tasks.Stop(id)
		})
		w.onEnd(func() { stop.Stop() })
		ends = fmt.Sprintf("It ends after %s at the latest; TaskStop ends it earlier.", limit)
	}
	return agent.Result{
		Output:  fmt.Sprintf("[Watching, as task %s. Each line that the command prints will be told to you as it comes; do not ask for it. %s]", id, ends),
		Details: &agent.Details{Command: &agent.CommandResult{Task: id}},
	}
}
