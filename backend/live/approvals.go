package live

import (
	"context"

	"atelier.dev/atelier/agent"
)

// answers are people's answers to the requests of the current turn, by the ids of
// the requests.
type answers map[string]*answer

// answer is the only answer to a request. It is kept until the turn ends, because
// the request stays pending in the log until the answer is recorded.
type answer struct {
	claimed bool // somebody gives it
	given   chan agent.Answer
	again   chan struct{} // the call is to be judged again; holds one
}

// answerTo returns the answer to a request. A page is shown the request first and
// may answer before the session begins to wait. The lock is held.
func (l *Session) answerTo(request string) *answer {
	a := l.shared.answers[request]
	if a == nil {
		if l.shared.answers == nil {
			l.shared.answers = answers{}
		}
		a = &answer{given: make(chan agent.Answer, 1), again: make(chan struct{}, 1)}
		l.shared.answers[request] = a
	}
	return a
}

// forgetAnswers removes the answers of a turn that has ended.
func (l *Session) forgetAnswers() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.shared.answers)
}

// approve waits for the answer to a request, without a time limit. A person's
// answer goes before a wish to judge again.
func (l *Session) approve(ctx context.Context, req agent.ApprovalRequest) (agent.Answer, error) {
	l.mu.Lock()
	a := l.answerTo(req.ID)
	l.mu.Unlock()
	select {
	case given := <-a.given:
		return given, nil
	case <-a.again:
	case <-ctx.Done():
		return agent.Answer{}, context.Cause(ctx)
	}
	select {
	case given := <-a.given:
		return given, nil
	default:
		return agent.Answer{Decision: agent.Ask}, nil
	}
}

// Answer delivers a person's answer to a pending request, after remember has
// stored what it leaves behind. It reports false, and calls nothing, if somebody
// answered before. If remember fails, the request stays open.
func (l *Session) Answer(request string, given agent.Answer, remember func() error) (first bool, err error) {
	a := l.claimAnswer(request)
	if a == nil {
		return false, nil
	}
	if err := remember(); err != nil {
		l.disclaimAnswer(a)
		return true, err
	}
	a.given <- given // which has room
	return true, nil
}

// claimAnswer makes the caller the only one who may answer a request. It returns nil
// if somebody else did before.
func (l *Session) claimAnswer(request string) *answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.answerTo(request)
	if a.claimed {
		return nil
	}
	a.claimed = true
	return a
}

// disclaimAnswer lets others answer, because the caller cannot.
func (l *Session) disclaimAnswer(a *answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.claimed = false
}

// judgeAgain has every request that waits judged again.
func (l *Session) judgeAgain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.shared.answers {
		select {
		case a.again <- struct{}{}:
		default: // it is about to be
		}
	}
}

// JudgeAgain has the calls of all sessions that wait for a person judged again,
// because rules may have changed. A rule that decides about a call answers its
// request; the others keep waiting.
func (s *Sessions) JudgeAgain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.byID {
		l.judgeAgain()
	}
}
