package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// growing adds the tools of a registry that changes to those of other profiles.
type growing struct {
	agent.Profiles
	more *agent.Registry
}

func (g *growing) Profile(provider, model string) agent.Profile {
	p := g.Profiles.Profile(provider, model)
	p.Tools = p.Tools.With(g.more)
	return p
}

func registry(t *testing.T, tools ...agent.Tool) *agent.Registry {
	t.Helper()
	r, err := agent.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// LOOP-33: a tool that appears during a turn is shown from the next request on.
// The calls of one answer are read by the tools that its request showed, whatever
// happens meanwhile, and a call of a tool that is gone is told so.
func TestToolsGrowBetweenRounds(t *testing.T) {
	t.Parallel()
	var g *growing
	more := note{name: "mcp__s__More"}
	appears := note{name: "Appear", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
		g.more = registry(t, more)
		return agent.Result{Output: "it is there"}
	}}
	vanishes := note{name: "Vanish", run: func(context.Context, agent.Invocation) agent.Result {
		g.more = registry(t)
		g.more.Advise(func(name string) string {
			if name == "mcp__s__More" {
				return "The server s has left."
			}
			return ""
		})
		return agent.Result{Output: "it is gone"}
	}}
	model := llmtest.Script(
		llmtest.Round{Calls: []llmtest.Call{use("Appear", "a")}},
		llmtest.Round{Calls: []llmtest.Call{use("Vanish", "b"), use("mcp__s__More", "c")}},
		llmtest.Round{Calls: []llmtest.Call{use("mcp__s__More", "d"), use("mcp__s__Other", "e")}},
		llmtest.Round{Text: "Done."})
	r := newRig(t, model, appears, vanishes)
	g = &growing{Profiles: r.cfg.Profiles}
	r.cfg.Profiles = g
	ends := find[agent.ToolCallEnd](r.run("go"))

	var shown []string
	for _, req := range model.Requests() {
		shown = append(shown, toolNames(req.Tools))
	}
	if got := strings.Join(shown, " | "); got != "Appear Vanish | Appear Vanish mcp__s__More | Appear Vanish | Appear Vanish" {
		t.Errorf("the model was shown %s", got)
	}
	if end := ends[2]; end.Outcome != agent.OutcomeDone || end.Output != "mcp__s__More: c" {
		t.Errorf("in the round that showed it: %+v", end)
	}
	if end := ends[3]; end.Outcome != agent.OutcomeFailed || end.Output != "There is no tool mcp__s__More now. The server s has left." {
		t.Errorf("after it has gone: %+v", end)
	}
	if end := ends[4]; !strings.HasPrefix(end.Output, "Unknown tool: mcp__s__Other. The tools are: ") {
		t.Errorf("a name that nobody knows: %+v", end)
	}
}

// LOOP-32, LOOP-33: tools that are added come after all others, with the same bytes as
// long as nothing changes, and take no name that has a meaning.
func TestToolsetWith(t *testing.T) {
	t.Parallel()
	base := show(t, []agent.Tool{note{name: "Look"}, note{name: "Note"}}, spoken)
	hidden := hiding{note{name: "mcp__s__deep"}}
	more := registry(t, note{name: "Note"}, note{name: "scribble"}, note{name: "mcp__s__b"}, hidden, note{name: "mcp__s__a"})
	grown := base.With(more)
	if got := toolNames(grown.Definitions()); got != "jot Look mcp__s__b mcp__s__a" {
		t.Errorf("shown are %s", got)
	}
	if got := toolNames(base.Definitions()); got != "jot Look" {
		t.Errorf("the toolset itself became %s", got)
	}
	for name, want := range map[string]string{"jot": "Note", "scribble": "Note", "Note": "Note", "mcp__s__deep": "mcp__s__deep"} {
		if got := grown.Canonical(name); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
	first, second := encoded(t, base.With(more)), encoded(t, grown)
	if first != second || !strings.HasPrefix(second, strings.TrimSuffix(encoded(t, base), "]")) {
		t.Errorf("the bytes are\n%s\n%s", first, second)
	}
	if base.With(nil) != base || base.With(registry(t)) != base {
		t.Error("nothing was added, but the toolset is another one")
	}
}

// hiding is a tool that is not shown.
type hiding struct{ note }

func (h hiding) Spec() agent.Spec {
	s := h.note.Spec()
	s.Hidden = true
	return s
}

func encoded(t *testing.T, set *agent.Toolset) string {
	t.Helper()
	b, err := json.Marshal(set.Definitions())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A model that has thousands of tools is told some of them when it calls another.
func TestUnknownToolAmongMany(t *testing.T) {
	t.Parallel()
	var tools []agent.Tool
	for range 1_000 {
		tools = append(tools, note{name: "T" + strings.Repeat("x", len(tools)%50) + string(rune('a'+len(tools)%26)) + string(rune('a'+len(tools)/26%26)) + string(rune('a'+len(tools)/676))})
	}
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Nothing", "a")}}, llmtest.Round{Text: "Done."}), tools...)
	end := find[agent.ToolCallEnd](r.run("go"))[0]
	if !strings.HasSuffix(end.Output, "and 900 more.") || len(end.Output) > 10_000 {
		t.Errorf("%d bytes: %s", len(end.Output), end.Output)
	}
}

// The costs of a call are in the log before the call's end, and in the session's cost.
// A call that has ended spends nothing any more.
func TestCallsSpend(t *testing.T) {
	t.Parallel()
	var late func(agent.SideRequest) bool
	cost := llm.Cost(5)
	request := agent.SideRequest{Purpose: agent.PurposeSampling, Provider: "p", Model: "m", Usage: llm.Usage{Input: 1, Known: true}, Cost: &cost}
	spends := note{name: "Spend", run: func(_ context.Context, call agent.Invocation) agent.Result {
		late = call.Spent
		if !call.Spent(request) {
			t.Error("it was not entered")
		}
		return agent.Result{Output: "ok"}
	}}
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Spend", "a"), use("Spend", "b")}}, llmtest.Round{Text: "Done."}), spends)
	events := r.run("go")
	var order []string
	for _, ev := range events {
		switch ev.Data.(type) {
		case agent.SideRequest, agent.ToolCallEnd:
			order = append(order, string(ev.Kind()))
		}
	}
	if len(order) != 4 || order[0] != "side_request" || order[3] != "tool_call_end" {
		t.Error(order)
	}
	if got := r.session.Transcript().Cost.Cost; got != 10 {
		t.Errorf("it cost %d", got)
	}
	if late(request) {
		t.Error("it was entered after the end")
	}
}
