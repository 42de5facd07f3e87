package agent

import (
	"context"
	"encoding/json"
	"fmt"
)

// Hooks runs what users and programs attach to the course of a session
// (OAS-118, K-10).
type Hooks interface {
	// Fire runs the hooks of a moment, one after the other, and returns what
	// they came to together: a deny before an ask, an ask before an allow, the
	// last input. It reports each hook by a [HookStart], its output by
	// [HookOutput] as it comes, and its end by a [HookEnd], from its caller's
	// goroutine. It is called from the session's goroutine, and for
	// the ends of calls that run side by side from theirs. It returns soon after ctx
	// ends; a hook that fails is reported and has no say.
	Fire(ctx context.Context, call HookCall, report func(Payload)) HookAdvice
}

// HookPoint is a moment at which hooks are run.
type HookPoint string

// The moments of the loop.
const (
	// HookSessionStart comes with the first input after a session was opened,
	// or opened again.
	HookSessionStart HookPoint = "sessionStart"
	// HookPreToolUse comes before a call is decided about. Its hooks may deny it,
	// have a person asked, spare the person being asked, or change its input.
	HookPreToolUse HookPoint = "preToolUse"
	// HookPostToolUse and HookPostToolUseFailure come after a call that ran, but
	// not after one that was interrupted. What their hooks say is told to the
	// model with the result.
	HookPostToolUse        HookPoint = "postToolUse"
	HookPostToolUseFailure HookPoint = "postToolUseFailure"
	// HookStop comes when a turn is about to end. If it ends well, a deny makes
	// it go on with the reason as what to do.
	HookStop HookPoint = "stop"
	// HookPreCompact comes before a conversation is made short. Its hooks may deny
	// that, or say what to keep in particular. HookPostCompact comes once it is
	// done, with the summary as the output; what its hooks say is told to the model.
	HookPreCompact  HookPoint = "preCompact"
	HookPostCompact HookPoint = "postCompact"
	// HookSessionEnd comes before a session is closed.
	HookSessionEnd HookPoint = "sessionEnd"
)

// HookCall is what hooks are told.
type HookCall struct {
	Point   HookPoint
	Session string
	Mode    Mode
	// Resumed says that a session which starts has a past.
	Resumed bool
	// Reason is that of the end of a turn.
	Reason EndReason
	// Again says that hooks have made this turn go on already.
	Again bool
	// Trigger is that of a compaction.
	Trigger CompactionTrigger
	// The rest is about a tool call. Tool is canonical, Input the tool's own.
	CallID string
	Tool   string
	Input  json.RawMessage
	Output string // after it ran, the whole; of a compaction, the summary
}

// HookAdvice is what the hooks of a moment came to.
type HookAdvice struct {
	// Decision is empty where no hook has a say.
	Decision Decision
	Reason   string
	// Input takes the place of a call's; nil leaves it.
	Input json.RawMessage
	// Context is told to the model.
	Context string
}

// HookStart says that a hook runs.
type HookStart struct {
	Point  HookPoint `json:"point"`
	Name   string    `json:"name"`
	CallID string    `json:"call_id,omitempty"`
}

// HookOutput is what a running hook has just printed.
type HookOutput struct {
	Point  HookPoint `json:"point"`
	Name   string    `json:"name"`
	CallID string    `json:"call_id,omitempty"`
	Text   string    `json:"text"`
}

// HookEnd says what a hook came to.
type HookEnd struct {
	Point      HookPoint `json:"point"`
	Name       string    `json:"name"`
	CallID     string    `json:"call_id,omitempty"`
	Failed     bool      `json:"failed,omitempty"`
	DurationMs int64     `json:"duration_ms"`
	Decision   Decision  `json:"decision,omitempty"`
	// Message is its reason, what it told the model, or why it failed.
	Message string `json:"message,omitempty"`
	// Input is what it made of the call's input; empty where it left it.
	Input string `json:"input,omitempty"`
}

// maxHolds is how often hooks may make one turn go on.
const maxHolds = 10

