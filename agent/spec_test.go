package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// LOOP-04, K-06: what holds where a host says nothing.
func TestDefaults(t *testing.T) {
	t.Parallel()
	want := agent.Limits{Rounds: 200, Continuations: 3, LoopWindow: 10}
	if diff := cmp.Diff(want, agent.DefaultLimits); diff != "" {
		t.Error(diff)
	}
}

// LOOP-05, LOOP-09, LOOP-154: a session is idle, works, waits for a person,
// works and is idle again; every input ends with processing_end, and the session
// with one session_end.
func TestStates(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Again."}))
	var states []agent.State
	note := func() {
		if s := r.session.Transcript().State; len(states) == 0 || states[len(states)-1] != s {
			states = append(states, s)
		}
	}
	r.open()
	note()
	for _, input := range []string{"go", "again"} {
		for ev, err := range r.session.Run(t.Context(), input) {
			if err != nil {
				t.Fatal(err)
			}
			r.store(ev)
			// An event that follows at once is applied before the first one is
			// yielded.
			if !ev.More {
				note()
			}
		}
	}
	for _, ev := range r.session.Close(t.Context()) {
		r.store(ev)
	}
	note()
	want := []agent.State{
		agent.StateIdle, agent.StateProcessing, agent.StateAwaitingInput, agent.StateProcessing, agent.StateIdle,
		agent.StateProcessing, agent.StateIdle, agent.StateClosed,
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Error(diff)
	}
	if ends, closes := find[agent.ProcessingEnd](r.log), find[agent.SessionEnd](r.log); len(ends) != 2 || len(closes) != 1 {
		t.Errorf("%d ends of inputs, %d of the session", len(ends), len(closes))
	}
}

// LOOP-12, LOOP-13, LOOP-52, LOOP-115, OAS-107: a call is looked up, then validated, then decided
// about, then run; what fails on the way goes no further, and each ends with an
// event.
func TestPipelineOrder(t *testing.T) {
	t.Parallel()
	var steps []string
	tool := note{name: "Note", run: func(_ context.Context, c agent.Invocation) agent.Result {
		steps = append(steps, "run "+textOf(c.Input))
		return agent.Result{Output: "done"}
	}}
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{
		use("Nothing", "a"), llmtest.Use("Note", map[string]any{"wrong": 1}), use("Note", "forbidden"), use("Note", "b"),
	}}, llmtest.Round{Text: "Done."}), tool)
	r.cfg.Approver = approver(func(_ context.Context, req agent.ApprovalRequest) (agent.Answer, error) {
		steps = append(steps, "ask "+textOf([]byte(req.Input)))
		return agent.Answer{Decision: agent.Allow}, nil
	})
	events := r.run("go")
	if diff := cmp.Diff([]string{"ask b", "run b"}, steps); diff != "" {
		t.Error(diff)
	}
	var ends []string
	for _, e := range find[agent.ToolCallEnd](events) {
		ends = append(ends, fmt.Sprint(e.Outcome, " ", e.IsError))
	}
	if diff := cmp.Diff([]string{"failed true", "failed true", "denied true", "done false"}, ends); diff != "" {
		t.Error(diff)
	}
}

// The host has stored that a call began before the call can have an effect, so that
// a kill forgets none. What may run again is stored together with its end.
func TestStartIsStoredBeforeTheEffect(t *testing.T) {
	t.Parallel()
	for _, readOnly := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { // the time in which ends are stored together does not pass
			var r *rig
			stored := -1
			tool := note{name: "Note", readOnly: readOnly, run: func(context.Context, agent.Invocation) agent.Result {
				stored = len(find[agent.ToolCallStart](r.log))
				return agent.Result{Output: "done"}
			}}
			r = newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."}), tool)
			r.cfg.Gate = agent.AllowAll // a question would be stored at once
			r.run("go")
			if want := map[bool]int{false: 1, true: 0}[readOnly]; stored != want {
				t.Errorf("read-only %t: %d starts were stored when the call ran, want %d", readOnly, stored, want)
			}
		})
	}
}

// LOOP-19, LOOP-129, LOOP-153: the event holds the whole output, the model is
// sent its share, and both survive a reopening.
func TestFullOutputInTheEvent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 1000)
	model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Read."}, llmtest.Round{Text: "Still."})
	r := newRig(t, model, note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
		return agent.Result{Output: long}
	}})
	r.cfg.Reduce = func(tool, output string, _ int) string { return tool + ": " + output[:10] }
	ends := find[agent.ToolCallEnd](r.run("read"))
	if len(ends) != 1 || ends[0].Output != long || ends[0].ForModel() != "Look: line\nline\n" {
		t.Errorf("%d bytes, for the model %q", len(ends[0].Output), ends[0].ForModel())
	}
	r.open()
	r.run("and now?")
	if got := seen(t, model)[0].Text; got != "Look: line\nline\n" {
		t.Errorf("opened again, the model is sent %q", got)
	}
}

