package agent_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
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
