package live

import (
	"errors"
	"testing"

	"atelier.dev/atelier/agent"
)

// The answer of a second page is refused from the first answer on, not only
// once that is recorded.
func TestSecondAnswer(t *testing.T) {
	t.Parallel()
	var a answers
	nothing := func() error { return nil }
	if first, err := a.deliver("a", agent.Answer{Decision: agent.Allow}, func() error { return errors.New("full") }); !first || err == nil {
		t.Fatalf("an answer that could not be remembered: %t, %v", first, err)
	}
	if first, err := a.deliver("a", agent.Answer{Decision: agent.Deny}, nothing); !first || err != nil {
		t.Fatalf("the first answer was refused: %v", err)
	}
	refused := func(when string) {
		remember := func() error { t.Errorf("%s, a second answer was remembered", when); return nil }
		if first, err := a.deliver("a", agent.Answer{Decision: agent.Allow}, remember); first || err != nil {
			t.Errorf("%s, a second answer was accepted: %v", when, err)
		}
	}
	refused("before the session waits")
	if answer, err := a.Approve(t.Context(), agent.ApprovalRequest{ID: "a"}); err != nil || answer.Decision != agent.Deny {
		t.Errorf("the session was given %v, %v", answer, err)
	}
	refused("before the answer is recorded")
	a.forget()
	if len(a.slots) != 0 {
		t.Errorf("%d slots are left after the turn", len(a.slots))
	}
}

// A request that is to be judged again stays open, and a person's answer goes
// first.
func TestJudgeAgain(t *testing.T) {
	t.Parallel()
	var a answers
	ask := func(want agent.Decision) {
		t.Helper()
		if answer, err := a.Approve(t.Context(), agent.ApprovalRequest{ID: "a"}); err != nil || answer.Decision != want {
			t.Fatalf("the session was given %v, %v", answer, err)
		}
	}
	a.judgeAgain() // while nothing waits
	a.mu.Lock()
	a.slot("a")
	a.mu.Unlock()
	for range 3 { // which counts once
		a.judgeAgain()
	}
	ask(agent.Ask)
	a.judgeAgain()
	if first, err := a.deliver("a", agent.Answer{Decision: agent.Deny}, func() error { return nil }); !first || err != nil {
		t.Fatalf("the answer was refused: %v", err)
	}
	ask(agent.Deny)
}
