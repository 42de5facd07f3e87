package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// LOOP-20, LOOP-107: a model that repeats itself is told so, in its history and
// as an event, and the turn goes on.
func TestLoopDetection(t *testing.T) {
	t.Parallel()
	rounds := make([]llmtest.Round, 0, 13)
	for range 12 {
		rounds = append(rounds, llmtest.Round{Calls: []llmtest.Call{look}})
	}
	model := llmtest.Script(append(rounds, llmtest.Round{Text: "I stop."})...)
	r := newRig(t, model)
	events := r.run("go")
	found := find[agent.LoopDetection](events)
	if len(found) != 1 || found[0] != (agent.LoopDetection{Cycle: 1, Calls: 10}) {
		t.Errorf("found %+v", found)
	}
	told := find[agent.SteeringInjected](events)
	if len(told) != 1 || !told[0].ByLoop {
		t.Fatalf("told %+v", told)
	}
	messages := model.Requests()[10].Messages
	if last := messages[len(messages)-1]; last.Role != llm.RoleUser || last.Text() != agent.Reminder(told[0].Text) {
		t.Errorf("the model reads %+v", last)
	}
	if end(t, events) != agent.EndDone {
		t.Error("the turn did not go on")
	}
	r = newRig(t, llmtest.Script(rounds...))
	r.cfg.Limits = agent.Limits{Rounds: 200, LoopWindow: 0}
	if found := find[agent.LoopDetection](r.run("go")); len(found) != 0 {
		t.Errorf("switched off: %+v", found)
	}
}

// LOOP-20: a model that looks again and again at something that changes does not
// repeat itself; one whose call fails in the same way does.
func TestLoopDetectionLooksAtResults(t *testing.T) {
	t.Parallel()
	rounds := slices.Repeat([]llmtest.Round{{Calls: []llmtest.Call{look}}}, 10)
	for name, tt := range map[string]struct {
		result func(n int) agent.Result
		found  int
	}{
		"new output each time": {func(n int) agent.Result { return agent.Result{Output: fmt.Sprint("line ", n)} }, 0},
		"a new picture":        {func(n int) agent.Result { return agent.Result{Media: []llm.Media{{Data: []byte{byte(n)}}}} }, 0},
		"the same output":      {func(int) agent.Result { return agent.Result{Output: "line"} }, 1},
		"the same failure":     {func(int) agent.Result { return agent.Fail("It does not exist.") }, 1},
	} {
		n := 0
		r := newRig(t, llmtest.Script(append(rounds, llmtest.Round{Text: "Done."})...), note{name: "Look", readOnly: true,
			run: func(context.Context, agent.Invocation) agent.Result { n++; return tt.result(n) }})
		r.cfg.Reduce = func(string, string, int) string { return "cut" }
		if found := find[agent.LoopDetection](r.run("go")); len(found) != tt.found {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// OAS-104, OAS-112, K-29: an answer that reached its length limit goes on, three
// times in a row and no more; a round of tools begins the count anew.
func TestContinuation(t *testing.T) {
	t.Parallel()
	long := llmtest.Round{Text: "And", Finish: llm.FinishLength}
	for name, tt := range map[string]struct {
		rounds   []llmtest.Round
		requests int
		warned   bool
	}{
		"once":            {[]llmtest.Round{long, {Text: "so on."}}, 2, false},
		"three times":     {[]llmtest.Round{long, long, long, {Text: "so on."}}, 4, false},
		"no more":         {[]llmtest.Round{long, long, long, long, {Text: "never"}}, 4, true},
		"between rounds":  {[]llmtest.Round{long, long, {Calls: []llmtest.Call{look}}, long, long, {Text: "so on."}}, 6, false},
		"with a cut call": {[]llmtest.Round{{Calls: []llmtest.Call{{Name: "Note", Arguments: `{"text":"ha`}}, Finish: llm.FinishLength}, {Text: "so on."}}, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.Script(tt.rounds...)
			r := newRig(t, model)
			events := r.run("go")
			if n := len(model.Requests()); n != tt.requests || end(t, events) != agent.EndDone {
				t.Errorf("%d requests", n)
			}
			if warnings := find[agent.Warning](events); (len(warnings) == 1) != tt.warned {
				t.Errorf("warned %+v", warnings)
			}
			if starts := find[agent.ToolCallStart](events); name == "with a cut call" && len(starts) != 0 {
				t.Errorf("a cut call was run: %+v", starts)
			}
			last := model.Requests()[1].Messages
			if m := last[len(last)-1]; m.Role != llm.RoleUser && m.Role != llm.RoleTool {
				t.Errorf("an answer stands last, which providers refuse: %+v", m)
			} else if m.Role == llm.RoleTool && !strings.Contains(m.Parts[0].Result.Parts[0].Text, "not run") {
				t.Errorf("the cut call is answered with %+v", m)
			}
		})
	}
}

// counter is a tool that wants a number.
type counter struct{ note }

func (counter) Spec() agent.Spec {
	return agent.Spec{Name: "Count", ReadOnly: true, Schema: json.RawMessage(`{"type":"object","properties":{"to":{"type":"integer"}},"required":["to"]}`)}
}

// COM-40, LOOP-117: arguments are coerced before they are validated and run.
func TestCoercedCall(t *testing.T) {
	t.Parallel()
	calls := []llmtest.Call{{Name: "Count", Arguments: `{"to":"3"}`}, {Name: "Count", Arguments: `{"to":"three"}`}}
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: calls}, llmtest.Round{Text: "Done."}),
		counter{note{run: func(_ context.Context, c agent.Invocation) agent.Result { return agent.Result{Output: string(c.Input)} }}})
	ends := find[agent.ToolCallEnd](r.run("count"))
	if len(ends) != 2 {
		t.Fatalf("%+v", ends)
	}
	for _, e := range ends {
		if ran := e.Output == `{"to":3}`; ran == e.IsError {
			t.Errorf("%+v", e)
		}
	}
}

