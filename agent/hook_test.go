package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

// hooks are one hook for all moments, and a list of what it was told.
type hooks struct {
	mu     sync.Mutex
	fired  []string
	inputs []agent.HookInput // what it was told
	cut    bool              // the newest ran in a context that had ended
	advise func(agent.HookCall) agent.HookAdvice
}

func (h *hooks) Fire(ctx context.Context, c agent.HookCall, report func(agent.Payload)) agent.HookAdvice {
	point, id := c.Point(), c.Tool().CallID
	report(agent.HookStart{Point: point, Name: "test", CallID: id})
	report(agent.HookOutput{Point: point, Name: "test", CallID: id, Text: "thinking"})
	h.mu.Lock()
	h.fired = append(h.fired, strings.TrimSpace(fmt.Sprintf("%s %s%s", point, c.Tool().Tool, detail(c))))
	h.inputs = append(h.inputs, c.Data)
	h.cut = ctx.Err() != nil
	h.mu.Unlock()
	var advice agent.HookAdvice
	if h.advise != nil {
		advice = h.advise(c)
	}
	report(agent.HookEnd{Point: point, Name: "test", CallID: id, Decision: advice.Decision, Input: string(advice.Input)})
	return advice
}

// detail returns how the turn of a stop ended, and the type of a notification.
func detail(c agent.HookCall) string {
	switch d := c.Data.(type) {
	case agent.StopInput:
		return string(d.Reason)
	case agent.NotificationInput:
		return d.Type
	}
	return ""
}

// at advises at one moment.
func at(point agent.HookPoint, advice agent.HookAdvice) *hooks {
	return &hooks{advise: func(c agent.HookCall) agent.HookAdvice {
		if c.Point() == point {
			return advice
		}
		return agent.HookAdvice{}
	}}
}

// OAS-118, K-10: the hooks of each moment run in their place, those of the
// start once for each time that the session is opened.
func TestHooksFireInTheirPlace(t *testing.T) {
	t.Parallel()
	h := &hooks{}
	r := newRig(t, llmtest.Script(
		llmtest.Round{Calls: []llmtest.Call{look, use("Note", "forbidden"), use("Note", "b")}}, llmtest.Round{Text: "Done."},
		llmtest.Round{Text: "Again."}, llmtest.Round{Status: 404}),
		note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result { return agent.Fail("no") }},
		note{name: "Note"})
	r.cfg.Hooks = h
	r.run("go")
	r.open() // the same session, read from its log
	r.run("again")
	for _, ev := range r.session.Close(t.Context()) {
		r.store(ev)
	}
	if len(r.session.Close(t.Context())) > 0 {
		t.Error("it was closed twice")
	}
	r.run("once more")
	want := []string{
		"sessionStart", "userPromptSubmit", "postSampling", "preToolUse Look", "postToolUseFailure Look", "permissionDenied Note",
		"preToolUse Note", "permissionRequest Note", "notification permission_prompt", "postToolUse Note", "postSampling",
		"stop done", "notification turn_done", "userPromptSubmit", "postSampling", "stop done", "notification turn_done",
		"sessionEnd", "sessionStart", "userPromptSubmit", "stop failed", "notification turn_failed",
	}
	if diff := cmp.Diff(want, h.fired); diff != "" {
		t.Error(diff)
	}
	if ran := find[agent.HookEnd](r.log); len(ran) != len(want) {
		t.Errorf("%d of %d hooks are in the log", len(ran), len(want))
	}
}

