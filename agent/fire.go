package agent

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/internal/text"
)

// This file fires the hooks of a session and follows their advice. Every point of
// a turn is fired by [turn.fire], except those after calls that run in parallel.

const (
	// maxHolds limits how often hooks may continue one turn.
	maxHolds = 10
	// endTime is how long hooks have that run after a turn was interrupted, and
	// closeTime how long they have before a session is closed: the program that ends
	// waits for them, also for those that have to be killed.
	endTime, closeTime = 10 * time.Second, 1500 * time.Millisecond
	// maxHookTitle limits a title by a hook, in characters, and maxHookNotice
	// what hooks are told of an answer when the user is notified.
	maxHookTitle, maxHookNotice = 80, 200
)

// Observe runs the hooks of a point outside of a turn, such as the end of a
// background command, and returns what they advise; the caller decides what to
// do about it. It is safe for concurrent use, and calls report from its caller's
// goroutine. It returns soon after ctx ends.
func (s *Session) Observe(ctx context.Context, data HookInput, report func(Payload)) HookAdvice {
	return s.fire(ctx, data, report)
}

// Hooked reports whether hooks run at a point. It is safe for concurrent use.
func (s *Session) Hooked(point HookPoint) bool {
	selective, ok := s.cfg.Hooks.(SelectiveHook)
	return s.cfg.Hooks != nil && (!ok || selective.Has(point))
}

// fire runs the hooks of a point. If they panic where they decide about a tool
// call, that call is denied.
func (s *Session) fire(ctx context.Context, data HookInput, report func(Payload)) (advice HookAdvice) {
	if !s.Hooked(data.Point()) {
		return HookAdvice{}
	}
	call := HookCall{Session: s.cfg.ID, Mode: s.mode(), Data: data}
	call.Beside = func(name string) func() { return s.runBeside(data.Point(), name) }
	record := hooked{session: s, ctx: ctx, call: call}
	reporting := false
	defer func() {
		p := recover()
		record.over()
		if p == nil {
			return
		}
		if reporting {
			panic(p) // the listener panicked, not the hooks
		}
		point := data.Point()
		logPanic("hooks", string(point), p)
		report(HookEnd{Point: point, Name: "hooks", CallID: call.Tool().CallID, Failed: true, Message: fmt.Sprint(p)})
		advice = HookAdvice{}
		if point == HookPreToolUse || point == HookPermissionRequest {
			advice = HookAdvice{Decision: Deny, Reason: fmt.Sprintf("the hooks failed: %v", p)}
		}
	}()
	advice = s.cfg.Hooks.Fire(ctx, call, func(p Payload) {
		p = record.see(p)
		reporting = true
		report(p)
		reporting = false
	})
	advice.Context = joined(append([]string{advice.Context}, record.told...)...)
	advice.Changed = record.changed
	return advice
}

// mode returns the permission mode. It is safe for concurrent use.
func (s *Session) mode() Mode {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	return cmp.Or(s.control.latest.Mode, ModeDefault)
}

// fire runs the hooks of a point in the turn's own goroutine. Those of an end
// run even if the turn was interrupted.
func (t *turn) fire(data HookInput) HookAdvice {
	if t.stopped || !t.session.Hooked(data.Point()) {
		return HookAdvice{}
	}
	ctx := t.ctx
	stop, _ := data.(StopInput)
	switch point := data.Point(); {
	case point == HookSessionEnd:
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer cancel()
	case point == HookStop && (ctx.Err() != nil || stop.Reason == EndRefused): // nothing hangs on these
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), endTime)
		defer cancel()
	}
	t.settle()
	advice := t.session.fire(ctx, data, t.emit)
	t.heed(advice)
	return advice
}

// heed does what hooks may advise at every point: it names the session, and marks
// the turn as ended.
func (t *turn) heed(advice HookAdvice) {
	title := text.Shorten(strings.Join(strings.Fields(advice.Title), " "), maxHookTitle)
	if has := t.session.transcript.Title; title != "" && !has.ByUser && has.Text != title {
		t.emit(Title{Text: title, ByHook: true})
	}
	if advice.Stopped && t.halt == nil {
		t.halt = &advice.Stop
	}
}

// tell tells the model what hooks say at a point that is not about a call.
func (t *turn) tell(text string) {
	if text != "" {
		t.emit(SteeringInjected{ByLoop: true, Text: text})
	}
}

// halted ends a turn that hooks ended.
func (t *turn) halted() EndReason {
	t.emit(Warn(WarnHookStopped, *t.halt))
	return EndStopped
}