// LOOP-38: what the host takes out of an output never reaches the model, whether
// nothing is left of it or taking it out fails, and neither does it of what a
// command of the user's printed. A restart changes nothing about that.
func TestReducedToNothing(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for name, reduce := range map[string]func(string, string, int) string{
		"empty":  func(string, string, int) string { return "" },
		"panics": func(_, output string, _ int) string { panic("cannot read " + output) },
	} {
		model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", secret)}}, llmtest.Round{Text: "Read."}, llmtest.Round{Text: "Still."})
		r := newRig(t, model)
		r.cfg.Reduce = reduce
		r.run("read")
		r.command("printenv", prints(0, secret))
		r.open()
		r.run("and now?")
		for _, request := range model.Requests() {
			for _, m := range request.Messages {
				for _, p := range m.Parts {
					if p.Kind != llm.PartToolCall && strings.Contains(fmt.Sprintf("%+v %+v", p.Text, p.Result), secret) {
						t.Errorf("%s: the model reads %q", name, m.Text())
					}
				}
			}
		}
		if ends := find[agent.ToolCallEnd](r.log); len(ends) != 1 || !strings.Contains(ends[0].Output, secret) {
			t.Errorf("%s: people are shown %+v", name, ends)
		}
	}
}

// LOOP-18: every event says whose it is, in which turn and when it happened, by the
// host's clock, deltas too.
func TestEventsAreStamped(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Text: "I look.", Calls: []llmtest.Call{look, use("Note", "a")}}, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Again."}))
	for turn, input := range []string{"go", "again"} {
		r.clock = r.clock.Add(time.Hour)
		events := r.run(input)
		for _, ev := range events {
			if ev.Session != "s1" || ev.At != r.clock.UnixMilli() || ev.Turn != turn+1 {
				t.Errorf("%s of %q in turn %d at %d", ev.Kind(), ev.Session, ev.Turn, ev.At)
			}
		}
		if len(events) < 4 {
			t.Errorf("%d events", len(events))
		}
	}
	r.clock = r.clock.Add(time.Hour)
	for _, ev := range r.session.Close(t.Context()) {
		if ev.Session != "s1" || ev.At != r.clock.UnixMilli() {
			t.Errorf("%s of %q at %d", ev.Kind(), ev.Session, ev.At)
		}
	}
}

// LOOP-18, LOOP-151, LOOP-152: every kind of event comes from the loop, at the time
// that the scenarios under testdata show;
// only those that a host makes are not here.
func TestEveryKindHappens(t *testing.T) {
	t.Parallel()
	rounds := []llmtest.Round{
		{Reasoning: "Hm.", Text: "I look.", Calls: []llmtest.Call{look, use("Note", "a")}, RateLimit: &llm.RateLimit{Requests: &llm.Allowance{Limit: 2, Remaining: 1}}},
		{Status: 503},
		{Status: 400, Body: `{"error":{"message":"signature"}}`},
	}
	for range 10 {
		rounds = append(rounds, llmtest.Round{Calls: []llmtest.Call{look}})
	}
	rounds = append(rounds, llmtest.Round{Text: "Enough.", Finish: llm.FinishRefusal}, llmtest.Round{Status: 404})
	r := newRig(t, llmtest.Script(rounds...))
	r.cfg.Retry = llm.RetryPolicy{Retries: 1, Base: 1, Max: 1}
	r.cfg.Limits.Rounds = 11
	r.cfg.Hooks = &hooks{}
	r.cfg.Compactor = &compactor{}
	profiles := &renewing{Profiles: r.cfg.Profiles}
	r.cfg.Profiles = profiles
	r.open()
	r.session.Steer("briefly")
	events := r.run("go") // ends at the limit
	profiles.weather = "foul"
	events = append(events, r.run("on")...) // warns
	events = append(events, r.run("on")...) // fails
	events = append(events, r.carryOn()...)
	events = append(events, r.compact("")...)
	events = append(events, r.command("ls", prints(0, "a"))...)
	events = append(append(r.log[:1:1], events...), r.session.Close(t.Context())...)

	happened := map[agent.Kind]bool{}
	for _, ev := range events {
		happened[ev.Kind()] = true
	}
	hosts := map[agent.Kind]bool{
		agent.KindSessionStart: true, agent.KindTitle: true, agent.KindPromptSuggestion: true, agent.KindTaskChange: true,
		agent.KindQueueChange: true, agent.KindHooksChange: true, agent.KindServersChange: true, agent.KindSkillsChange: true, agent.KindRulesChange: true, agent.KindSessionsChange: true,
		agent.KindFilesRestored: true, agent.KindRewound: true, agent.KindRewindUndone: true, agent.KindForked: true, agent.KindMarks: true, agent.KindImported: true, agent.KindMoved: true, agent.KindContextMarked: true, agent.KindCompactionUndone: true,
	}
	for _, p := range agent.Payloads() {
		if happened[p.Kind()] == hosts[p.Kind()] {
			t.Errorf("%s: happened %t", p.Kind(), happened[p.Kind()])
		}
	}
}
