package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

// ends tells how turns and the session ended, and what began them.
func ends(events []agent.Event) (out []string) {
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case agent.UserInput:
			out = append(out, d.Text)
		case agent.ProcessingEnd:
			out = append(out, string(d.Reason))
		case agent.SessionEnd:
			out = append(out, "closed")
		}
	}
	return out
}

// LOOP-08, LOOP-54, LOOP-154, K-09: a word to stop that comes with the last answer
// leaves what is queued where it is, and nothing follows the end of a session.
func TestStopAtTheLastAnswer(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"interrupt": {"first", "done"},
		"abort":     {"first", "done", "closed"},
	} {
		r := newRig(t, llmtest.Script(llmtest.Round{Text: "1"}, llmtest.Round{Text: "2"}))
		stop := map[string]func(){"interrupt": r.open().Interrupt, "abort": r.session.Abort}[name]
		r.session.FollowUp("second")
		var events []agent.Event
		for ev, err := range r.session.Run(t.Context(), "first") {
			if err != nil {
				t.Fatal(err)
			}
			if events = append(events, r.store(ev)); ev.Kind() == agent.KindTextEnd {
				stop()
			}
		}
		if diff := cmp.Diff(want, ends(events)); diff != "" || len(r.session.Queue().Items()) != 1 {
			t.Errorf("%s: %d left %s", name, len(r.session.Queue().Items()), diff)
		}
	}
}

// LOOP-14, K-09: steering that a stopped turn could not deliver waits on, and so do
// settings.
func TestStopDeliversNothing(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*agent.Session){"interrupt": (*agent.Session).Interrupt, "suspend": (*agent.Session).Suspend} {
		r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."}))
		r.cfg.Approver = approver(func(ctx context.Context, _ agent.ApprovalRequest) (agent.Answer, error) {
			r.session.Steer("mind the gap")
			set := r.session.Transcript().Settings
			set.Model = "other"
			r.session.Configure(set)
			stop(r.session)
			<-ctx.Done()
			return agent.Answer{}, ctx.Err()
		})
		events := r.run("go")
		if ended := find[agent.ToolCallEnd](events); (len(ended) == 1 && ended[0].Outcome == agent.OutcomeInterrupted) != (name == "interrupt") {
			t.Errorf("%s: the call that was asked about ended with %+v", name, ended)
		}
		_, asked := r.session.Asked()
		if n := len(find[agent.SteeringInjected](events)); n != 0 || !r.session.Queue().Has(agent.Steer) || !asked || r.session.Transcript().Settings.Model != "m" {
			t.Errorf("%s: %d delivered, %v left, settings asked for %t, %+v", name, n, r.session.Queue().Items(), asked, r.session.Transcript().Settings)
		}
	}
}

// LOOP-10, LOOP-46: what a model was told in the moment of an interrupt may be cut,
// so it is told again, whole.
func TestStoppedBriefing(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Text: "1"}, llmtest.Round{Text: "2"})
	r := newRig(t, model)
	r.cfg.Profiles = &hasty{Profiles: r.cfg.Profiles, stop: func() { r.session.Interrupt() }}
	r.run("go")
	r.run("again")
	if requests := model.Requests(); requests[len(requests)-1].System != "whole" || len(find[agent.Briefing](r.log)) != 1 {
		t.Errorf("told %q", requests[len(requests)-1].System)
	}
}

// hasty are profiles that are interrupted the first time.
type hasty struct {
	agent.Profiles
	stop func()
}

func (h *hasty) Brief(ctx context.Context, _ agent.BriefingInput) agent.Briefing {
	if h.stop != nil {
		h.stop()
		h.stop = nil
	}
	if ctx.Err() != nil {
		return agent.Briefing{System: "cut"}
	}
	return agent.Briefing{System: "whole"}
}

// OAS-116, K-40: calls that were allowed and wait to run together do not run once
// the turn is stopped.
func TestStopBeforeABatch(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a"), use("Look", "b")}}),
		note{name: "Look", readOnly: true, run: func(_ context.Context, c agent.Invocation) agent.Result {
			t.Errorf("%s ran", textOf(c.Input))
			return agent.Result{}
		}})
	r.cfg.Hooks = &hooks{advise: func(c agent.HookCall) agent.HookAdvice {
		if c.Point() == agent.HookPreToolUse && textOf(c.Tool().Input) == "b" {
			r.session.Interrupt()
		}
		return agent.HookAdvice{}
	}}
	events := r.run("go")
	for _, e := range find[agent.ToolCallEnd](events) {
		if e.Outcome != agent.OutcomeInterrupted {
			t.Errorf("%+v", e)
		}
	}
	if n := len(find[agent.ToolCallEnd](events)); n != 2 || end(t, events) != agent.EndInterrupted {
		t.Errorf("%d calls ended", n)
	}
}

