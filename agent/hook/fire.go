package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent"
)

// firing is one point that is fired.
type firing struct {
	engine *Engine
	call   agent.HookCall
	point  agent.HookPoint
	report func(agent.Payload)
	advice agent.HookAdvice
	done   map[string]bool // what has run, so that an equal hook does not
	inputs map[string]json.RawMessage
	by     *agent.HookSource // the hook that is considered
}

// consider runs a hook if it is about the call and may run.
func (f *firing) consider(ctx context.Context, h Handler) {
	r := run{handler: h, session: f.call.Session, call: f.call, about: f.about(), begin: now()}
	f.by = &agent.HookSource{Name: h.Name, File: h.Origin.File}
	found := f.engine.match(h, f.call)
	r.cause, r.detail = found.cause, found.detail
	switch {
	case found.cause == CauseBadMatcher:
		f.unreadable(r)
		return
	case found.cause == CauseKind:
		r.outcome = OutcomeFailed
		f.engine.log(r)
		return
	case len(found.views) == 0:
		r.outcome = OutcomeNotMatched
		f.engine.log(r)
		return
	}
	if r.outcome = f.permitted(h); r.outcome != OutcomeRan {
		f.engine.log(r)
		return
	}
	f.done[h.does()] = true
	allowed := Answer{Decision: agent.Allow}
	n := 0
	for _, v := range found.views {
		said := f.run(ctx, r, v)
		if !v.own && said.Decision == agent.Allow {
			allowed.Reason, n = join("\n", allowed.Reason, said.Reason), n+1
		}
	}
	if n == len(found.views) && found.blind == "" {
		f.merge(allowed)
	}
	if found.blind != "" && f.guardedBy(h) {
		r.fail(CauseManyFiles, found.blind)
		f.engine.log(r)
		f.ask(fmt.Sprintf("the hook %s cannot check all that the call is about (%s)", h.Name, found.blind))
	}
}

// permitted decides whether a hook that is about the call runs. One that guards
// calls and was changed since it was trusted, or that is missed, has a person asked,
// so that nobody switches a guard off by editing it.
func (f *firing) permitted(h Handler) Outcome {
	if f.done[h.does()] {
		return OutcomeDuplicate
	}
	ready := f.engine.ready(h)
	if (ready.Missed || ready.State == StateChanged) && f.guardedBy(h) {
		why := cmp.Or(ready.Why, "it was changed since you trusted it and does not run")
		f.ask(fmt.Sprintf("the hook %s guards this call, but %s", h.Name, why))
	}
	switch ready.State {
	case StateOff:
		return OutcomeOff
	case StateChanged:
		return OutcomeChanged
	case StateReady:
	default:
		return OutcomeUntrusted
	}
	if h.Terms.Once && !f.engine.runsOnce(h.ID()) {
		return OutcomeOnce
	}
	return OutcomeRan
}

// unreadable treats a hook of which nobody can tell what it is about (OAS-665).
func (f *firing) unreadable(r run) {
	r.outcome = OutcomeFailed
	ready := f.engine.ready(r.handler)
	if f.guardedBy(r.handler) && (ready.Missed || ready.State == StateReady || ready.State == StateChanged) {
		f.ask(fmt.Sprintf("the matcher of the hook %s cannot be read (%s), so that nobody can tell what the hook guards", r.handler.Name, r.detail))
	}
	f.engine.log(r)
}

// guardedBy reports whether a hook would be in the way of the call.
func (f *firing) guardedBy(h Handler) bool { return guards(f.point) && !h.Terms.Async }

// ask has a person asked, whatever other hooks say.
func (f *firing) ask(reason string) {
	f.merge(Answer{Decision: agent.Ask, Reason: reason})
	f.advice.Final = true
}

func (f *firing) about() About {
	tool := f.call.Tool()
	return About{Point: f.point, Tool: tool.Tool, CallID: tool.CallID}
}

