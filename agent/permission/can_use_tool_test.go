package permission

import (
	"context"
	"encoding/json"
	"testing"

	"atelier.dev/atelier/agent"
	"github.com/google/go-cmp/cmp"
)

// OAS-628: policies of a program, one by one and composed.
func TestOpinions(t *testing.T) {
	t.Parallel()
	look := agent.GateCall{Tool: "Read", ReadOnly: true}
	write := agent.GateCall{Tool: "Write", Access: agent.Access{Writes: []string{"/x"}}}
	says := func(d agent.Decision) agent.CanUseTool {
		return func(context.Context, agent.GateCall) *agent.CanUseToolResult {
			return &agent.CanUseToolResult{Decision: d}
		}
	}
	silent := func(context.Context, agent.GateCall) *agent.CanUseToolResult { return nil }
	for _, tt := range []struct {
		name        string
		f           agent.CanUseTool
		look, write agent.Decision // empty for no opinion
	}{
		{"an allowlist", ToolNameAllowlist("Read"), agent.Allow, agent.Deny},
		{"an empty allowlist", ToolNameAllowlist(), agent.Deny, agent.Deny},
		{"a denylist", ToolNameDenylist("Write"), "", agent.Deny},
		{"an empty denylist", ToolNameDenylist(), "", ""},
		{"read-only", ReadOnly(), "", agent.Deny},
		{"nothing", Composite(), "", ""},
		{"only silence", Composite(silent, nil), "", ""},
		{"one deny", Composite(says(agent.Allow), ToolNameDenylist("Write"), says(agent.Allow)), agent.Allow, agent.Deny},
		{"silence and an allow", Composite(silent, says(agent.Allow)), agent.Allow, agent.Allow},
		{"an ask among allows", Composite(says(agent.Allow), says(agent.Ask), says(agent.Allow)), agent.Ask, agent.Ask},
		{"an unknown decision", Composite(says("perhaps")), agent.Deny, agent.Deny},
		{"within each other", Composite(Composite(ReadOnly()), ToolNameAllowlist("Read", "Write")), agent.Allow, agent.Deny},
	} {
		for call, want := range map[*agent.GateCall]agent.Decision{&look: tt.look, &write: tt.write} {
			var got agent.Decision
			if o := tt.f(t.Context(), *call); o != nil {
				got = o.Decision
			}
			if got != want {
				t.Errorf("%s: %s: %q, want %q", tt.name, call.Tool, got, want)
			}
		}
	}
	command := agent.GateCall{Tool: "Bash", ReadOnly: true, Access: agent.Access{Command: "rm x"}}
	if o := ReadOnly()(t.Context(), command); o == nil || o.Decision != agent.Deny {
		t.Errorf("a command that claims to read: %+v", o)
	}
	// Deny ends the composition; the ones after it are not asked.
	Composite(says(agent.Deny), func(context.Context, agent.GateCall) *agent.CanUseToolResult { t.Error("asked"); return nil })(t.Context(), look)
}

// Each function sees the arguments as the one before it left them.
func TestCompositeChangesArguments(t *testing.T) {
	t.Parallel()
	add := func(s string) agent.CanUseTool {
		return func(_ context.Context, c agent.GateCall) *agent.CanUseToolResult {
			return &agent.CanUseToolResult{Decision: agent.Allow, Input: json.RawMessage(string(c.Input) + s)}
		}
	}
	got := Composite(add("b"), ToolNameAllowlist("Read"), add("c"))(t.Context(), agent.GateCall{Tool: "Read", Input: json.RawMessage("a")})
	if diff := cmp.Diff(&agent.CanUseToolResult{Decision: agent.Allow, Input: json.RawMessage("abc")}, got); diff != "" {
		t.Error(diff)
	}
}
