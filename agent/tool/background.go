package tool

import (
	"context"
	_ "embed" // for the descriptions
	"encoding/json"
	"fmt"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/screen"
)

// The default waits of WriteStdin: for a command to react to input, or for more
// of its output.
const (
	reactionTime = 250 * time.Millisecond
	pollTime     = 5 * time.Second
)

var (
	//go:embed write_stdin.md
	writeStdinDescription string
	//go:embed task_output.md
	taskOutputDescription string
	//go:embed task_stop.md
	taskStopDescription string
)

// WriteStdinInput is the input of WriteStdin.
type WriteStdinInput struct {
	ID          string `json:"id" also:"task_id,session_id,shell_id,bash_id,pid" jsonschema:"the task's number"`
	Chars       string `json:"chars,omitempty" also:"input,text" jsonschema:"what to type, line ends included; nothing to only wait"`
	YieldTimeMs int64  `json:"yield_time_ms,omitempty" jsonschema:"how many milliseconds to wait for the command, at most 600000"`
	// MaxOutputTokens is for the binding that writes the result; see [Progress].
	MaxOutputTokens int64 `json:"max_output_tokens,omitempty" jsonschema:"how much of the output to show"`
}

// writeStdin implements the WriteStdin tool. The data of its results is a
// [Progress].
type writeStdin struct {
	definition
	tasks *Tasks
}

// Access implements [agent.Accessor]. Typed input counts as a command.
func (w *writeStdin) Access(_ context.Context, input json.RawMessage) agent.Access {
	in, err := parse(input, WriteStdinInput{})
	switch {
	case err != nil || in.ID == "":
		return agent.Access{}
	case in.Chars == "" || in.Chars == "\x03" || in.Chars == "\x04":
		return agent.Access{Own: true}
	}
	access := agent.Access{Command: in.Chars, Task: in.ID}
	if t, err := w.tasks.find(in.ID); err == nil && t.confined {
		access.InAuto = agent.ConfinedFree
	}
	return access
}

// Run implements [agent.Tool].
func (w *writeStdin) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := parse(call.Input, WriteStdinInput{})
	if err != nil {
		return failed(err)
	}
	t, err := w.tasks.find(in.ID)
	if err != nil {
		return failed(err)
	}
	begin, wait := time.Now(), pollTime
	if in.Chars != "" {
		wait = reactionTime
		if err := t.process.Write(in.Chars); err != nil {
			return failed(fmt.Errorf("nothing was typed to task %s: %w", t.id, err))
		}
	}
	if in.YieldTimeMs > 0 {
		wait = atLongest(in.YieldTimeMs)
	}
	return asked(t.report(ctx, wait, 0), begin, in.MaxOutputTokens)
}

// charsPerToken is the assumed length of a token of output.
const charsPerToken = 4

// asked adds the details of the call to the data of a result.
func asked(r agent.Result, begin time.Time, maxTokens int64) agent.Result {
	if p, ok := r.Data.(Progress); ok {
		p.Took, p.MaxOutputTokens, p.Stdout = time.Since(begin), maxTokens, screen.Shown(p.Stdout)
		r.Data, r.Wanted = p, int(min(max(maxTokens, 0), maxWanted/charsPerToken)*charsPerToken)
	}
	return r
}

// TaskOutputInput is the input of TaskOutput.
type TaskOutputInput struct {
	ID     string `json:"id" also:"task_id,session_id,shell_id,bash_id,pid" jsonschema:"the task's number"`
	WaitMs int64  `json:"wait_ms,omitempty" also:"timeout_ms,delay_ms" jsonschema:"how many milliseconds to wait for the command to end, at most 600000"`
	Lines  int    `json:"lines,omitempty" jsonschema:"show only so many lines, the last ones"`
}

// taskOutput implements the TaskOutput tool (OAS-316). The data of its results
// is a [Progress].
type taskOutput struct {
	definition
	tasks *Tasks
}

// Run implements [agent.Tool].
func (o *taskOutput) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := parse(call.Input, TaskOutputInput{})
	if err != nil {
		return failed(err)
	}
	t, err := o.tasks.find(in.ID)
	if err != nil {
		return failed(err)
	}
	return t.report(ctx, atLongest(in.WaitMs), in.Lines)
}

// TaskStopInput is the input of TaskStop.
type TaskStopInput struct {
	ID     string `json:"id" also:"task_id,session_id,shell_id,bash_id,pid" jsonschema:"the task's number"`
	Reason string `json:"reason,omitempty" jsonschema:"why it is stopped, in a few words"`
}

// taskStop implements the TaskStop tool (OAS-317). The data of its results is
// a [Progress].
type taskStop struct {
	definition
	tasks *Tasks
}

// Access implements [agent.Accessor].
func (*taskStop) Access(_ context.Context, input json.RawMessage) agent.Access {
	in, err := parse(input, TaskStopInput{})
	return agent.Access{Own: err == nil && in.ID != ""}
}

// Run implements [agent.Tool].
func (s *taskStop) Run(_ context.Context, call agent.Invocation) agent.Result {
	in, err := parse(call.Input, TaskStopInput{})
	if err != nil {
		return failed(err)
	}
	t, err := s.tasks.find(in.ID)
	if err != nil {
		return failed(err)
	}
	t.process.Stop()
	return t.report(context.Background(), 0, 0)
}

func atLongest(ms int64) time.Duration {
	return time.Duration(min(max(ms, 0), MaxCommandTimeout.Milliseconds())) * time.Millisecond
}
