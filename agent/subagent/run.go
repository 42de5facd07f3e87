package subagent

import (
	"context"
	_ "embed" // for the description
	"strings"

	"atelier.dev/atelier/agent"
)

//go:embed run.md
var runDescription string

// RunTool returns a tool that starts a session and waits for its report. It is for
// programs that call tools themselves: the gate asks about each call of it, because
// an agent spends the user's money. When a call is interrupted, its session is
// ended.
func RunTool(h Host) agent.Tool {
	spec := agent.Spec{Name: "RunAgent", Description: strings.TrimSpace(runDescription)}
	return agent.Function(spec, func(ctx context.Context, in spawnInput) (agent.Result, error) {
		id, err := h.Spawn(ctx, Task{Text: in.Task, WorkingDir: in.WorkingDir, Model: in.Model, MaxTurns: in.MaxTurns, Isolation: in.Isolation})
		if err != nil {
			return agent.Result{}, err
		}
		r, err := h.Wait(ctx, id)
		if err != nil {
			if r, err = h.End(context.WithoutCancel(ctx), id); err != nil {
				return agent.Result{}, err
			}
		}
		return r.result(id), nil
	})
}