// LOOP-15: what was queued follows a turn that was resumed; nothing is resumed where
// no turn is open.
func TestResumeThenFollowUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "1"}, llmtest.Round{Text: "2"}))
	r.cutAfter(agent.KindApprovalRequest, 1)
	r.open()
	r.session.FollowUp("then this")
	var events []agent.Event
	for ev, err := range r.session.Resume(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, r.store(ev))
	}
	if diff := cmp.Diff([]string{"done", "then this", "done"}, ends(events)); diff != "" {
		t.Error(diff)
	}
	if again := r.resume(); len(again) > 0 {
		t.Errorf("a session at rest was resumed: %s", kinds(again, 9))
	}
}

// careless is a tool that panics wherever it is asked to.
type careless struct {
	note
	at string
}

func (c careless) fail(at string) {
	if c.at == at {
		panic("out of ink")
	}
}

func (c careless) Access(ctx context.Context, in json.RawMessage) agent.Access {
	c.fail("access")
	return c.note.Access(ctx, in)
}
func (c careless) Validate(json.RawMessage) error { c.fail("validate"); return nil }
func (c careless) Redirect(json.RawMessage) (string, json.RawMessage, bool) {
	c.fail("redirect")
	return "", nil, false
}
func (c careless) Preview(context.Context, json.RawMessage) ([]agent.FileChange, error) {
	c.fail("preview")
	return nil, nil
}
func (c careless) Draft(bool) func(string) agent.DraftedChanges {
	c.fail("draft")
	return func(string) agent.DraftedChanges { c.fail("drafting"); return agent.DraftedChanges{} }
}
func (c careless) Run(ctx context.Context, call agent.Invocation) agent.Result {
	c.fail("run")
	return c.note.Run(ctx, call)
}

// LOOP-118, R-CRASH: whatever of a tool or a hook panics, the program does not: the
// model is told, and the turn goes on.
func TestPanics(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"access", "validate", "redirect", "preview", "draft", "drafting", "run", "reduce", "preToolUse", "permissionRequest", "postToolUse", "stop"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."}), careless{note{name: "Note"}, at})
			r.cfg.Reduce = func(_, output string, _ int) string { careless{at: at}.fail("reduce"); return output }
			r.cfg.Hooks = &hooks{advise: func(c agent.HookCall) agent.HookAdvice {
				careless{at: at}.fail(string(c.Point()))
				return agent.HookAdvice{}
			}}
			events := r.run("go")
			if got := end(t, events); got != agent.EndDone {
				t.Errorf("ended as %s", got)
			}
			call := find[agent.ToolCallEnd](events)[0]
			told := strings.Contains(call.ForModel(), "out of ink")
			if at == "reduce" { // what it panics with may hold the output
				told = !told && strings.Contains(call.ForModel(), "was left out")
			}
			if harmless := slices.Contains([]string{"preview", "draft", "drafting", "postToolUse", "stop"}, at); told == harmless {
				t.Errorf("told %q", call.ForModel())
			}
			failed := slices.ContainsFunc(find[agent.HookEnd](events), func(h agent.HookEnd) bool { return h.Failed })
			if hook := slices.Contains([]string{"preToolUse", "permissionRequest", "postToolUse", "stop"}, at); failed != hook {
				t.Errorf("a hook failed: %t", failed)
			}
		})
	}
}

// A panic of whoever ranges over a turn is theirs, also while hooks run.
func TestPanicOfTheHost(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{look}}))
	r.cfg.Hooks = &hooks{}
	defer func() {
		if got := fmt.Sprint(recover()); got != "mine" {
			t.Errorf("recovered %q", got)
		}
	}()
	for ev := range r.open().Run(t.Context(), "go") {
		if ev.Kind() == agent.KindHookEnd {
			panic("mine")
		}
	}
}

// Output of a goroutine that a tool left behind is dropped.
func TestLateOutput(t *testing.T) {
	t.Parallel()
	var print func(string)
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Done."}),
		note{name: "Look", readOnly: true, run: func(_ context.Context, c agent.Invocation) agent.Result {
			print = c.Output
			return agent.Result{Output: "seen"}
		}})
	r.run("go")
	print("late")
}

