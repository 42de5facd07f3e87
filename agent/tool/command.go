package tool

import (
	"context"
	"fmt"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
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
