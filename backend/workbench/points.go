package workbench

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
	"atelier.dev/atelier/backend"
)

// points are the hooks of a session as its loop sees them: they begin with the
// setup of the folder, and are told of folders by their whole names.
type points struct {
	agent.Hooks
	bench *Workbench
	info  backend.SessionInfo
}

// pointsOf returns the points of a session's hooks; nil if there are none.
func (w *Workbench) pointsOf(info backend.SessionInfo, hooks agent.Hooks) agent.Hooks {
	if hooks == nil {
		return nil
	}
	return points{hooks, w, info}
}

// Has implements [agent.SelectiveHook].
func (p points) Has(point agent.HookPoint) bool {
	s, ok := p.Hooks.(agent.SelectiveHook)
	return !ok || s.Has(point) || point == agent.HookSessionStart && s.Has(agent.HookSetup) || point == agent.HookPostToolUse
}

// Fire implements [agent.Hooks].
func (p points) Fire(ctx context.Context, call agent.HookCall, report func(agent.Payload)) agent.HookAdvice {
	switch d := call.Data.(type) {
	case agent.SessionStartInput:
		if p.bench.setUp.CompareAndSwap(false, true) {
			return p.begin(ctx, call, report)
		}
	case agent.NotificationInput:
		if p.info.Helper != nil && d.Type != agent.NotifyApproval {
			return agent.HookAdvice{} // the user is not told when an agent is done
		}
	case agent.PostToolUseInput:
		advice := agent.HookAdvice{}
		if hooks, ok := p.Hooks.(agent.SelectiveHook); !ok || hooks.Has(agent.HookPostToolUse) {
			advice = p.Hooks.Fire(ctx, call, report)
		}
		return p.diagnosed(ctx, d, advice)
	case agent.CwdChangedInput:
		folder := p.bench.folderOf(p.info)
		call.Data = agent.CwdChangedInput{Old: cmp.Or(d.Old, folder), New: cmp.Or(d.New, folder)}
	}
	return p.Hooks.Fire(ctx, call, report)
}

// begin runs the hooks of the folder's setup before those of its first session.
func (p points) begin(ctx context.Context, call agent.HookCall, report func(agent.Payload)) agent.HookAdvice {
	setup := call
	setup.Data = agent.SetupInput{Trigger: "init"}
	first, advice := p.Hooks.Fire(ctx, setup, report), p.Hooks.Fire(ctx, call, report)
	advice.Context = strings.Trim(first.Context+"\n\n"+advice.Context, "\n")
	advice.Title = cmp.Or(advice.Title, first.Title)
	if first.Stopped {
		advice.Stopped, advice.Stop = true, first.Stop
	}
	return advice
}

// observe runs a session's hooks of a point outside of its turns, without waiting
// for them; see [live.Session.Observe].
func (w *Workbench) observe(session string, point agent.HookPoint, tell func(context.Context) agent.HookInput) {
	if l := w.sessions.Find(session); l != nil {
		l.Observe(point, tell)
	}
}

// observeTasks returns a function that tells a session's hooks which background
// commands begin and end. It is called with each change of one.
func (w *Workbench) observeTasks(session string) func(agent.TaskChange) {
	var mu sync.Mutex
	begun := map[string]bool{}
	return func(c agent.TaskChange) {
		mu.Lock()
		point := agent.HookTaskCreated
		if begun[c.Task] {
			point = agent.HookTaskCompleted
			delete(begun, c.Task)
		} else {
			begun[c.Task] = true
		}
		mu.Unlock()
		w.observe(session, point, func(context.Context) agent.HookInput { return w.taskInput(session, c.Task, point) })
	}
}

// taskInput returns what hooks are told of a task; nil if it is not there any more.
func (w *Workbench) taskInput(session, id string, point agent.HookPoint) agent.HookInput {
	place, ok := w.placeOf(session)
	if !ok {
		return nil
	}
	for _, t := range place.tasks.List() {
		switch {
		case t.ID != id:
		case point == agent.HookTaskCreated:
			return agent.TaskCreatedInput{TaskID: id, Command: t.Line}
		default:
			return completed(t)
		}
	}
	return nil
}

func completed(t tool.TaskInfo) agent.TaskCompletedInput {
	return agent.TaskCompletedInput{
		TaskID: t.ID, Command: t.Line, ExitCode: t.Result.ExitCode, Stopped: t.Result.Interrupted || t.Result.TimedOut,
	}
}

// observeRest tells the hooks of an agent that it is at rest.
func (w *Workbench) observeRest(ev agent.Event) {
	end, ok := ev.Data.(agent.ProcessingEnd)
	if !ok || end.Next {
		return
	}
	l := w.sessions.Find(ev.Session)
	if l == nil || l.Parent() == "" {
		return
	}
	w.teams.Rested(ev.Session, ev.Seq)
	l.Observe(agent.HookTeammateIdle, func(ctx context.Context) agent.HookInput {
		idle := agent.TeammateIdleInput{AgentID: ev.Session, Parent: l.Parent()}
		if report, err := w.delegation.Report(ctx, ev.Session); err == nil {
			idle.Message = report.Output
		}
		return idle
	})
}

// newTasks returns the list of a session's tasks, which notifies pages and hooks as
// long as the session has its workplace.
func (w *Workbench) newTasks(session string) *tool.Tasks {
	observe := w.observeTasks(session)
	return tool.NewTasks(func(c agent.TaskChange) {
		if _, ok := w.placeOf(session); !ok {
			return
		}
		w.publishTask(session, c)
		if !c.Printed {
			observe(c)
		}
	})
}

// publishTask notifies pages of a task's change, from any goroutine; the feed
// gathers these events.
func (w *Workbench) publishTask(session string, c agent.TaskChange) {
	w.feed.Publish(agent.Event{Session: session, At: time.Now().UnixMilli(), Data: c})
}