// admitted asks hooks about a message of the user that the model is about to be
// sent. If they refuse it, the user is told why.
func (t *turn) admitted(prompt string) (advice HookAdvice, ok bool) {
	advice = t.fire(UserPromptSubmitInput{Prompt: prompt})
	if advice.Decision == Deny {
		t.emit(Warn(WarnPromptRefused, advice.Reason))
		return advice, false
	}
	return advice, true
}

// undecided reports whether nobody can tell what hooks think of a message of the
// user: the turn was interrupted while they were asked, or so it may be.
func (t *turn) undecided(cut bool) bool {
	return cut && !t.stopped && t.session.Hooked(HookUserPromptSubmit)
}

// undecide ends a turn whose input hooks did not decide about. It is not sent, now
// or with a later one.
func (t *turn) undecide() EndReason {
	t.emit(Warn(WarnPromptUndecided))
	return EndRefused
}

// sampled tells hooks about a whole answer.
func (t *turn) sampled(answer *llm.Answer, calls int) {
	if !t.session.Hooked(HookPostSampling) {
		return
	}
	model := t.session.transcript.past.last.Model
	advice := t.fire(PostSamplingInput{Model: model, Message: t.said, Calls: calls, Usage: answer.Usage})
	t.tell(advice.Context)
}

// conclude asks hooks about the end of a turn, and continues if they require
// it.
func (t *turn) conclude(reason EndReason) EndReason {
	for holds := 0; ; holds++ {
		t.settle()                // who sees the last answer may interrupt the turn
		if reason == EndRefused { // the model was not asked, and is told nothing
			t.fire(StopInput{Reason: reason})
			return reason
		}
		advice := t.fire(StopInput{Reason: reason, Again: holds > 0, Message: t.said})
		if reason == EndDone && t.halt != nil {
			t.tell(advice.Context)
			return t.halted()
		}
		if advice.Decision != Deny || reason != EndDone {
			t.tell(advice.Context)
			if reason != EndDone || t.ctx.Err() != nil || !t.session.queue.Has(Steer) {
				return reason
			}
			reason = t.loop() // the user steered while the hooks ran
			continue
		}
		if holds == maxHolds {
			t.emit(Warn(WarnHooksOverruled, strconv.Itoa(maxHolds)))
			return reason
		}
		t.emit(SteeringInjected{ByLoop: true, Text: joined(advice.Reason, advice.Context)})
		reason = t.loop()
	}
}

// notifyEnd tells hooks of the end of a turn, as far as the user is told.
func (t *turn) notifyEnd(reason EndReason) {
	switch reason {
	case EndDone:
		t.notify(NotificationInput{Type: NotifyTurnDone, Title: "The turn is done", Message: text.Shorten(t.said, maxHookNotice)})
	case EndFailed, EndLimit, EndBudget, EndStopped:
		t.notify(NotificationInput{Type: NotifyTurnFailed, Title: "The turn ended early", Message: ended[reason]})
	}
}

// ended says to hooks why a turn ended early.
var ended = map[EndReason]string{
	EndFailed:  "It failed.",
	EndLimit:   "It reached a limit.",
	EndBudget:  "The budget of the session is spent.",
	EndStopped: "A hook ended it.",
}

func (t *turn) notify(n NotificationInput) { t.tell(t.fire(n).Context) }

// forHooks describes the call to hooks.
func (r *ready) forHooks(ctx context.Context) HookTool {
	about := HookTool{Tool: r.spec.Name, Input: r.call.Arguments, CallID: r.call.ID}
	about.Access, _ = r.access(ctx)
	return about
}

// consult asks the hooks about a call before the decision; asked is false if there
// are none.
func (t *turn) consult(r *ready) (advice HookAdvice, asked bool) {
	if !t.session.Hooked(HookPreToolUse) {
		return HookAdvice{}, false
	}
	return t.follow(r, t.fire(PreToolUseInput{r.forHooks(t.ctx)})), true
}

// follow takes over what hooks say about a call that is about to run. Input that
// they changed is checked like the model's own.
func (t *turn) follow(r *ready, advice HookAdvice) HookAdvice {
	r.remark(advice.Context)
	if advice.Stopped {
		return HookAdvice{Decision: Deny, Reason: cmp.Or(advice.Stop, advice.Reason, "it ended the turn"), By: advice.StoppedBy}
	}
	if advice.Input == nil || advice.Decision == Deny {
		return advice
	}
	if err := r.accepts(advice.Input); err != nil {
		return HookAdvice{Decision: Deny, Reason: fmt.Sprintf("it gave the call arguments that are not valid: %v", err)}
	}
	r.call.Arguments = advice.Input
	return advice
}

