package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// Hooks runs code that users and programs attach to a session (OAS-118, K-10).
type Hooks interface {
	// Fire runs the hooks of a point one after the other and returns their
	// combined advice: a deny overrides an ask, an ask overrides an allow, and
	// the last input wins. It reports each hook by a [HookStart], its output by
	// [HookOutput] as it comes, and its end by a [HookEnd], from its caller's
	// goroutine. It is called from the session's goroutine, and for the ends of
	// parallel calls from theirs. It returns soon after ctx ends. A hook that
	// fails is reported and has no influence.
	Fire(ctx context.Context, call HookCall, report func(Payload)) HookAdvice
}

// HookPoint is a point at which hooks run.
type HookPoint string

// The points. The loop itself fires most of them; those of background commands,
// files, settings, worktrees and agents are fired by the host.
const (
	HookSetup            HookPoint = "setup"
	HookSessionStart     HookPoint = "sessionStart"
	HookUserPromptSubmit HookPoint = "userPromptSubmit"
	// Hooks of HookPreToolUse may deny the call, require a person's approval, make
	// one unnecessary, or change the input.
	HookPreToolUse        HookPoint = "preToolUse"
	HookPermissionRequest HookPoint = "permissionRequest"
	HookPermissionDenied  HookPoint = "permissionDenied"
	// Hooks after a call do not run for one that was interrupted. Their messages
	// are told to the model with the result.
	HookPostToolUse        HookPoint = "postToolUse"
	HookPostToolUseFailure HookPoint = "postToolUseFailure"
	HookPostSampling       HookPoint = "postSampling"
	// If a turn that is about to end succeeded, a deny of HookStop continues it
	// with the reason as the next instruction.
	HookStop           HookPoint = "stop"
	HookSubagentStart  HookPoint = "subagentStart"
	HookSubagentStop   HookPoint = "subagentStop"
	HookTeammateIdle   HookPoint = "teammateIdle"
	HookTaskCreated    HookPoint = "taskCreated"
	HookTaskCompleted  HookPoint = "taskCompleted"
	HookNotification   HookPoint = "notification"
	HookConfigChange   HookPoint = "configChange"
	HookCwdChanged     HookPoint = "cwdChanged"
	HookFileChanged    HookPoint = "fileChanged"
	HookWorktreeCreate HookPoint = "worktreeCreate"
	HookWorktreeRemove HookPoint = "worktreeRemove"
	// Hooks of HookPreCompact may deny the compaction, or name what to keep in
	// particular. The messages of those after it are told to the model.
	HookPreCompact  HookPoint = "preCompact"
	HookPostCompact HookPoint = "postCompact"
	HookSessionEnd  HookPoint = "sessionEnd"
)

// HookCall is what hooks are told.
type HookCall struct {
	Point   HookPoint
	Session string
	Mode    Mode
	// Resumed says that the session that starts has a history.
	Resumed bool
	// Reason is the reason why a turn ends.
	Reason EndReason
	// Again says that hooks have already continued this turn.
	Again bool
	// Trigger is the trigger of a compaction.
	Trigger CompactionTrigger
	// The other fields describe a tool call. Tool is the canonical name, Input
	// the tool's own input.
	CallID string
	Tool   string
	Input  json.RawMessage
	Output string // the full output after it ran; for a compaction, the summary
}

// HookAdvice is the combined advice of the hooks of a point.
type HookAdvice struct {
	// Decision is empty if no hook decides.
	Decision Decision
	Reason   string
	// Input replaces the call's input; nil leaves it.
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

// HookEnd reports the result of a hook.
type HookEnd struct {
	Point      HookPoint `json:"point"`
	Name       string    `json:"name"`
	CallID     string    `json:"call_id,omitempty"`
	Failed     bool      `json:"failed,omitempty"`
	DurationMs int64     `json:"duration_ms"`
	Decision   Decision  `json:"decision,omitempty"`
	// Message is the hook's reason, its message to the model, or why it failed.
	Message string `json:"message,omitempty"`
	// Input is the call's input as the hook changed it; empty if it did not.
	Input string `json:"input,omitempty"`
}

// maxHolds limits how often hooks may continue one turn.
const maxHolds = 10

// fire runs the hooks of a point. If they panic before a tool call, that call
// is denied.
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
			panic(p) // the listener panicked, not the hooks
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

// fire runs the hooks of a point in the turn's own goroutine. Hooks of an end
// run even if the turn was interrupted.
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

// conclude asks hooks about the end of a turn, and continues if they require
// it.
func (t *turn) conclude(reason EndReason) EndReason {
	for holds := 0; ; holds++ {
		advice := t.fire(HookCall{Point: HookStop, Reason: reason, Again: holds > 0})
		if advice.Decision != Deny || reason != EndDone {
			return reason
		}
		if holds == maxHolds {
			t.emit(Warn(WarnHooksOverruled, strconv.Itoa(maxHolds)))
			return reason
		}
		t.emit(SteeringInjected{ByLoop: true, Text: advice.Reason})
		reason = t.loop()
	}
}

// consult asks the hooks about a call before the decision. Input that they
// changed is checked like the model's own.
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

// weigh combines a gate's verdict with the hooks' advice. The strictest wins,
// except that an allow spares the person a question that is not final.
func weigh(v Verdict, advice HookAdvice) Verdict {
	switch {
	case advice.Decision == Deny:
		return byHook(Because(Deny, ReasonHookRefused, advice.Reason))
	case advice.Decision == Ask && v.Decision == Allow:
		return byHook(Because(Ask, ReasonHookWantsAsked, advice.Reason))
	case advice.Decision == Allow && !v.Final:
		return byHook(Because(Allow, ReasonHookAllowed, advice.Reason))
	}
	return v
}

func byHook(v Verdict) Verdict {
	v.By = ByHook
	return v
}

// review tells the hooks how a call ended, and returns what they add for the
// model.
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
