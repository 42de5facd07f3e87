package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// poll is a tool that asks the person and says what they replied.
func poll() agent.Tool {
	spec := agent.Spec{Name: "Poll", Description: "Asks.", ReadOnly: true, Question: &agent.Question{
		Reason: agent.ReasonQuestion, Declined: "No answer.", Unheard: "Nobody is there.", Unless: agent.ModePlan,
	}}
	return agent.Function(spec, agent.Depends(agent.ThisCall, func(_ context.Context, _ struct{}, call agent.Invocation) (string, error) {
		return "replied: " + call.Reply, nil
	}))
}

func newPoll(t *testing.T, rounds int) *rig {
	t.Helper()
	script := make([]llmtest.Round, 0, rounds+1)
	for range rounds {
		script = append(script, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Poll", struct{}{})}})
	}
	return newRig(t, llmtest.Script(append(script, llmtest.Round{Text: "done"})...), poll())
}

// polled returns the end of the only call.
func polled(t *testing.T, events []agent.Event) agent.ToolCallEnd {
	t.Helper()
	ends := find[agent.ToolCallEnd](events)
	if len(ends) != 1 {
		t.Fatalf("%d ends", len(ends))
	}
	return ends[0]
}

// K-18, OAS-307: a question goes to the person whatever would let other calls run, and
// what they reply reaches the tool.
func TestQuestion(t *testing.T) {
	t.Parallel()
	yes := func(context.Context, agent.GateCall) agent.Verdict { return agent.Verdict{Decision: agent.Allow} }
	reply := func(a agent.Answer, err error) approver {
		return func(context.Context, agent.ApprovalRequest) (agent.Answer, error) { return a, err }
	}
	good := reply(agent.Answer{Decision: agent.Allow, Reply: "42"}, nil)
	for name, tt := range map[string]struct {
		mode     agent.Mode
		approver agent.Approver
		gate     agent.GateFunc
		setUp    func(*rig)
		told     string
		asked    int
	}{
		"answered":               {approver: good, told: "replied: 42", asked: 1},
		"answered with nothing":  {approver: reply(agent.Answer{Decision: agent.Allow}, nil), told: "replied: ", asked: 1},
		"declined":               {approver: reply(agent.Answer{Decision: agent.Deny}, nil), told: "No answer.", asked: 1},
		"declined in words":      {approver: reply(agent.Answer{Decision: agent.Deny, Feedback: "later"}, nil), told: "No answer. They said: later", asked: 1},
		"nobody there":           {approver: reply(agent.Answer{}, errors.New("gone")), told: "Nobody is there.", asked: 1},
		"a mode that never asks": {mode: agent.ModeBypass, approver: good, told: "replied: 42", asked: 1},
		"a mode that edits":      {mode: agent.ModeAcceptEdits, approver: good, told: "replied: 42", asked: 1},
		"a mode without asking":  {mode: agent.ModeDontAsk, approver: good, told: "Nobody is there."},
		"nothing to ask":         {mode: agent.ModePlan, approver: good, told: "replied: "},
		"a rule that asks": {gate: func(context.Context, agent.GateCall) agent.Verdict {
			return agent.Verdict{Decision: agent.Ask, Reason: "A rule asks."}
		}, approver: good, told: "replied: 42", asked: 1},
		"a rule that denies": {gate: func(context.Context, agent.GateCall) agent.Verdict {
			return agent.Verdict{Decision: agent.Deny, Reason: "No.", Final: true}
		}, approver: good, told: "This call is not allowed: No."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newPoll(t, 1)
			r.cfg.Approver, r.cfg.Gate = tt.approver, agent.GateFunc(yes)
			if tt.gate != nil {
				r.cfg.Gate = tt.gate
			}
			r.open().Configure(agent.Settings{Provider: llmtest.Provider, Model: "m", Mode: tt.mode})
			events := r.run("go")
			if got := polled(t, events).ForModel(); got != tt.told {
				t.Errorf("told %q, want %q", got, tt.told)
			}
			if asked := find[agent.ApprovalRequest](events); len(asked) != tt.asked || len(asked) > 0 && (asked[0].Reason != "The agent has a question." || !asked[0].EachTime) {
				t.Errorf("asked %+v", asked)
			}
		})
	}
}

// Neither a hook nor the program that runs the session answers for the person, and an
// answer for the session covers one question.
func TestOnlyThePersonAnswers(t *testing.T) {
	t.Parallel()
	r := newPoll(t, 2)
	asked := 0
	r.cfg.Approver = approver(func(context.Context, agent.ApprovalRequest) (agent.Answer, error) {
		asked++
		return agent.Answer{Decision: agent.Allow, Scope: agent.ScopeSession, Reply: fmt.Sprint(asked)}, nil
	})
	r.open()
	r.session.SetCanUseTool(func(context.Context, agent.GateCall) *agent.CanUseToolResult {
		return &agent.CanUseToolResult{Decision: agent.Allow}
	})
	ends := find[agent.ToolCallEnd](r.run("go"))
	if asked != 2 || len(ends) != 2 || ends[1].Output != "replied: 2" {
		t.Errorf("asked %d times: %+v", asked, ends)
	}
}

// A question that waited when the program ended waits again, under the same request, and
// its answer reaches the tool.
func TestQuestionOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	r := newPoll(t, 1)
	r.cutAfter(agent.KindApprovalRequest, 1)
	before := find[agent.ApprovalRequest](r.log)[0]
	r.cfg.Approver = approver(func(_ context.Context, again agent.ApprovalRequest) (agent.Answer, error) {
		if again.ID != before.ID {
			t.Errorf("asked anew: %s, not %s", again.ID, before.ID)
		}
		return agent.Answer{Decision: agent.Allow, Reply: "still here"}, nil
	})
	if got := polled(t, r.resume()); got.Output != "replied: still here" {
		t.Errorf("%+v", got)
	}
}

// keeper counts its calls in what it keeps.
func keeper() agent.Tool {
	return agent.Function(agent.Spec{Name: "Keep", Description: "Counts.", ReadOnly: true}, agent.Depends(agent.ThisCall,
		func(_ context.Context, _ struct{}, call agent.Invocation) (agent.Result, error) {
			n := 0
			if len(call.Kept) > 0 {
				if err := json.Unmarshal(call.Kept, &n); err != nil {
					return agent.Result{}, err
				}
			}
			state := fmt.Sprint(n + 1)
			return agent.Result{Output: state, Details: &agent.Details{Kept: &agent.KeptState{State: json.RawMessage(state), Text: "You counted to " + state + "."}}}, nil
		}))
}

// What a tool keeps is there after the session was opened again, and after a summary the
// model is reminded of it, and of the newest state alone.
func TestToolsKeepThings(t *testing.T) {
	t.Parallel()
	call := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Keep", struct{}{})}}
	model := llmtest.Script(call, call, llmtest.Round{Text: "done"}, call, llmtest.Round{Text: "done"}, llmtest.Round{Text: "done"})
	r := newRig(t, model, keeper())
	r.run("go")
	r.open()
	if got := polled(t, r.run("go")).Output; got != "3" {
		t.Errorf("kept %s, want 3", got)
	}
	r.store(r.session.Record(agent.CompactionEnd{Trigger: agent.CompactAuto, Outcome: agent.OutcomeDone, Summary: "Earlier: nothing."}))
	r.open()
	r.run("go on")
	requests := model.Requests()
	last, err := json.Marshal(requests[len(requests)-1].Messages)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(last), "You counted to 3."); n != 1 || strings.Contains(string(last), "You counted to 2") {
		t.Errorf("reminded %d times: %s", n, last)
	}
}