// petition lets hooks answer instead of a person. They cannot allow what is
// final, what a person is asked about each time, or what another hook wants a
// person to be asked about. An open question stays with the person.
func (t *turn) petition(r *ready, gc GateCall, verdict Verdict) (GateCall, Verdict) {
	open := t.session.transcript.openCall(r.call.ID)
	if !t.session.Hooked(HookPermissionRequest) || open != nil && open.request != nil {
		return gc, verdict
	}
	advice := t.follow(r, t.fire(PermissionRequestInput{r.forHooks(t.ctx), verdict.Reason}))
	if advice.Decision == Deny {
		return gc, weigh(verdict, advice)
	}
	before := r.judged
	gc = t.judge(r.forgetAccess()) // rules may have changed, and the hooks may have changed the call
	t.workedOn(gc.Access)
	switch {
	case r.judged.Decision == Deny:
		return gc, r.judged
	case advice.Decision != Allow && advice.Input == nil:
		return gc, verdict
	case r.judged.Decision != Allow && r.judged.Reason != before.Reason && verdict.By != ByHook:
		verdict = r.judged
	}
	person := verdict.Final || verdict.EachTime || r.judged.Decision != Allow && (r.judged.Final || r.judged.EachTime)
	if advice.Decision == Allow && !person && verdict.By != ByHook {
		return gc, weigh(verdict, advice)
	}
	return gc, verdict
}

// weigh combines a gate's verdict with the hooks' advice. The strictest wins,
// except that an allow spares the person a question that is not final.
func weigh(v Verdict, advice HookAdvice) Verdict {
	switch {
	case advice.Decision == Deny:
		return byHook(Because(Deny, ReasonHookRefused, advice.Reason), advice)
	case advice.Decision == Ask && v.Decision == Allow:
		return byHook(Because(Ask, ReasonHookWantsAsked, advice.Reason), advice)
	case advice.Decision == Allow && !v.Final:
		return byHook(Because(Allow, ReasonHookAllowed, advice.Reason), advice)
	}
	return v
}

// insist leaves a question to a person if only a person may answer it: neither
// hooks nor rules, and no earlier answer.
func (a HookAdvice) insist(v Verdict) Verdict {
	if !a.Final || a.Decision != Ask || v.Decision == Deny {
		return v
	}
	asked := weigh(Verdict{Decision: Allow}, a)
	asked.Final, asked.EachTime = true, true
	return asked
}

func byHook(v Verdict, advice HookAdvice) Verdict {
	v.By, v.Hook = ByHook, advice.By
	return v
}

// refused tells hooks that a call was denied, and returns what the model is told.
func (t *turn) refused(r *ready, denial string) string {
	if !t.session.Hooked(HookPermissionDenied) {
		return denial
	}
	advice := t.fire(PermissionDeniedInput{HookTool: r.forHooks(t.ctx), Reason: denial, By: r.authority.By})
	r.remark(advice.Context)
	return joined(append([]string{denial}, r.remarks...)...)
}

// arrive tells hooks that a command is about to run in another folder than the
// one before it. An empty name stands for the session's folder.
func (t *turn) arrive(r *ready) {
	access, _ := r.access(t.ctx)
	if access.Command == "" || access.Task != "" || access.Dir == t.session.dir || !t.session.Hooked(HookCwdChanged) {
		return
	}
	old := t.session.dir
	t.session.dir = access.Dir
	t.tell(t.fire(CwdChangedInput{Old: old, New: access.Dir}).Context)
}

// review tells the hooks how a call ended.
func (t *turn) review(r ready, result Result, took time.Duration, send func(Payload)) HookAdvice {
	point := HookPostToolUse
	if result.IsError {
		point = HookPostToolUseFailure
	}
	if !t.session.Hooked(point) {
		return HookAdvice{}
	}
	about := r.forHooks(t.ctx)
	var data HookInput = PostToolUseInput{HookTool: about, Output: result.Output, DurationMs: took.Milliseconds()}
	if result.IsError {
		data = PostToolUseFailureInput{HookTool: about, Error: result.Output, DurationMs: took.Milliseconds()}
	}
	return t.session.fire(t.ctx, data, send)
}

// afterwards returns what hooks add to a result for the model.
func (a HookAdvice) afterwards() string {
	if a.Decision == Deny && a.Context == "" {
		return a.Reason
	}
	return a.Context
}

// joined joins the paragraphs that are not empty.
func joined(texts ...string) string { return strings.Join(nonEmpty(texts...), "\n\n") }

func nonEmpty(texts ...string) (out []string) {
	for _, text := range texts {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}
