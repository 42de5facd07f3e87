package agent_test

import (
	"context"
	"slices"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

// resume reopens the session from its log and resumes it.
func (r *rig) resume() []agent.Event {
	r.t.Helper()
	r.open()
	return r.collect(r.session.Resume(r.t.Context()))
}

// cutAfter runs an input and stops, as a killed process would, after the n-th
// event of a kind was stored.
func (r *rig) cutAfter(kind agent.Kind, n int) {
	r.t.Helper()
	r.open()
	for ev, err := range r.session.Run(r.t.Context(), "go") {
		if err != nil {
			r.t.Fatal(err)
		}
		r.store(ev)
		if ev.Kind() == kind {
			if n--; n == 0 {
				return
			}
		}
	}
	r.t.Fatalf("the turn ended before %s", kind)
}

// Nothing is resumed, and nothing stored, in a session without an open turn: neither
// in one without a past nor after a turn that ended.
func TestResumeWithoutAnOpenTurn(t *testing.T) {
	t.Parallel()
	s, err := agent.New(agent.Config{Model: llmtest.Script(llmtest.Round{Text: "hi"}), Gate: agent.AllowAll, Profiles: agent.Plain("", nil), Settings: scripted})
	if err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"at first", "after a turn"} {
		for ev, err := range s.Resume(t.Context()) {
			t.Errorf("%s: %+v, %v", when, ev, err)
		}
		if _, err := s.Prompt(t.Context(), "go"); when == "at first" && err != nil {
			t.Fatal(err)
		}
	}
}

// A turn that was cut while a tool ran ends as crashed; its calls are answered
// and the session goes on.
func TestResumeAfterCrashInATool(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(
		llmtest.Round{Calls: []llmtest.Call{use("Look", "a"), use("Look", "b")}},
		llmtest.Round{Text: "on we go"},
	)
	r := newRig(t, model)
	r.cutAfter(agent.KindToolCallEnd, 1)
	events := r.resume()
	ends := find[agent.ToolCallEnd](events)
	if len(ends) != 1 || ends[0].Outcome != agent.OutcomeInterrupted {
		t.Errorf("ends = %+v", ends)
	}
	if got := end(t, events); got != agent.EndCrashed {
		t.Errorf("ended as %s", got)
	}
	if got := end(t, r.run("again")); got != agent.EndDone {
		t.Errorf("next turn ended as %s", got)
	}
}

// A turn that was cut while the model answered ends as crashed.
func TestResumeAfterCrashInAnAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Text: "I think"}, llmtest.Round{Text: "again"}))
	r.cutAfter(agent.KindTextDelta, 1)
	if got := end(t, r.resume()); got != agent.EndCrashed {
		t.Errorf("ended as %s", got)
	}
	if got := end(t, r.run("again")); got != agent.EndDone {
		t.Errorf("next turn ended as %s", got)
	}
}

// A turn that was cut while it waited for a person waits on under the same
// request, and goes on with the answer: the call itself, the calls after it,
// and the rounds after those.
func TestResumeWhileWaiting(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(
		llmtest.Round{Calls: []llmtest.Call{use("Note", "first"), use("Note", "second"), use("Note", "third")}},
		llmtest.Round{Text: "done"},
	)
	r := newRig(t, model)
	r.cutAfter(agent.KindApprovalRequest, 2)
	waiting := find[agent.ApprovalRequest](r.log)[1]
	var asked []string
	r.cfg.Approver = approver(func(_ context.Context, req agent.ApprovalRequest) (agent.Answer, error) {
		asked = append(asked, req.ID)
		return agent.Answer{Decision: agent.Allow}, nil
	})
	events := r.resume()
	if len(asked) != 2 || asked[0] != waiting.ID || asked[1] == waiting.ID {
		t.Errorf("asked %v, the open request was %s", asked, waiting.ID)
	}
	var outputs []string
	for _, e := range find[agent.ToolCallEnd](r.log) {
		outputs = append(outputs, e.Output)
	}
	if diff := cmp.Diff([]string{"Note: first", "Note: second", "Note: third"}, outputs); diff != "" {
		t.Error(diff)
	}
	if got := end(t, events); got != agent.EndDone {
		t.Errorf("ended as %s", got)
	}
}

