package live

import (
	"context"
	"sync"

	"atelier.dev/atelier/agent"
)

// answers delivers people's answers to a session that waits for them. It
// implements [agent.Approver].
type answers struct {
	mu      sync.Mutex
	waiting map[string]chan agent.Answer
}

var _ agent.Approver = (*answers)(nil)

// slot returns the channel of one request. It holds one answer, because a page
// is shown the request first and may answer before the session begins to wait.
func (a *answers) slot(id string) chan agent.Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting = map[string]chan agent.Answer{}
	}
	if a.waiting[id] == nil {
		a.waiting[id] = make(chan agent.Answer, 1)
	}
	return a.waiting[id]
}

func (a *answers) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, id)
}

// Approve waits for the answer to a request, without a time limit.
func (a *answers) Approve(ctx context.Context, req agent.ApprovalRequest) (agent.Answer, error) {
	defer a.forget(req.ID)
	select {
	case answer := <-a.slot(req.ID):
		return answer, nil
	case <-ctx.Done():
		return agent.Answer{}, context.Cause(ctx)
	}
}

// deliver delivers an answer. It reports false if one was delivered before.
func (a *answers) deliver(id string, answer agent.Answer) bool {
	select {
	case a.slot(id) <- answer:
		return true
	default:
		return false
	}
}

// Answer delivers a person's answer to a pending request. It reports false if
// one was delivered before.
func (l *Session) Answer(approval string, answer agent.Answer) bool {
	return l.inbox.answers.deliver(approval, answer)
}
