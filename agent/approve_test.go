package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// strict is a gate that can change its mind.
type strict struct{ verdict agent.Verdict }

func (s *strict) Decide(context.Context, agent.GateCall) agent.Verdict { return s.verdict }

// sketch is a note that shows what it would change.
type sketch struct {
	note
	diff *string
}

func (s sketch) Preview(context.Context, json.RawMessage) ([]agent.FileChange, error) {
	return []agent.FileChange{{Path: "a", Diff: *s.diff}}, nil
}

// K-12, OAS-116: what a person allowed is decided about anew when they have answered: by
// then it may be forbidden, lead elsewhere or change something else than they
// were shown.
func TestApprovalIsJudgedAgain(t *testing.T) {
	t.Parallel()
	ask := agent.Verdict{Decision: agent.Ask, Reason: "It writes."}
	for name, tt := range map[string]struct {
		meanwhile func(asked int, g *strict, diff *string)
		asked     []string // the reasons
		outcome   agent.Outcome
		hook      bool // a hook has the person asked, and the gate allows the call
	}{
		"nothing": {func(int, *strict, *string) {}, []string{"It writes."}, agent.OutcomeDone, false},
		"forbidden": {func(_ int, g *strict, _ *string) {
			g.verdict = agent.Verdict{Decision: agent.Deny, Reason: "A rule forbids it."}
		}, []string{"It writes."}, agent.OutcomeDenied, false},
		"free": {func(_ int, g *strict, _ *string) { g.verdict = agent.Verdict{Decision: agent.Allow} }, []string{"It writes."}, agent.OutcomeDone, false},
		"leads elsewhere, once": {
			func(_ int, g *strict, _ *string) { g.verdict.Reason = "It leads outside." },
			[]string{"It writes.", "What this call does has changed since you were asked. It leads outside."}, agent.OutcomeDone, false,
		},
		"changes something else, once": {
			func(_ int, _ *strict, diff *string) { *diff = "+new" },
			[]string{"It writes.", "What this call does has changed since you were asked. It writes."}, agent.OutcomeDone, false,
		},
		"keeps changing": {
			func(asked int, _ *strict, diff *string) { *diff = strings.Repeat("+", asked) },
			[]string{
				"It writes.", "What this call does has changed since you were asked. It writes.",
				"What this call does has changed since you were asked. It writes.",
			}, agent.OutcomeDenied, false,
		},
		"nothing, and a hook wants to have it seen": {func(int, *strict, *string) {}, []string{"A hook wants you to be asked. look at it"}, agent.OutcomeDone, true},
		"changes something else, and a hook wants to have it seen": {
			func(_ int, _ *strict, diff *string) { *diff = "+new" },
			[]string{"A hook wants you to be asked. look at it", "What this call does has changed since you were asked. A hook wants you to be asked. look at it"}, agent.OutcomeDone, true,
		},
		"free in another mode, and a hook wants to have it seen": {
			func(_ int, g *strict, _ *string) { g.verdict.Reason = "The mode never asks." },
			[]string{"A hook wants you to be asked. look at it"}, agent.OutcomeDone, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			diff := "+old"
			ran := false
			tool := sketch{note{name: "Note", run: func(context.Context, agent.Invocation) agent.Result {
				ran = true
				return agent.Result{Output: "written"}
			}}, &diff}
			r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."}), tool)
			g := &strict{ask}
			if tt.hook {
				g.verdict.Decision = agent.Allow
				r.cfg.Hooks = at(agent.HookPreToolUse, agent.HookAdvice{Decision: agent.Ask, Reason: "look at it"})
			}
			r.cfg.Gate = g
			var asked []string
			r.cfg.Approver = approver(func(_ context.Context, req agent.ApprovalRequest) (agent.Answer, error) {
				asked = append(asked, req.Reason)
				if req.Changes[0].Diff != diff {
					t.Errorf("asked about %+v, it is %q", req.Changes, diff)
				}
				tt.meanwhile(len(asked), g, &diff)
				return agent.Answer{Decision: agent.Allow}, nil
			})
			ends := find[agent.ToolCallEnd](r.run("go"))
			if len(ends) != 1 || ends[0].Outcome != tt.outcome || ran != (tt.outcome == agent.OutcomeDone) {
				t.Errorf("ran %t, %+v", ran, ends)
			}
			if d := cmp.Diff(tt.asked, asked); d != "" {
				t.Error(d)
			}
			if answers := find[agent.ApprovalAnswer](r.log); len(answers) != len(asked) {
				t.Errorf("%d answers in the log", len(answers))
			}
		})
	}
}