// Suspend leaves a turn that waits for a person open in the log, so that it
// can be resumed.
func TestSuspendWhileWaiting(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "done"}))
	r.cfg.Approver = approver(func(ctx context.Context, _ agent.ApprovalRequest) (agent.Answer, error) {
		r.session.Suspend()
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	})
	r.run("go")
	if last := r.log[len(r.log)-1]; last.Kind() != agent.KindApprovalRequest {
		t.Fatalf("the log ends with %s", last.Kind())
	}
	r.cfg.Approver = approver(allowAll)
	if got := end(t, r.resume()); got != agent.EndDone {
		t.Errorf("ended as %s", got)
	}
}

// OAS-630: an allow for the session holds after the session is reopened.
func TestGrantSurvivesReopening(t *testing.T) {
	t.Parallel()
	round := llmtest.Round{Calls: []llmtest.Call{use("Note", "same")}}
	r := newRig(t, llmtest.Script(round, llmtest.Round{Text: "ok"}, round, llmtest.Round{Text: "ok"}))
	r.cfg.Approver = approver(func(context.Context, agent.ApprovalRequest) (agent.Answer, error) {
		return agent.Answer{Decision: agent.Allow, Scope: agent.ScopeSession}, nil
	})
	r.run("go")
	r.cfg.Gate = &gate{granted: map[string]bool{}}
	r.cfg.Approver = approver(func(context.Context, agent.ApprovalRequest) (agent.Answer, error) {
		t.Error("asked again")
		return agent.Answer{}, nil
	})
	r.open()
	r.run("again")
}

// OAS-116, K-40: with a turn that waits for a person, calls that were cut off are run
// again where that is harmless, and answered as cut off where it is not.
func TestResumeRunsIdempotentCallsAgain(t *testing.T) {
	t.Parallel()
	var ran journal
	run := func(_ context.Context, c agent.Invocation) agent.Result {
		ran.note(textOf(c.Input))
		return agent.Result{Output: "seen"}
	}
	poll := note{name: "Poll", run: run}
	spec := poll.Spec()
	spec.ReadOnly, spec.Concurrent = true, true // and not Idempotent
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a"), use("Poll", "b"), use("Note", "c")}}, llmtest.Round{Text: "Done."}),
		note{name: "Look", readOnly: true, run: run}, specified{poll, spec}, note{name: "Note"})
	r.cutAfter(agent.KindApprovalRequest, 1)
	r.log = slices.DeleteFunc(r.log, func(ev agent.Event) bool { return ev.Kind() == agent.KindToolCallEnd })
	ran.lines = nil
	events := r.resume()
	got := map[string]string{}
	for _, e := range find[agent.ToolCallEnd](events) {
		got[e.Tool] = string(e.Outcome)
	}
	want := map[string]string{"Look": "done", "Poll": "interrupted", "Note": "done"}
	if diff := cmp.Diff(want, got); diff != "" || !slices.Equal(ran.lines, []string{"a"}) {
		t.Errorf("ran %q %s", ran.lines, diff)
	}
}

// Every prefix of a log opens to a session that resumes or goes on.
func TestEveryPrefixOpens(t *testing.T) {
	t.Parallel()
	script := []llmtest.Round{
		{Text: "a", Calls: []llmtest.Call{use("Look", "a"), use("Note", "b"), use("Note", "c")}},
		{Text: "b", Calls: []llmtest.Call{use("Note", "d")}},
		{Text: "c"},
	}
	whole := newRig(t, llmtest.Script(script...))
	whole.run("go")
	for n := 1; n <= len(whole.log); n++ {
		r := newRig(t, llmtest.Script(script...))
		r.log = append([]agent.Event(nil), whole.log[:n]...)
		r.open()
		if s := r.session.Transcript().State; s == agent.StateProcessing || s == agent.StateAwaitingInput {
			r.resume()
		}
		if s := r.session.Transcript().State; s != agent.StateIdle {
			t.Errorf("after %d events the session is %s", n, s)
		}
		if open := len(r.session.Transcript().Pending()); open != 0 {
			t.Errorf("after %d events %d requests are open", n, open)
		}
	}
}
