package workbench

import (
	"context"
	"iter"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
	"atelier.dev/atelier/backend"
)

// runCommand runs a user's command in a session at rest, and returns when it
// has begun. It needs neither a model nor a key.
func (w *Workbench) runCommand(ctx context.Context, in CommandRequest) (backend.Empty, error) {
	if strings.TrimSpace(in.Command) == "" {
		return backend.Empty{}, backend.Problem(backend.ProblemCommandEmpty)
	}
	info, err := w.conversation.AtRest(ctx, in.Session)
	if err != nil {
		return backend.Empty{}, err
	}
	return backend.Empty{}, w.conversation.Start(ctx, in.Session, func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] {
		return s.RunCommand(ctx, in.Command, func(ctx context.Context, line string, output func(string)) agent.Result {
			place, err := w.workplace(ctx, info)
			if err != nil {
				return agent.Fail("The command did not run: " + err.Error())
			}
			return tool.RunCommand(ctx, place.env, line, output)
		})
	})
}

// CommandRequest is for conversation.command.
type CommandRequest struct {
	Session string `json:"session"`
	Command string `json:"command"`
}
