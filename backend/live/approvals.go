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
	again    chan struct{} // the call is to be judged again; holds one
}

// slot returns the slot of one request. A page is shown the request first and
// may answer before the session begins to wait. The lock is held.
func (a *answers) slot(id string) *slot {
	if a.slots == nil {
		a.slots = map[string]*slot{}
	}
	if a.slots[id] == nil {
		a.slots[id] = &slot{answer: make(chan agent.Answer, 1), again: make(chan struct{}, 1)}
	}
	return a.slots[id]
}

// forget removes the slots of a turn that has ended.
func (a *answers) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.slots)
}

// Approve waits for the answer to a request, without a time limit. A person's
// answer goes before a wish to judge again.
func (a *answers) Approve(ctx context.Context, req agent.ApprovalRequest) (agent.Answer, error) {
	a.mu.Lock()
	s := a.slot(req.ID)
	a.mu.Unlock()
	select {
	case answer := <-s.answer:
		return answer, nil
	case <-s.again:
	case <-ctx.Done():
		return agent.Answer{}, context.Cause(ctx)
	}
	select {
	case answer := <-s.answer:
		return answer, nil
	default:
		return agent.Answer{Decision: agent.Ask}, nil
	}
}

// judgeAgain has every request that waits judged again.
func (a *answers) judgeAgain() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.slots {
		select {
		case s.again <- struct{}{}:
		default: // it is about to be
		}
	}
}

// claim makes the caller the only one who may answer a request. It returns nil
// if somebody else did before.
func (a *answers) claim(id string) *slot {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.slot(id)
	if s.answered {
		return nil
	}
	s.answered = true
	return s
}

// disclaim lets others answer, because the caller cannot.
func (a *answers) disclaim(s *slot) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s.answered = false
}

// deliver delivers an answer after remember has stored what it leaves behind. It
// reports false, and stores nothing, if an answer was delivered before.
func (a *answers) deliver(id string, answer agent.Answer, remember func() error) (first bool, err error) {
	s := a.claim(id)
	if s == nil {
		return false, nil
	}
	if err := remember(); err != nil {
		a.disclaim(s)
		return true, err
	}
	s.answer <- answer // which has room
	return true, nil
}

// Answer delivers a person's answer to a pending request, after remember has
// stored what it leaves behind. It reports false if one was delivered before. If
// remember fails, the request stays open.
func (l *Session) Answer(approval string, answer agent.Answer, remember func() error) (first bool, err error) {
	return l.inbox.answers.deliver(approval, answer, remember)
}

// JudgeAgain has the calls of all sessions that wait for a person judged again,
// because rules may have changed. A rule that decides about a call answers its
// request; the others keep waiting.
func (s *Sessions) JudgeAgain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.byID {
		l.inbox.answers.judgeAgain()
	}
}
