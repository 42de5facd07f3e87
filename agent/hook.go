package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
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
	Session string
	Mode    Mode
	// Data is the input of the point.
	Data HookInput
}

// Point returns the point that the call is about.
func (c HookCall) Point() HookPoint { return c.Data.Point() }

// Tool returns the tool call that the hooks are told about; it is empty at points
// that are not about one.
func (c HookCall) Tool() HookTool {
	if about, ok := c.Data.(interface{ tool() HookTool }); ok {
		return about.tool()
	}
	return HookTool{}
}

// HookAdvice is the combined advice of the hooks of a point. A point ignores
// what it cannot use.
type HookAdvice struct {
	// Decision is empty if no hook decides.
	Decision Decision
	Reason   string
	// Final says that only a person may answer what this advice asks about.
	Final bool
	// Input replaces the call's input; nil leaves it.
	Input json.RawMessage
	// Output replaces what the model is told of a call's result; nil leaves it.
	// The log and the person keep the result itself.
	Output *string
	// Context is told to the model.
	Context string
	// Stopped ends the turn after this point, and Stop says why.
	Stopped bool
	Stop    string
	// Title names the session, unless its user has.
	Title string
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
	// Said is the hook's message to the user, which the model is told too.
	Said string `json:"said,omitempty"`
	// Notice is what the hook wants the user to notice; nil if nothing.
	Notice *HookNotice `json:"notice,omitempty"`
}

// HookNotice is a notification by a hook.
type HookNotice struct {
	Title string      `json:"title"`
	Body  string      `json:"body"`
	Level NoticeLevel `json:"level"`
}

// NoticeLevel says how much a notice matters.
type NoticeLevel string

// The levels of notices.
const (
	NoticeDebug   NoticeLevel = "debug"
	NoticeInfo    NoticeLevel = "info"
	NoticeWarning NoticeLevel = "warning"
	NoticeError   NoticeLevel = "error"
)

// maxHolds limits how often hooks may continue one turn.
const maxHolds = 10

// fire runs the hooks of a point. If they panic where they decide about a tool
// call, that call is denied.
func (s *Session) fire(ctx context.Context, data HookInput, report func(Payload)) (advice HookAdvice) {
	if s.cfg.Hooks == nil {
		return HookAdvice{}
	}
	call := HookCall{Session: s.cfg.ID, Mode: s.settings().Mode, Data: data}
	reporting := false
	defer func() {
		p := recover()
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
	return s.cfg.Hooks.Fire(ctx, call, func(p Payload) {
		reporting = true
		report(p)
		reporting = false
	})
}

// fire runs the hooks of a point in the turn's own goroutine. Hooks of an end
// run even if the turn was interrupted.
func (t *turn) fire(data HookInput) HookAdvice {
	if t.stopped || t.session.cfg.Hooks == nil {
		return HookAdvice{}
	}
	ctx := t.ctx
	if point := data.Point(); point == HookStop || point == HookSessionEnd {
		ctx = context.WithoutCancel(ctx)
	}
	t.settle()
	return t.session.fire(ctx, data, t.emit)
}

// conclude asks hooks about the end of a turn, and continues if they require
// it.
func (t *turn) conclude(reason EndReason) EndReason {
	for holds := 0; ; holds++ {
		t.settle() // who sees the last answer may interrupt the turn
		advice := t.fire(StopInput{Reason: reason, Again: holds > 0, Message: t.said})
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
func (t *turn) consult(r *ready, gc GateCall) HookAdvice {
	advice := t.fire(PreToolUseInput{r.forHooks(gc)})
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

// forHooks describes the call to hooks.
func (r *ready) forHooks(gc GateCall) HookTool {
	return HookTool{Tool: gc.Tool, Input: gc.Input, CallID: r.call.ID, Access: gc.Access}
}

// review tells the hooks how a call ended, and returns what they add for the
// model.
func (t *turn) review(r ready, result Result, took time.Duration, send func(Payload)) (remark string) {
	if t.session.cfg.Hooks == nil {
		return ""
	}
	about := HookTool{Tool: r.spec.Name, Input: r.call.Arguments, CallID: r.call.ID}
	about.Access, _ = r.access()
	var data HookInput = PostToolUseInput{HookTool: about, Output: result.Output, DurationMs: took.Milliseconds()}
	if result.IsError {
		data = PostToolUseFailureInput{HookTool: about, Error: result.Output, DurationMs: took.Milliseconds()}
	}
	advice := t.session.fire(t.ctx, data, send)
	if advice.Decision == Deny && advice.Context == "" {
		return advice.Reason
	}
	return advice.Context
}