// run runs a hook for one view of the call, and returns what it said.
func (f *firing) run(ctx context.Context, r run, v view) Answer {
	key := v.tool + "\x00" + v.file
	if v.own {
		key = ""
	}
	if f.inputs[key] == nil {
		f.inputs[key] = f.engine.input(f.call, v)
	}
	r.input, r.own = f.inputs[key], v.own
	if v.tool != "" {
		r.about.Tool, r.about.File = v.tool, v.file
	}
	if r.handler.Terms.Async {
		if !f.engine.startBeside(r) {
			r.fail(CauseBusy, fmt.Sprint(most))
			f.engine.log(r)
		}
		return Answer{}
	}
	name := r.handler.Name
	if v.file != "" {
		name += " · " + filepath.Base(v.file)
	}
	f.report(agent.HookStart{Point: f.point, Name: name, CallID: r.about.CallID, Status: r.handler.Terms.Status})
	f.follow(ctx, &r, name)
	f.influence(&r)
	f.engine.log(r)
	f.report(f.engine.ended(r, name))
	return r.answer
}

// influence lets the answer of a run count.
func (f *firing) influence(r *run) {
	switch {
	case r.answer.Input == nil || !guards(f.point):
		r.answer.Input = nil
	case !r.own:
		r.fail(CauseView, "")
	}
	r.failClosed()
	r.answer = cleanWords(r.answer, cleaner(r.secrets)) // neither the model nor the session's log gets them
	if r.answer.Output != nil && len(r.secrets) > 0 {
		output := without(r.secrets, *r.answer.Output)
		r.answer.Output = &output
	}
	if u := r.answer.Update; u != nil && r.outcome == OutcomeRan {
		switch {
		case f.engine.Update == nil:
			r.cause, r.detail = CauseUpdate, "this session's rules cannot be changed"
		default:
			if err := f.engine.Update(r.handler, *u); err != nil {
				r.cause, r.detail = CauseUpdate, err.Error()
			}
		}
	}
	said := r.answer
	if !r.own && said.Decision == agent.Allow {
		said.Decision, said.Reason = "", "" // what it was shown is not all of the call
	}
	f.merge(said)
}

// maxTold limits what all hooks of a point tell the model together, in bytes.
const maxTold = 64 << 10

// merge adds an answer to the advice: a deny overrides an ask, an ask overrides
// an allow, and the last input, output and title win (K-10, COM-82).
func (f *firing) merge(a Answer) {
	advice := &f.advice
	f.fit(&a)
	if a.Input != nil {
		advice.Input = a.Input
	}
	if a.Output != nil {
		advice.Output = a.Output
	}
	if a.Title != "" {
		advice.Title = a.Title
	}
	if a.Stopped {
		advice.Stopped, advice.Stop = true, join("\n", advice.Stop, a.Stop)
		advice.StoppedBy = cmp.Or(advice.StoppedBy, f.by)
	}
	if told := join("\n\n", advice.Context, a.Context, a.Said); len(told) <= maxTold {
		advice.Context = told
	}
	switch known, new := strictness(advice.Decision), strictness(a.Decision); {
	case new > known:
		advice.Decision, advice.Reason, advice.By = a.Decision, a.Reason, f.by
	case new == known && new > 0 && !strings.Contains(advice.Reason, a.Reason):
		advice.Reason = join("\n", advice.Reason, a.Reason)
	}
}

// fit keeps of an answer what the point can use.
func (f *firing) fit(a *Answer) {
	switch f.point {
	case agent.HookPreToolUse, agent.HookPermissionRequest:
		return
	case agent.HookUserPromptSubmit, agent.HookStop, agent.HookSubagentStop, agent.HookPreCompact,
		agent.HookWorktreeCreate:
		if a.Decision != agent.Deny {
			a.Decision, a.Reason = "", ""
		}
		return
	}
	if a.Decision == agent.Deny && tellsModel(f.point) {
		a.Context = join("\n\n", a.Reason, a.Context)
	}
	a.Decision, a.Reason = "", ""
}
