package permission

import (
	"context"
	"slices"

	"atelier.dev/atelier/agent"
)

// The functions below make callbacks for [agent.Session.SetCanUseTool] (OAS-628).
// [Composite] joins them.

// ToolNameAllowlist allows the tools with these names and denies every other one.
func ToolNameAllowlist(names ...string) agent.CanUseTool {
	return func(_ context.Context, call agent.GateCall) *agent.CanUseToolResult {
		if slices.Contains(names, call.Tool) {
			return &agent.CanUseToolResult{Decision: agent.Allow}
		}
		return &agent.CanUseToolResult{Decision: agent.Deny, Reason: "The tool " + call.Tool + " is not among those that may be used."}
	}
}

// ToolNameDenylist denies the tools with these names and has no opinion about
// others.
func ToolNameDenylist(names ...string) agent.CanUseTool {
	return func(_ context.Context, call agent.GateCall) *agent.CanUseToolResult {
		if slices.Contains(names, call.Tool) {
			return &agent.CanUseToolResult{Decision: agent.Deny, Reason: "The tool " + call.Tool + " may not be used."}
		}
		return nil
	}
}

// ReadOnly denies every call that does more than read, and has no opinion about
// others: where they may read is the gate's to decide.
func ReadOnly() agent.CanUseTool {
	return func(_ context.Context, call agent.GateCall) *agent.CanUseToolResult {
		a := call.Access
		reads := call.ReadOnly && a.Command == "" || a.Command != "" && a.OnlyReads && a.Task == ""
		if reads && len(a.Writes) == 0 {
			return nil
		}
		return &agent.CanUseToolResult{Decision: agent.Deny, Reason: "Only calls that read may be made."}
	}
}

// Composite asks each function in turn. The first that denies decides. Otherwise a
// person is asked if one wants that, and the call is allowed if one allows it.
// Without any opinion it has none. Changed arguments are those of the last that
// changes them; the functions after it see them.
func Composite(all ...agent.CanUseTool) agent.CanUseTool {
	return func(ctx context.Context, call agent.GateCall) *agent.CanUseToolResult {
		var joined *agent.CanUseToolResult
		for _, f := range all {
			if f == nil {
				continue
			}
			o := f(ctx, call)
			switch {
			case o == nil:
				continue
			case o.Decision != agent.Allow && o.Decision != agent.Ask:
				return &agent.CanUseToolResult{Decision: agent.Deny, Reason: o.Reason}
			case joined == nil:
				joined = &agent.CanUseToolResult{Decision: o.Decision, Reason: o.Reason}
			case o.Decision == agent.Ask && joined.Decision == agent.Allow:
				joined.Decision, joined.Reason = agent.Ask, o.Reason
			}
			if o.Input != nil {
				joined.Input, call.Input = o.Input, o.Input
			}
		}
		return joined
	}
}