// K-10: an abort runs the hooks of the end and what leaves, before the session
// is closed in the log.
func TestAbortEndsInOrder(t *testing.T) {
	t.Parallel()
	var r *rig
	left := -1
	r = newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Done."}),
		note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
			r.session.Abort()
			return agent.Result{Output: "seen"}
		}})
	h := &hooks{}
	r.cfg.Hooks = h
	r.cfg.CleanUp = func(context.Context) { left = len(h.fired) }
	events := r.run("go")
	want := []agent.Kind{agent.KindProcessingEnd, agent.KindHookStart, agent.KindHookOutput, agent.KindHookEnd, agent.KindSessionEnd}
	if diff := cmp.Diff(want, kinds(events, 5)); diff != "" || left != len(h.fired) || h.cut {
		t.Errorf("left after %d of %d hooks, cut %t, %s", left, len(h.fired), h.cut, diff)
	}
	r.run("again")
	left = -1
	if r.session.Close(t.Context()); left != len(h.fired) {
		t.Errorf("closed after %d of %d hooks", left, len(h.fired))
	}
}

// COM-81: what a hook wants asked is asked of the program, whose refusal may have a
// reason. Without anybody to ask, the call is denied.
func TestHooksAskTheProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		approver agent.Approver
		ends     agent.Outcome
		told     string
	}{
		"it allows": {approver(func(_ context.Context, req agent.ApprovalRequest) (agent.Answer, error) {
			if req.Tool != "Look" || req.Input != `{"text":"a"}` || req.By != agent.ByHook {
				t.Errorf("asked about %+v", req)
			}
			return agent.Answer{Decision: agent.Allow}, nil
		}), agent.OutcomeDone, "Look: a"},
		"it refuses with a reason": {approver(func(context.Context, agent.ApprovalRequest) (agent.Answer, error) {
			return agent.Answer{Decision: agent.Deny, Feedback: "look elsewhere"}, nil
		}), agent.OutcomeDenied, "look elsewhere"},
		"nobody can be asked": {nil, agent.OutcomeDenied, "nobody could be asked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a")}}, llmtest.Round{Text: "Done."}))
			r.cfg.Approver = c.approver
			r.cfg.Hooks = at(agent.HookPreToolUse, agent.HookAdvice{Decision: agent.Ask, Reason: "Look twice."})
			ends := find[agent.ToolCallEnd](r.run("go"))
			if len(ends) != 1 || ends[0].Outcome != c.ends || !strings.Contains(ends[0].ForModel(), c.told) {
				t.Errorf("%+v", ends)
			}
		})
	}
}

// OAS-119, K-10, K-12: what hooks advise against what a gate says; who is asked,
// what runs and what the model is told.
func TestHooksAdviseAboutCalls(t *testing.T) {
	t.Parallel()
	note, looked, forbidden := use("Note", "a"), use("Look", "a"), use("Note", "forbidden")
	deny := agent.HookAdvice{Decision: agent.Deny, Reason: "not on Fridays"}
	allow, ask := agent.HookAdvice{Decision: agent.Allow}, agent.HookAdvice{Decision: agent.Ask}
	changed := agent.HookAdvice{Input: json.RawMessage(`{"text":"b"}`)}
	for name, c := range map[string]struct {
		call   llmtest.Call
		advice agent.HookAdvice
		asked  bool
		ends   agent.Outcome
		told   string
	}{
		"no advice leaves the question":        {note, agent.HookAdvice{}, true, agent.OutcomeDone, "Note: a"},
		"a deny reaches the model":             {looked, deny, false, agent.OutcomeDenied, "not on Fridays"},
		"an allow spares the question":         {note, allow, false, agent.OutcomeDone, "Note: a"},
		"an ask makes one":                     {looked, ask, true, agent.OutcomeDone, "Look: a"},
		"no allow lifts a rule":                {forbidden, allow, false, agent.OutcomeDenied, "a rule forbids it"},
		"another input is what runs":           {note, changed, true, agent.OutcomeDone, "Note: b"},
		"another input meets the rules":        {note, agent.HookAdvice{Decision: agent.Allow, Input: json.RawMessage(`{"text":"forbidden"}`)}, false, agent.OutcomeDenied, "a rule forbids it"},
		"another input must be valid":          {looked, agent.HookAdvice{Input: json.RawMessage(`{"text":1}`)}, false, agent.OutcomeDenied, "not valid"},
		"its words come with the result":       {looked, agent.HookAdvice{Context: "mind the gap"}, false, agent.OutcomeDone, "Look: a\n\nmind the gap"},
		"its words come with a result changed": {note, agent.HookAdvice{Context: "mind", Input: changed.Input}, true, agent.OutcomeDone, "Note: b\n\nmind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{c.call}}, llmtest.Round{Text: "Done."}))
			r.cfg.Hooks = at(agent.HookPreToolUse, c.advice)
			events := r.run("go")
			ended := find[agent.ToolCallEnd](events)[0]
			if ended.Outcome != c.ends || !strings.Contains(ended.ForModel(), c.told) {
				t.Errorf("%s: %q", ended.Outcome, ended.ForModel())
			}
			requests := find[agent.ApprovalRequest](events)
			if (len(requests) > 0) != c.asked {
				t.Errorf("asked: %+v", requests)
			}
			if c.advice.Input != nil && c.asked && requests[0].Input != string(c.advice.Input) {
				t.Errorf("asked about %s", requests[0].Input)
			}
		})
	}
}