// fire runs the hooks of a moment. Where they panic, a call that they were to
// look at is denied.
func (s *Session) fire(ctx context.Context, call HookCall, report func(Payload)) (advice HookAdvice) {
	if s.cfg.Hooks == nil {
		return HookAdvice{}
	}
	call.Session, call.Mode = s.cfg.ID, s.settings().Mode
	reporting := false
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if reporting {
			panic(p) // of whoever is told, not of the hooks
		}
		logPanic("hooks", string(call.Point), p)
		report(HookEnd{Point: call.Point, Name: "hooks", CallID: call.CallID, Failed: true, Message: fmt.Sprint(p)})
		advice = HookAdvice{}
		if call.Point == HookPreToolUse {
			advice = HookAdvice{Decision: Deny, Reason: fmt.Sprintf("the hooks failed: %v", p)}
		}
	}()
	return s.cfg.Hooks.Fire(ctx, call, func(p Payload) {
		reporting = true
		report(p)
		reporting = false
	})
}

// fire runs the hooks of a moment in the turn's own goroutine. Those of an end
// run also in a turn that was interrupted.
func (t *turn) fire(call HookCall) HookAdvice {
	if t.stopped {
		return HookAdvice{}
	}
	ctx := t.ctx
	if call.Point == HookStop || call.Point == HookSessionEnd {
		ctx = context.WithoutCancel(ctx)
	}
	t.settle()
	return t.session.fire(ctx, call, t.emit)
}

// conclude lets hooks have their say about the end of a turn, and goes on
// where they ask for more.
func (t *turn) conclude(reason EndReason) EndReason {
	for holds := 0; ; holds++ {
		advice := t.fire(HookCall{Point: HookStop, Reason: reason, Again: holds > 0})
		if advice.Decision != Deny || reason != EndDone {
			return reason
		}
		if holds == maxHolds {
			t.emit(Warning{Code: "hooks", Message: fmt.Sprintf("Hooks made this turn go on %d times. It ends here all the same.", maxHolds)})
			return reason
		}
		t.emit(SteeringInjected{ByLoop: true, Text: advice.Reason})
		reason = t.loop()
	}
}

// consult asks the hooks about a call that is about to be decided about. What
// they made of its input is checked as the model's own was.
func (t *turn) consult(r *ready) HookAdvice {
	advice := t.fire(HookCall{Point: HookPreToolUse, CallID: r.call.ID, Tool: r.spec.Name, Input: r.call.Arguments})
	r.remark(advice.Context)
	if advice.Input == nil {
		return advice
	}
	if err := r.accepts(advice.Input); err != nil {
		return HookAdvice{Decision: Deny, Reason: fmt.Sprintf("it gave the call arguments that are not valid: %v", err)}
	}
	r.call.Arguments = advice.Input
	return advice
}

// weigh is a gate's verdict with the hooks' advice: the strictest wins, but an
// allow spares the person a question that is not final.
func weigh(v Verdict, advice HookAdvice) Verdict {
	switch {
	case advice.Decision == Deny:
		return Because(Deny, ReasonHookRefused, advice.Reason)
	case advice.Decision == Ask && v.Decision == Allow:
		return Because(Ask, ReasonHookWantsAsked, advice.Reason)
	case advice.Decision == Allow && !v.Final:
		return Because(Allow, ReasonHookAllowed, advice.Reason)
	}
	return v
}

// review tells the hooks how a call ended, and returns what they have to add
// for the model.
func (t *turn) review(r ready, result Result, send func(Payload)) (remark string) {
	point := HookPostToolUse
	if result.IsError {
		point = HookPostToolUseFailure
	}
	advice := t.session.fire(t.ctx, HookCall{
		Point: point, CallID: r.call.ID, Tool: r.spec.Name, Input: r.call.Arguments, Output: result.Output,
	}, send)
	if advice.Decision == Deny && advice.Context == "" {
		return advice.Reason
	}
	return advice.Context
}
