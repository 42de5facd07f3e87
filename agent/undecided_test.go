package agent_test

import (
	"context"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

// OAS-661: a message that hooks were still asked about when the turn was cut short, by
// the user or by a crash, is not sent: neither when the turn continues nor later.
func TestUndecidedPrompt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hooked bool
		cut    func(r *rig, h *hooks)
		want   agent.EndReason
		sent   bool
	}{
		"interrupted": {true, func(r *rig, h *hooks) {
			h.advise = func(c agent.HookCall) agent.HookAdvice {
				if c.Point() == agent.HookUserPromptSubmit {
					r.session.Interrupt()
				}
				return agent.HookAdvice{}
			}
			r.run("the secret")
		}, agent.EndRefused, false},
		"crashed": {true, func(r *rig, _ *hooks) {
			r.open()
			for ev := range r.session.Run(r.t.Context(), "the secret") {
				r.store(ev)
				if ev.Kind() == agent.KindHookOutput {
					break
				}
			}
			r.resume()
		}, agent.EndRefused, false},
		"crashed after the answer": {true, func(r *rig, _ *hooks) {
			r.open()
			for ev := range r.session.Run(r.t.Context(), "the secret") {
				r.store(ev)
				if ev.Kind() == agent.KindTextEnd {
					break
				}
			}
			r.resume()
		}, agent.EndCrashed, true},
		"crashed without hooks": {false, func(r *rig, _ *hooks) {
			r.open()
			for ev := range r.session.Run(r.t.Context(), "the secret") {
				r.store(ev)
				break
			}
			r.resume()
		}, agent.EndCrashed, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.Script(llmtest.Round{Text: "Fine."}, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Done."})
			r, h := newRig(t, model), &hooks{}
			if tt.hooked {
				r.cfg.Hooks = h
			}
			tt.cut(r, h)
			h.advise = nil
			if got := end(t, r.log); got != tt.want {
				t.Errorf("ended as %s", got)
			}
			warned := false
			for _, w := range find[agent.Warning](r.log) {
				warned = warned || w.ID == agent.WarnPromptUndecided
			}
			if warned == tt.sent {
				t.Errorf("warned: %t", warned)
			}
			for _, err := range r.session.Continue(t.Context()) {
				if err != nil && (tt.sent || err != agent.ErrDone) {
					t.Errorf("continue: %v", err)
				}
			}
			r.run("last")
			if got := sent(model); strings.Contains(got, "secret") != tt.sent || !strings.Contains(got, "last") {
				t.Errorf("sent %s", got)
			}
		})
	}
}

// LOOP-14: a message that steers stays in the queue if the turn is interrupted while
// hooks are asked about it, and is theirs to refuse later.
func TestUndecidedSteering(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a")}}, llmtest.Round{Text: "Done."})
	r := newRig(t, model)
	r.cfg.Hooks = &hooks{advise: func(c agent.HookCall) agent.HookAdvice {
		switch in := c.Data.(type) {
		case agent.PreToolUseInput:
			r.session.Steer("the secret")
		case agent.UserPromptSubmitInput:
			if in.Prompt == "the secret" {
				r.session.Interrupt()
			}
		}
		return agent.HookAdvice{}
	}}
	events := r.run("go")
	if got := find[agent.SteeringInjected](events); len(got) > 0 || end(t, events) != agent.EndInterrupted {
		t.Errorf("steered %+v, ended as %s", got, end(t, events))
	}
	if !r.session.Queue().Has(agent.Steer) {
		t.Error("the message is lost")
	}
}

// OAS-661: a prompt that hooks refuse is not sent to the model, neither now nor
// later. They are told that the turn ended so, and cannot continue it. The log keeps
// its text.
func TestHooksRefuseAPrompt(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Text: "Fine."}, llmtest.Round{Text: "Done."})
	h := &hooks{advise: func(c agent.HookCall) agent.HookAdvice {
		if in, ok := c.Data.(agent.UserPromptSubmitInput); ok && strings.Contains(in.Prompt, "secret") {
			return agent.HookAdvice{Decision: agent.Deny, Reason: "It holds a key.", Context: "not for the model"}
		}
		if in, ok := c.Data.(agent.StopInput); ok && in.Reason == agent.EndRefused {
			return agent.HookAdvice{Decision: agent.Deny, Reason: "not for the model", Context: "not for the model"}
		}
		return agent.HookAdvice{}
	}}
	r := newRig(t, model)
	r.cfg.Hooks = h
	r.run("first")
	h.fired = nil
	events := r.run("the secret")
	result := agent.NewQueryResult()
	for _, ev := range events {
		result.Apply(ev)
	}
	if err := result.Err(); err == nil || !strings.Contains(err.Error(), "It holds a key.") {
		t.Errorf("a program is told %v", err)
	}
	if end(t, events) != agent.EndRefused || len(model.Requests()) != 1 {
		t.Errorf("ended as %s after %d requests", end(t, events), len(model.Requests()))
	}
	if diff := cmp.Diff([]string{"userPromptSubmit", "stop refused"}, h.fired); diff != "" {
		t.Error(diff)
	}
	if w := find[agent.Warning](events); len(w) != 1 || w[0].ID != agent.WarnPromptRefused || w[0].Args[0] != "It holds a key." {
		t.Errorf("warned %+v", w)
	}
	for _, err := range r.session.Continue(t.Context()) {
		if err != agent.ErrDone {
			t.Errorf("a refused prompt continues: %v", err)
		}
	}
	r.open() // from the log, which has the text
	if in := find[agent.UserInput](r.log); len(in) != 2 || in[1].Text != "the secret" {
		t.Errorf("the log has %+v", in)
	}
	r.run("last")
	if sent := sent(model); strings.Contains(sent, "secret") || strings.Contains(sent, "not for the model") || !strings.Contains(sent, "first") || !strings.Contains(sent, "last") {
		t.Errorf("sent %s", sent)
	}
}

// interrupting are hooks that refuse a prompt, and whose turn is stopped while they are
// told that it ended.
type interrupting struct {
	*hooks
	stop func()
	cut  error
}

func (h *interrupting) Fire(ctx context.Context, c agent.HookCall, report func(agent.Payload)) agent.HookAdvice {
	if c.Point() == agent.HookStop {
		h.stop()
		h.cut = ctx.Err()
	}
	return h.hooks.Fire(ctx, c, report)
}

// OAS-661: hooks that are told of a refused turn are not cut short with it.
func TestHooksOfARefusedTurnEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script())
	h := &interrupting{hooks: at(agent.HookUserPromptSubmit, agent.HookAdvice{Decision: agent.Deny}), stop: func() { r.session.Interrupt() }}
	r.cfg.Hooks = h
	if events := r.run("go"); end(t, events) != agent.EndRefused || h.cut != nil || len(h.fired) != 3 {
		t.Errorf("ended as %s after %q, and the last was cut: %v", end(t, events), h.fired, h.cut)
	}
}