// K-34: what hooks and people change while hooks run counts for the call that they
// run for, also where it is stricter than what was judged before.
func TestRulesThatChangeWhileHooksRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		point agent.HookPoint
		first agent.Decision // what was judged before
	}{
		"allowed before": {agent.HookPreToolUse, agent.Allow},
		"asked before":   {agent.HookPermissionRequest, agent.Ask},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."}))
			denies := false
			r.cfg.Gate = agent.GateFunc(func(context.Context, agent.GateCall) agent.Verdict {
				if denies {
					return agent.Verdict{Decision: agent.Deny, Reason: "a new rule denies it.", Final: true}
				}
				return agent.Verdict{Decision: c.first}
			})
			r.cfg.Hooks = &hooks{advise: func(h agent.HookCall) agent.HookAdvice {
				denies = denies || h.Point() == c.point
				return agent.HookAdvice{}
			}}
			events := r.run("go")
			if ended := find[agent.ToolCallEnd](events)[0]; ended.Outcome != agent.OutcomeDenied || !strings.Contains(ended.ForModel(), "a new rule denies it") {
				t.Errorf("%s: %q", ended.Outcome, ended.ForModel())
			}
			if asked := find[agent.ApprovalRequest](events); len(asked) > 0 {
				t.Errorf("asked: %+v", asked)
			}
		})
	}
}

// K-10: a question that was asked before a restart is about what hooks had made
// of the call; they are not run again for it.
func TestHooksAndAQuestionAcrossARestart(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."}))
	h := at(agent.HookPreToolUse, agent.HookAdvice{Input: json.RawMessage(`{"text":"b"}`)})
	r.cfg.Hooks = h
	r.cfg.Approver = approver(func(ctx context.Context, _ agent.ApprovalRequest) (agent.Answer, error) {
		r.session.Suspend()
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	})
	r.run("go")
	r.cfg.Approver = approver(allowAll)
	r.open()
	fired := len(h.fired)
	var events []agent.Event
	for ev, err := range r.session.Resume(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
	}
	if ends := find[agent.ToolCallEnd](events); len(ends) != 1 || ends[0].Output != "Note: b" {
		t.Errorf("ran %+v", ends)
	}
	if diff := cmp.Diff([]string{"postToolUse Note", "postSampling", "stop done", "notification turn_done"}, h.fired[fired:]); diff != "" {
		t.Error(diff)
	}
}

