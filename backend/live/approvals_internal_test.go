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
	l := unowned()
	nothing := func() error { return nil }
	if first, err := l.Answer("a", agent.Answer{Decision: agent.Allow}, func() error { return errors.New("full") }); !first || err == nil {
		t.Fatalf("an answer that could not be remembered: %t, %v", first, err)
	}
	if first, err := l.Answer("a", agent.Answer{Decision: agent.Deny}, nothing); !first || err != nil {
		t.Fatalf("the first answer was refused: %v", err)
	}
	refused := func(when string) {
		remember := func() error { t.Errorf("%s, a second answer was remembered", when); return nil }
		if first, err := l.Answer("a", agent.Answer{Decision: agent.Allow}, remember); first || err != nil {
			t.Errorf("%s, a second answer was accepted: %v", when, err)
		}
	}
	refused("before the session waits")
	if answer, err := l.approve(t.Context(), agent.ApprovalRequest{ID: "a"}); err != nil || answer.Decision != agent.Deny {
		t.Errorf("the session was given %v, %v", answer, err)
	}
	refused("before the answer is recorded")
	l.forgetAnswers()
	if n := len(l.shared.answers); n != 0 {
		t.Errorf("%d answers are left after the turn", n)
	}
}

// While an answer is being stored, nobody else can give another one.
func TestSecondAnswerMeanwhile(t *testing.T) {
	t.Parallel()
	l := unowned()
	first, err := l.Answer("a", agent.Answer{Decision: agent.Deny}, func() error {
		second, err := l.Answer("a", agent.Answer{Decision: agent.Allow}, func() error { t.Error("a second answer was remembered"); return nil })
		if second || err != nil {
			t.Errorf("a second answer was accepted: %t, %v", second, err)
		}
		return nil
	})
	if !first || err != nil {
		t.Errorf("the first answer: %t, %v", first, err)
	}
}

// A request that is to be judged again stays open, and a person's answer goes
// first.
func TestJudgeAgain(t *testing.T) {
	t.Parallel()
	l := unowned()
	ask := func(want agent.Decision) {
		t.Helper()
		if answer, err := l.approve(t.Context(), agent.ApprovalRequest{ID: "a"}); err != nil || answer.Decision != want {
			t.Fatalf("the session was given %v, %v", answer, err)
		}
	}
	l.judgeAgain() // while nothing waits
	l.mu.Lock()
	l.answerTo("a")
	l.mu.Unlock()
	for range 3 { // which counts once
		l.judgeAgain()
	}
	ask(agent.Ask)
	l.judgeAgain()
	if first, err := l.Answer("a", agent.Answer{Decision: agent.Deny}, func() error { return nil }); !first || err != nil {
		t.Fatalf("the answer was refused: %v", err)
	}
	ask(agent.Deny)
}
