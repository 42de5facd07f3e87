package filelog

import (
	"cmp"
	"context"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// pageSize is how many events are read at a time.
const pageSize = 1000

// Reader reads parts of the logs of sessions; [backend.Store] does.
type Reader interface {
	Events(ctx context.Context, r backend.EventRange) ([]agent.Event, error)
}

// Each passes the events of a session after a place, a bounded part of the log at a time.
func Each(ctx context.Context, log Reader, info backend.SessionInfo, after int64, do func(agent.Event)) error {
	for ; after < info.Seq; after += pageSize {
		before := min(after+pageSize, info.Seq) + 1
		events, err := log.Events(ctx, backend.EventRange{Session: info.ID, After: after, Before: before, Limit: pageSize})
		if err != nil {
			return err
		}
		for _, ev := range events {
			do(ev)
		}
	}
	return nil
}

// Changed returns what an event says of changed files: what was recorded, nil if nothing was, and
// what a tool said itself that it changed, unless it was denied.
func Changed(ev agent.Event) (recorded *agent.FilesChanged, told []agent.FileChange) {
	switch d := ev.Data.(type) {
	case agent.ToolCallEnd:
		if d.Details != nil && d.Outcome != agent.OutcomeDenied {
			told = d.Details.Changes
		}
		return d.Files, told
	case agent.LocalCommandEnd:
		return d.Files, nil
	case agent.HookEnd:
		return d.Files, nil
	case agent.FilesRestored:
		return &d.FilesChanged, nil
	}
	return nil, nil
}

// Rewrite returns an event with what change makes of its record. change is not called with nil.
func Rewrite(ev agent.Event, change func(*agent.FilesChanged) *agent.FilesChanged) agent.Event {
	recorded, _ := Changed(ev)
	if recorded == nil {
		return ev
	}
	switch d := ev.Data.(type) {
	case agent.ToolCallEnd:
		d.Files = change(recorded)
		ev.Data = d
	case agent.LocalCommandEnd:
		d.Files = change(recorded)
		ev.Data = d
	case agent.HookEnd:
		d.Files = change(recorded)
		ev.Data = d
	case agent.FilesRestored:
		d.FilesChanged = *change(recorded)
		ev.Data = d
	}
	return ev
}

// essence returns what is kept of an event; false if nothing is.
func essence(ev agent.Event) (agent.Event, bool) {
	recorded, told := Changed(ev)
	switch d := ev.Data.(type) {
	case agent.ToolCallEnd:
		end := agent.ToolCallEnd{CallID: d.CallID, Tool: d.Tool, Outcome: d.Outcome, Files: d.Files}
		if len(told) > 0 {
			end.Details = &agent.Details{Changes: told}
		}
		about := d.Details != nil && d.Details.Agent != nil
		if about { // it says in which turn the agent was at work
			end.Details = cmp.Or(end.Details, &agent.Details{})
			end.Details.Agent = d.Details.Agent
		}
		ev.Data = end
		return ev, about || recorded != nil || len(told) > 0
	case agent.LocalCommandEnd:
		ev.Data = agent.LocalCommandEnd{ID: d.ID, Command: d.Command, Files: d.Files}
	case agent.HookEnd:
		ev.Data = agent.HookEnd{Name: d.Name, HookFiles: d.HookFiles}
	case agent.UserInput:
		ev.Data = agent.UserInput{Text: d.Wrote()}
		return ev, true
	case agent.LocalCommandStart, agent.Forked, agent.Rewound, agent.RewindUndone:
		return ev, true
	}
	return ev, recorded != nil || len(told) > 0
}