// doomed is a tool that fails unless it was told a word before.
type doomed struct {
	note
	told *string
}

func (d doomed) Preview(_ context.Context, input json.RawMessage) ([]agent.FileChange, error) {
	if *d.told != textOf(input) {
		return nil, errors.New("the file has not been read")
	}
	return []agent.FileChange{{Path: "a"}}, nil
}

// Nobody is asked about a call that must fail, and the model is told at once. A call
// before it in the same answer may be what it needs.
func TestNobodyIsAskedAboutACallThatMustFail(t *testing.T) {
	t.Parallel()
	ask := func(_ context.Context, c agent.GateCall) agent.Verdict {
		if c.ReadOnly {
			return agent.Verdict{Decision: agent.Allow}
		}
		return agent.Verdict{Decision: agent.Ask, Reason: "It writes."}
	}
	for name, tt := range map[string]struct {
		calls    []llmtest.Call
		asked    int
		outcomes []agent.Outcome
	}{
		"alone":                   {[]llmtest.Call{use("Note", "a")}, 0, []agent.Outcome{agent.OutcomeFailed}},
		"after a read":            {[]llmtest.Call{use("Look", "a"), use("Note", "a")}, 1, []agent.Outcome{agent.OutcomeDone, agent.OutcomeDone}},
		"after another read":      {[]llmtest.Call{use("Look", "b"), use("Note", "a")}, 0, []agent.Outcome{agent.OutcomeDone, agent.OutcomeFailed}},
		"before the read":         {[]llmtest.Call{use("Note", "a"), use("Look", "a")}, 0, []agent.Outcome{agent.OutcomeFailed, agent.OutcomeDone}},
		"some of several calls":   {[]llmtest.Call{use("Note", "b"), use("Look", "a"), use("Note", "a")}, 1, []agent.Outcome{agent.OutcomeFailed, agent.OutcomeDone, agent.OutcomeDone}},
		"two after the same read": {[]llmtest.Call{use("Look", "a"), use("Note", "a"), use("Note", "a")}, 2, []agent.Outcome{agent.OutcomeDone, agent.OutcomeDone, agent.OutcomeDone}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := ""
			look := note{name: "Look", readOnly: true, run: func(_ context.Context, call agent.Invocation) agent.Result {
				told = textOf(call.Input)
				return agent.Result{Output: "seen"}
			}}
			r := newRig(t, llmtest.Script(llmtest.Round{Calls: tt.calls}, llmtest.Round{Text: "Done."}), look, doomed{note{name: "Note"}, &told})
			r.cfg.Gate = agent.GateFunc(ask)
			asked := 0
			r.cfg.Approver = approver(func(context.Context, agent.ApprovalRequest) (agent.Answer, error) {
				asked++
				return agent.Answer{Decision: agent.Allow}, nil
			})
			var outcomes []agent.Outcome
			for _, end := range find[agent.ToolCallEnd](r.run("go")) {
				outcomes = append(outcomes, end.Outcome)
				if end.Outcome == agent.OutcomeFailed && end.Output != "the file has not been read." {
					t.Errorf("the model is told %q", end.Output)
				}
			}
			if d := cmp.Diff(tt.outcomes, outcomes); d != "" || asked != tt.asked {
				t.Errorf("asked %d times, want %d (-want +got):\n%s", asked, tt.asked, d)
			}
		})
	}
}
