package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/screen"
)

// maxTasks limits how many commands run in the background at once, and how many
// are remembered.
const maxTasks = 64

// Tasks are the background commands of one session. They end with the session's
// environment. The zero value is empty and reports to nobody; see [NewTasks].
// It is safe for concurrent use.
type Tasks struct {
	changed  func(agent.TaskChange) // may be nil
	starting sync.Mutex             // held while a task is started, which may take long
	mu       sync.Mutex             // guards what follows
	last     int
	list     []*task // the oldest first
}

// task is a background command, running or ended.
type task struct {
	id       string
	command  env.Command
	began    time.Time
	process  env.Process
	printed  *printed
	told     atomic.Bool // its id was given out, so it outlives its call
	over     atomic.Bool // it has ended
	toldEnd  atomic.Bool // and that was reported
	changed  func(agent.TaskChange)
	forwards forwards
	// confined says that it needs no consent in the mode auto, nor what is typed to it.
	confined bool
}

// Progress is the data of a result about a task, or about a command that could
// have become one.
type Progress struct {
	Task    string
	Running bool
	// Remarks add what neither Running nor the exit code says.
	Remarks []string
	// Took is the duration of the call, and MaxOutputTokens how much output it
	// asked for; 0 means any amount.
	Took            time.Duration
	MaxOutputTokens int64
	// CommandResult has the output since the last result as its Stdout, and the
	// other fields once the task has ended.
	env.CommandResult
}

// start starts a command as a task.
func (ts *Tasks) start(ctx context.Context, commands env.Commands, c env.Command, confined bool) (*task, error) {
	ts.starting.Lock()
	defer ts.starting.Unlock()
	if running := ts.running(); running >= maxTasks {
		return nil, fmt.Errorf("%d tasks are running already; stop one first", running)
	}
	t := &task{id: strconv.Itoa(ts.last + 1), command: c, printed: &printed{}, changed: ts.changed, confined: confined}
	c.Output = t.output(c.Output)
	p, err := commands.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	t.process, t.began = p, time.Now()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.last++
	if len(ts.list) == maxTasks { // one of them has ended
		oldest := slices.IndexFunc(ts.list, func(t *task) bool { return !t.running() })
		ts.list = slices.Delete(ts.list, oldest, oldest+1)
	}
	ts.list = append(ts.list, t)
	if ts.changed != nil {
		go t.tellEnd() // ends with the command
	}
	return t, nil
}

// running counts running tasks.
func (ts *Tasks) running() (n int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.list {
		if t.running() {
			n++
		}
	}
	return n
}

// forget drops a task whose id was not given out.
func (ts *Tasks) forget(t *task) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.list = slices.DeleteFunc(ts.list, func(other *task) bool { return other == t })
}

// find returns a task by its id. Its error names the existing ones.
func (ts *Tasks) find(id string) (*task, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	var known []string
	for _, t := range ts.list {
		if t.id == id {
			return t, nil
		}
		known = append(known, t.String())
	}
	if known == nil {
		return nil, errors.New("no command was left running in this session")
	}
	return nil, fmt.Errorf("there is no task %q; the tasks are: %s", id, strings.Join(known, "; "))
}

// read returns and consumes the output since the last read, or its last lines;
// 0 means all.
func (t *task) read(lines int) string {
	return lastLines(t.process.Read(), lines)
}

func (t *task) running() bool {
	_, over := t.wait(context.Background(), 0)
	return !over
}

// wait waits for the task to end, at most for limit.
func (t *task) wait(ctx context.Context, limit time.Duration) (r env.CommandResult, over bool) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := t.process.Wait(ctx)
	return r, err == nil
}

// progress returns the result about a task that keeps running.
func (t *task) progress(remark string, lines int) agent.Result {
	t.tell()
	text := t.read(lines)
	return agent.Result{
		Output:  withRemarks(text, []string{remark}),
		Details: &agent.Details{Command: &agent.CommandResult{Task: t.id}},
		Data:    Progress{Task: t.id, Running: true, CommandResult: env.CommandResult{Stdout: text}},
	}
}

// outlived returns the result of a command that became a task at its time limit.
func (t *task) outlived(limit time.Duration) agent.Result {
	remark := fmt.Sprintf("[The command did not end within its time limit of %d ms and now runs on in the background, as task %s. "+
		"TaskOutput reads what it prints and waits for its end, TaskStop ends it.]", limit.Milliseconds(), t.id)
	r := t.progress(remark, 0)
	r.Details.Command.TimedOut = true
	p := r.Data.(Progress)
	p.Remarks, p.Took, p.Stdout = []string{remark}, limit, screen.Shown(p.Stdout)
	r.Data = p
	return r
}

// report waits for a task, at most for limit, and returns its output meanwhile,
// or the last lines of that, and its state.
func (t *task) report(ctx context.Context, limit time.Duration, lines int) agent.Result {
	r, over := t.wait(ctx, limit)
	if !over {
		if ctx.Err() != nil {
			result := t.progress("[The user ended the wait. Task "+t.id+" is running.]", lines)
			result.IsError = true
			return result
		}
		return t.progress("[Task "+t.id+" is running.]", lines)
	}
	r.Stdout = t.read(lines)
	notes, remarks := []string{fmt.Sprintf("[Task %s ended with exit code %d.]", t.id, r.ExitCode)}, 1
	switch {
	case r.Interrupted:
		remarks, notes[0] = 0, "[Task "+t.id+" was stopped.]"
	case r.TimedOut:
		remarks, notes[0] = 0, fmt.Sprintf("[Task %s was ended after its time limit of %d ms.]", t.id, t.command.Timeout.Milliseconds())
	}
	notes = append(notes, blocked(r)...)
	if r.Spill.Path != "" {
		notes = append(notes, spillRemark(r.Spill))
	}
	return agent.Result{
		Output:  withRemarks(r.Stdout, notes),
		Details: &agent.Details{Command: commandResult(r)},
		Data:    Progress{Task: t.id, Remarks: notes[remarks:], CommandResult: r},
	}
}
