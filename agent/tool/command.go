package tool

import (
	"context"
	"fmt"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/screen"
)

// RunCommand runs a command line that the user typed, in the same place and way
// as Bash but without a time limit, because the user can stop it, and never
// confined. It is the
// body of an [agent.CommandRunner].
func RunCommand(ctx context.Context, commands env.Commands, line string, output func(text string)) agent.Result {
	r, err := commands.Exec(ctx, env.Command{Line: line, Merge: true, Unconfined: true, Output: atMost(maxStreamed, output)})
	if err != nil {
		return failed(fmt.Errorf("the command did not run: %w", err))
	}
	var notes []string
	if r.Left {
		notes = append(notes, "[A process was left running in the background; what it prints from now on is lost.]")
	}
	if r.Spill.Path != "" {
		notes = append(notes, spillRemark(r.Spill))
	}
	return agent.Result{
		Output:  withRemarks(r.Stdout, notes),
		IsError: r.Interrupted,
		Details: &agent.Details{Command: &agent.CommandResult{ExitCode: r.ExitCode, Dropped: r.Dropped}},
	}
}

// legible are commands whose terminals are read as text.
type legible struct{ env.Commands }

func (l legible) Exec(ctx context.Context, c env.Command) (env.CommandResult, error) {
	r, err := l.Commands.Exec(ctx, c)
	if c.TTY {
		r.Stdout = screen.Shown(r.Stdout)
	}
	return r, err
}

func (l legible) Start(ctx context.Context, c env.Command) (env.Process, error) {
	p, err := l.Commands.Start(ctx, c)
	if err != nil || !c.TTY {
		return p, err
	}
	return &legibleProcess{Process: p}, nil
}

// legibleProcess is a command on a terminal that is read as text.
type legibleProcess struct {
	env.Process
	mu     sync.Mutex // keeps the pieces in their order
	screen screen.Text
}

func (p *legibleProcess) Read() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.Next(p.Process.Read())
}