// LOOP-04, LOOP-20, OAS-112: limits that nobody sets are the default ones.
func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	var rounds []llmtest.Round
	for range 12 {
		rounds = append(rounds, llmtest.Round{Calls: []llmtest.Call{look}})
	}
	r := newRig(t, llmtest.Script(append(rounds, llmtest.Round{Text: "It is", Finish: llm.FinishLength}, llmtest.Round{Text: "noon."})...))
	r.cfg.Limits = agent.Limits{}
	events := r.run("go")
	if end(t, events) != agent.EndDone || len(find[agent.LoopDetection](events)) == 0 || len(find[agent.TextEnd](events)) != 14 {
		t.Errorf("%s", kinds(events, 9))
	}
}

// LOOP-42: where no provider counts, four characters are a token.
func TestUncountedContext(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Text: "Fine."}))
	r.cfg.Facts = facts{limits: llm.ModelLimits{Window: 10_000}}
	if warnings := find[agent.Warning](r.run(strings.Repeat("word ", 6_700))); len(warnings) != 1 || warnings[0].Code != "context" {
		t.Errorf("%+v", warnings)
	}
}

// LOOP-105, LOOP-157, OAS-113: a fallback that is refused does not close the session,
// and an answer that never came is not a turn.
func TestFallbackIsNotTheSession(t *testing.T) {
	t.Parallel()
	fallback := func(r *rig) {
		r.cfg.Limits.Turns = 2
		r.open()
		set := r.session.Transcript().Settings
		set.FallbackProvider, set.FallbackModel = "another", "fb"
		r.session.Configure(set)
	}
	r := newRig(t, llmtest.Script(llmtest.Round{Status: 503}, llmtest.Round{Status: 401}))
	fallback(r)
	if got := ends(r.run("go")); !slices.Equal(got, []string{"go", "failed"}) {
		t.Errorf("%q", got)
	}
	r = newRig(t, llmtest.Script(llmtest.Round{Text: "half", Cut: 1}, llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Done."}))
	fallback(r)
	if got := end(t, r.run("go")); got != agent.EndDone {
		t.Errorf("ended as %s", got)
	}
}

// OAS-605: a log whose events have no places cannot be cut, which is said; a
// program that numbers them when it stores them can.
func TestLogsWithoutNumbersAreNotCut(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Text: "1"}, llmtest.Round{Text: "2"}))
	r.run("the start")
	r.run("on")
	with := func(seq func(i int) int64) []agent.Event {
		log := slices.Clone(r.log)
		for i := range log {
			log[i].Seq = seq(i)
		}
		return log
	}
	for name, tt := range map[string]struct {
		log  []agent.Event
		want error
	}{
		"numbered":         {r.log, nil},
		"with holes":       {with(func(i int) int64 { return int64(10 * (i + 1)) }), nil},
		"none":             {with(func(int) int64 { return 0 }), agent.ErrNotNumbered},
		"from 0":           {with(func(i int) int64 { return int64(i) }), agent.ErrNotNumbered},
		"all the same":     {with(func(int) int64 { return 7 }), agent.ErrNotNumbered},
		"the last is not":  {with(func(i int) int64 { return int64(i+1) % int64(len(r.log)) }), agent.ErrNotNumbered},
		"backwards":        {with(func(i int) int64 { return int64(len(r.log) - i) }), agent.ErrNotNumbered},
		"no events at all": {nil, agent.ErrNoSuchPlace},
	} {
		cut, err := agent.FindCut(tt.log, agent.ForkPlace{Messages: 2})
		if !errors.Is(err, tt.want) || tt.want == nil && cut.Through == 0 {
			t.Errorf("%s: %+v, %v", name, cut, err)
		}
	}
}

// COM-03: a session opened from another's events goes its own way.
func TestFork(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Text: "1"}, llmtest.Round{Text: "2"}, llmtest.Round{Text: "3"})
	r := newRig(t, model)
	r.run("the start")
	past := slices.Clone(r.log)
	r.run("one way")
	r.cfg.ID = "fork"
	forked, err := agent.New(r.cfg, past...)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := forked.Prompt(t.Context(), "another way"); err != nil || got.Text != "3" {
		t.Errorf("%+v %v", got, err)
	}
	var asked []string
	for _, m := range model.Requests()[2].Messages {
		asked = append(asked, m.Text())
	}
	if diff := cmp.Diff([]string{"the start", "1", "another way"}, asked); diff != "" || r.session.Transcript().Turn != 2 {
		t.Error(diff)
	}
}
