package tool

import (
	"context"
	_ "embed" // for the description
	"fmt"
	"strings"

	"atelier.dev/atelier/agent"
)

//go:embed task_list.md
var taskListDescription string

// TaskListInput is the input of TaskList.
type TaskListInput struct {
	Status string `json:"status,omitempty" jsonschema:"only commands that are running or ended; or only tasks of the board that are pending, in_progress, completed, failed or cancelled"`
	Owner  string `json:"owner,omitempty" jsonschema:"only tasks of the board that this agent has"`
}

// taskList implements the TaskList tool for commands (OAS-315).
type taskList struct {
	definition
	tasks *Tasks
}

// Run implements [agent.Tool].
func (l *taskList) Run(_ context.Context, call agent.Invocation) agent.Result {
	in, err := parse(call.Input, TaskListInput{})
	if err != nil {
		return failed(err)
	}
	if in.Status != "" && in.Status != statusRunning && in.Status != statusEnded {
		return agent.Fail(fmt.Sprintf("There is no status %q; use running or ended.", in.Status))
	}
	lines := l.tasks.lines(in.Status)
	if len(lines) == 0 {
		return agent.Result{Output: "No command was left to run on, or none with that status."}
	}
	return agent.Result{Output: strings.Join(lines, "\n")}
}

// String names a task in a sentence.
func (t *task) String() string {
	return fmt.Sprintf("%s (%s), %s", t.id, firstRunes(t.command.Line, 60), t.status())
}

// The states of a task, as models read and write them.
const (
	statusRunning = "running"
	statusEnded   = "ended"
)

func (t *task) status() string {
	if t.running() {
		return statusRunning
	}
	return statusEnded
}

// lines lists the tasks with a status; an empty status means all.
func (ts *Tasks) lines(status string) (lines []string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.list {
		if status == "" || status == t.status() {
			lines = append(lines, t.String())
		}
	}
	return lines
}
