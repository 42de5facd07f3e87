package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
)

// CanUseTool is a program's own say about a call (OAS-627). It is asked after the
// gate, in the session's goroutine, and returns nil if it has no opinion: what the
// gate decided holds then. An opinion replaces what the permission mode decided, but
// nothing that is final: rules that deny or ask, plan mode, protected files.
type CanUseTool func(ctx context.Context, call GateCall) *CanUseToolResult

// CanUseToolResult is what a [CanUseTool] wants to happen.
type CanUseToolResult struct {
	Decision Decision
	// Reason is one sentence; it may be empty.
	Reason string
	// Input, with [Allow], replaces the call's arguments. The gate judges the call
	// again with them. The opinion allows nothing about which the gate is stricter
	// than about the call as the model made it.
	Input json.RawMessage
}

// SetCanUseTool sets the function that is asked about each call from now on; nil
// returns to what the gate decides. A change of the permission mode removes it
// (OAS-629). It is safe for concurrent use.
func (s *Session) SetCanUseTool(f CanUseTool) {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	s.control.canUse = f
}

// SetPermissionMode changes the permission mode at once, and removes the function
// of [Session.SetCanUseTool], even if the mode is the same. It is safe for
// concurrent use.
func (s *Session) SetPermissionMode(mode Mode) {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	set := s.control.latest
	set.Mode = mode
	s.control.configure(set)
	s.control.canUse = nil
}

// opine replaces the gate's verdict with a program's opinion.
func (t *turn) opine(c *ready, gc GateCall) GateCall {
	t.session.control.mu.Lock()
	f := t.session.control.canUse
	t.session.control.mu.Unlock()
	if f == nil || c.judged.Decision == Deny && c.judged.Final {
		return gc
	}
	var o *CanUseToolResult
	if broken := protect(c.spec.Name, func() { o = f(t.ctx, gc) }); broken != "" {
		o = &CanUseToolResult{Decision: Deny, Reason: broken}
	}
	switch {
	case o == nil:
	case o.Decision == Deny:
		c.judged = byCallback(Because(Deny, ReasonCallbackDenied, o.Reason))
		c.judged.Final = true
	case o.Decision == Ask && !c.judged.Final:
		c.judged = byCallback(Because(Ask, ReasonCallbackAsks, o.Reason))
	case o.Decision == Allow && o.Input != nil:
		return t.narrowed(c, gc, o)
	case o.Decision == Allow && !c.judged.Final:
		c.judged = byCallback(Because(Allow, ReasonCallbackAllowed, o.Reason))
	}
	return gc
}

// narrowed judges a call with the arguments of an opinion.
func (t *turn) narrowed(c *ready, gc GateCall, o *CanUseToolResult) GateCall {
	if err := c.accepts(o.Input); err != nil {
		c.judged = byCallback(Because(Deny, ReasonCallbackDenied, fmt.Sprintf("It gave the call arguments that are not valid: %v.", err)))
		c.judged.Final = true
		return gc
	}
	before := c.judged
	c.call.Arguments = o.Input
	gc = t.gate(c)
	if !c.judged.Final && cmp.Compare(strictness(c.judged.Decision), strictness(before.Decision)) <= 0 && !before.Final {
		c.judged = byCallback(Because(Allow, ReasonCallbackAllowed, o.Reason))
	}
	return gc
}

// strictness orders decisions. One that is not known is taken for a question.
func strictness(d Decision) int {
	switch d {
	case Allow:
		return 0
	case Deny:
		return 2
	}
	return 1
}

func byCallback(v Verdict) Verdict {
	v.By = ByCallback
	return v
}
