package agent

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"atelier.dev/atelier/agent/llm"
)

// Run runs a tool outside of any session: the arguments are read as in one, and a
// panic becomes a failed call. Nothing decides whether the call may run. A nil
// Output is taken for one that drops everything.
func Run(ctx context.Context, t Tool, call Invocation) Result {
	registry, err := NewRegistry(t)
	if err != nil {
		return Fail(sentence(err.Error()))
	}
	name := t.Spec().Name
	b, _ := registry.Show().get(name)
	input, _, err := b.input(call.Input)
	if err == nil {
		err = b.accepts(input)
	}
	if err != nil {
		return Fail(fmt.Sprintf("The arguments of %s are not valid: %v. It takes %s.", name, err, b.takes()))
	}
	call.Input = input
	pass := func(text string, _ int) {
		if call.Output != nil {
			call.Output(text)
		}
	}
	return watched(name, pass, func(output func(string)) Result {
		call := call
		call.Output = output
		return t.Run(ctx, call)
	})
}

// left is a turn that goes on in another session; see [Session.Proceed].
type left struct {
	progress
	usage  llm.Usage
	before llm.Spending
}

// goOnWith runs calls of the newest answer, and then the loop.
func goOnWith(t *turn, calls []llm.ToolCall) EndReason {
	t.dispatch(calls)
	if t.away {
		return ""
	}
	return t.loop()
}

// Left reports whether a call has moved the session in the middle of a turn; see [Session.Proceed].
func (s *Session) Left() bool { return s.left != nil }

// Proceed goes on with the open turn of before, which a call has moved elsewhere
// (Details.Worktree): such a turn stops without an end, because the tools, the gate and the
// instructions of the folder are the session's own. The caller makes the session again from
// its log, for the new folder, and this one continues the turn: it runs the calls that have
// not started, under the limits and hooks that the turn has used up. If no turn is open, it
// yields nothing.
func (s *Session) Proceed(ctx context.Context, before *Session) iter.Seq2[Event, error] {
	return s.turn(ctx, func(t *turn) {
		if l := before.left; l != nil && s.isOpen() {
			t.progress, t.usage, t.before, before.left = l.progress, l.usage, l.before, nil
			var rest []llm.ToolCall
			for _, c := range s.transcript.open.all() {
				rest = append(rest, c.call)
			}
			t.described = false // the folder is another one
			t.toRest(goOnWith(t, rest))
		}
		t.settle()
	})
}

// resume continues a turn that was found open; see [Session.Resume].
func (t *turn) resume() EndReason {
	open := t.session.transcript.open.all()
	waiting := slices.ContainsFunc(open, func(c openCall) bool { return c.request != nil })
	var rest []llm.ToolCall
	for _, c := range open {
		if waiting && (c.request != nil || !c.started || t.idempotent(c.call)) {
			rest = append(rest, c.call)
			continue
		}
		told := "The program ended while this call was under way. Whether it had any effect is unknown: check before repeating it."
		if t.idempotent(c.call) {
			told = "The program ended while this call was under way. It can be made again."
		}
		end := t.ended(c.call, t.session.tools().Canonical(c.call.Name), Fail(told), OutcomeInterrupted, 0)
		end.Files = t.session.cfg.recovered(t.ctx, c.call.ID)
		t.emit(end)
	}
	if t.undecided(t.session.transcript.past.unsent) {
		return t.undecide()
	}
	if !waiting {
		return EndCrashed
	}
	return goOnWith(t, rest)
}