// LLM-38: a tool whose arguments are not an object, or whose name a provider
// refuses, is refused when it is registered.
func TestRegistryRefuses(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]agent.Spec{
		"an array":      {Name: "Look", Schema: json.RawMessage(`{"type":"array"}`)},
		"anything":      {Name: "Look", Schema: json.RawMessage(`{}`)},
		"no schema":     {Name: "Look"},
		"a dotted name": {Name: "fs.look", Schema: json.RawMessage(`{"type":"object"}`)},
	} {
		if _, err := agent.NewRegistry(specified{note{}, spec}); err == nil {
			t.Errorf("%s was registered", name)
		}
	}
}

// specified is a tool with another description.
type specified struct {
	note
	spec agent.Spec
}

func (s specified) Spec() agent.Spec { return s.spec }

// LOOP-42, LOOP-158, K-08: a context that fills the window is told of when it
// passes four fifths, not in every round, and again when it does so anew.
func TestFullContext(t *testing.T) {
	t.Parallel()
	holds := func(tokens int64, calls ...llmtest.Call) llmtest.Round {
		return llmtest.Round{Text: "So.", Calls: calls, Usage: llm.Usage{Input: tokens, Known: true}}
	}
	r := newRig(t, llmtest.Script(holds(79_000, look), holds(80_000, look), holds(85_000, look), holds(10_000, look), holds(95_000)))
	r.cfg.Facts = facts{limits: llm.ModelLimits{Window: 100_000}}
	warnings := find[agent.Warning](r.run("go"))
	if len(warnings) != 2 || warnings[0].Code != "context" || !strings.Contains(warnings[0].Message, "80 %") || !strings.Contains(warnings[1].Message, "95 %") {
		t.Errorf("%+v", warnings)
	}
}
