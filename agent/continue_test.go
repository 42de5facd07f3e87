package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// carryOn is run for a turn that was stopped.
func (r *rig) carryOn() []agent.Event {
	r.t.Helper()
	if r.session.Transcript().State == agent.StateClosed {
		r.store(r.session.Record(agent.SessionStart{Resumed: true}))
	}
	return r.collect(r.session.Continue(r.t.Context()))
}

// K-06: whatever stopped a turn, it is carried on from there, with its limits anew and
// the same input; a model is not asked with its own words last.
func TestContinue(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		first   []llmtest.Round
		stopped agent.EndReason
		nudged  bool
	}{
		"a limit":        {[]llmtest.Round{{Calls: []llmtest.Call{look}}}, agent.EndLimit, false},
		"a failure":      {[]llmtest.Round{{Status: 404}}, agent.EndFailed, false},
		"a refused key":  {[]llmtest.Round{{Status: 401}}, agent.EndFailed, false},
		"half an answer": {[]llmtest.Round{{Text: "It is", Cut: 1}}, agent.EndFailed, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.Script(append(tt.first, llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Noon."})...)
			r := newRig(t, model)
			r.cfg.Limits.Rounds = 1
			if got := end(t, r.run("what time is it?")); got != tt.stopped {
				t.Fatalf("stopped by %s", got)
			}
			r.open() // from the log: nothing of it is in memory alone
			if events := r.carryOn(); end(t, events) != agent.EndLimit || len(find[agent.UserInput](events)) > 0 ||
				events[0].Kind() != agent.KindTurnContinued || events[0].Turn != 1 {
				t.Errorf("carried on: %s", kinds(events, 20))
			}
			if events := r.carryOn(); end(t, events) != agent.EndDone {
				t.Errorf("carried on again: %s", kinds(events, 20))
			}
			if got := len(find[agent.SteeringInjected](r.log)) > 0; got != tt.nudged {
				t.Errorf("nudged %t", got)
			}
			for _, req := range model.Requests() {
				if last := req.Messages[len(req.Messages)-1]; last.Role == llm.RoleAssistant {
					t.Errorf("asked with its own words last: %+v", req.Messages)
				}
			}
			for _, err := range r.session.Continue(t.Context()) {
				if !errors.Is(err, agent.ErrDone) {
					t.Errorf("a finished turn went on: %v", err)
				}
			}
		})
	}
}

// K-06, LOOP-08: what was queued follows a turn that was carried on to its end.
func TestContinueThenFollowUp(t *testing.T) {
	t.Parallel()
	var r *rig
	r = newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Noon."}, llmtest.Round{Text: "You are welcome."}),
		note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
			r.session.FollowUp("thanks")
			r.session.Interrupt()
			return agent.Result{Output: "seen"}
		}})
	if got := end(t, r.run("what time is it?")); got != agent.EndInterrupted {
		t.Fatalf("ended as %s", got)
	}
	events := r.carryOn()
	if got := strings.Join(inputs(events), ", "); got != "thanks" || end(t, events) != agent.EndDone {
		t.Errorf("followed by %q, ended as %s", got, end(t, events))
	}
}
