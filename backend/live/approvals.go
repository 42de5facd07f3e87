package live

import (
	"context"
	"sync"

	"atelier.dev/atelier/agent"
)

// answers delivers people's answers to a session that waits for them. It
// implements [agent.Approver].
type answers struct {
	mu    sync.Mutex
	slots map[string]*slot
}

var _ agent.Approver = (*answers)(nil)

// slot holds the only answer to a request. It holds it until the turn ends,
// because the request stays pending in the log until the answer is recorded.
type slot struct {
	answered bool
	answer   chan agent.Answer
}

// slot returns the slot of one request. A page is shown the request first and
// may answer before the session begins to wait. The lock is held.
func (a *answers) slot(id string) *slot {
	if a.slots == nil {
		a.slots = map[string]*slot{}
	}
	if a.slots[id] == nil {
		a.slots[id] = &slot{answer: make(chan agent.Answer, 1)}
	}
	return a.slots[id]
}

// forget removes the slots of a turn that has ended.
func (a *answers) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.slots)
}

// Approve waits for the answer to a request, without a time limit.
func (a *answers) Approve(ctx context.Context, req agent.ApprovalRequest) (agent.Answer, error) {
	a.mu.Lock()
	answer := a.slot(req.ID).answer
	a.mu.Unlock()
	select {
	case answer := <-answer:
		return answer, nil
	case <-ctx.Done():
		return agent.Answer{}, context.Cause(ctx)
	}
}

// deliver delivers an answer. It reports false if one was delivered before.
func (a *answers) deliver(id string, answer agent.Answer) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.slot(id)
	if s.answered {
		return false
	}
	s.answered = true
	s.answer <- answer // which has room
	return true
}

// Answer delivers a person's answer to a pending request. It reports false if
// one was delivered before.
func (l *Session) Answer(approval string, answer agent.Answer) bool {
	return l.inbox.answers.deliver(approval, answer)
}