// OAS-118: what hooks say after a call goes to the model with its result, and
// what they say at the start of a session as a message of its own.
func TestHooksSpeakToTheModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		point  agent.HookPoint
		advice agent.HookAdvice
	}{
		{agent.HookSessionStart, agent.HookAdvice{Context: "the build is red"}},
		{agent.HookPostToolUse, agent.HookAdvice{Decision: agent.Deny, Reason: "the build is red"}},
		{agent.HookPostToolUse, agent.HookAdvice{Decision: agent.Deny, Reason: "stop", Context: "the build is red"}},
		{agent.HookPostToolUse, agent.HookAdvice{Decision: agent.Allow, Reason: "fine", Context: "the build is red"}},
	} {
		point := c.point
		r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Done."}))
		r.cfg.Hooks = at(point, c.advice)
		events := r.run("go")
		steered, ended := find[agent.SteeringInjected](events), find[agent.ToolCallEnd](events)[0]
		if got := len(steered) == 1 && steered[0].ByLoop && steered[0].Text == "the build is red"; got != (point == agent.HookSessionStart) {
			t.Errorf("%s: steered %+v", point, steered)
		}
		if got := strings.HasSuffix(ended.ForModel(), "\n\nthe build is red"); got != (point == agent.HookPostToolUse) || strings.Contains(ended.Output, "red") {
			t.Errorf("%s: told %q, shown %q", point, ended.ForModel(), ended.Output)
		}
	}
}

// K-10: hooks can make a turn go on, which they are told, but not for ever, and
// not one that failed.
func TestHooksHoldTheEnd(t *testing.T) {
	t.Parallel()
	var again []bool
	h := &hooks{advise: func(c agent.HookCall) agent.HookAdvice {
		stop, ok := c.Data.(agent.StopInput)
		if !ok {
			return agent.HookAdvice{}
		}
		again = append(again, stop.Again)
		return agent.HookAdvice{Decision: agent.Deny, Reason: "run the tests"}
	}}
	rounds := make([]llmtest.Round, 12)
	for i := range rounds {
		rounds[i].Text = "Done."
	}
	r := newRig(t, llmtest.Script(rounds...))
	r.cfg.Hooks = h
	events := r.run("go")
	if steered := find[agent.SteeringInjected](events); len(steered) != 10 || steered[0].Text != "run the tests" {
		t.Errorf("steered %d times", len(steered))
	}
	if end(t, events) != agent.EndDone || len(find[agent.Warning](events)) != 1 || again[0] || !again[1] {
		t.Errorf("ended as %s, again %v", end(t, events), again)
	}
	refused := llmtest.Round{Status: 404}
	for held, rounds := range [][]llmtest.Round{{refused}, {{Text: "Done."}, refused}} {
		r = newRig(t, llmtest.Script(rounds...))
		r.cfg.Hooks = h
		if events := r.run("go"); end(t, events) != agent.EndFailed || len(find[agent.SteeringInjected](events)) != held {
			t.Errorf("a failed turn went on: %s", kinds(events, 9))
		}
	}
}

// A panic of the code that ranges over the events passes through: it is not
// attributed to hooks.
func TestPanicWhileHooksReport(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Text: "Done."}))
	r.cfg.Hooks = &hooks{}
	r.open()
	defer func() {
		if p := recover(); p != "of the page" {
			t.Errorf("panicked with %v", p)
		}
	}()
	for ev := range r.session.Run(t.Context(), "go") {
		if ev.Kind() == agent.KindHookStart {
			panic("of the page")
		}
	}
}

// K-34: what only a person may answer is asked about each time, whatever the gate
// says, and offers nothing to remember. A denial stands.
func TestHooksInsistOnAPerson(t *testing.T) {
	t.Parallel()
	for decision, want := range map[agent.Decision]int{agent.Allow: 1, agent.Ask: 1, "": 1, agent.Deny: 0} {
		r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."}))
		r.cfg.Gate = agent.GateFunc(func(context.Context, agent.GateCall) agent.Verdict {
			return agent.Verdict{Decision: decision, Reason: "It writes."}
		})
		r.cfg.Hooks = at(agent.HookPreToolUse, agent.HookAdvice{Decision: agent.Ask, Final: true, Reason: "the guard was changed"})
		requests := find[agent.ApprovalRequest](r.run("go"))
		if len(requests) != want {
			t.Fatalf("%q: asked %d times", decision, len(requests))
		}
		for _, req := range requests {
			if g := req.AskReasons; !g.Final || !g.EachTime || g.By != agent.ByHook || !strings.Contains(req.Reason, "the guard was changed") {
				t.Errorf("%q: %+v", decision, req)
			}
		}
	}
}
