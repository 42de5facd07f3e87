package live

import (
	"testing"

	"atelier.dev/atelier/agent"
)

// The answer of a second page is refused from the first answer on, not only
// once that is recorded.
func TestSecondAnswer(t *testing.T) {
	t.Parallel()
	var a answers
	if !a.deliver("a", agent.Answer{Decision: agent.Deny}) {
		t.Fatal("the first answer was refused")
	}
	refused := func(when string) {
		if a.deliver("a", agent.Answer{Decision: agent.Allow}) {
			t.Errorf("%s, a second answer was accepted", when)
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
