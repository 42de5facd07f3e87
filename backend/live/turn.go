package live

import (
	"context"
	"iter"

	"atelier.dev/atelier/agent"
)

// turn is a session's current turn, from the request for it until its end.
type turn struct {
	ended chan struct{} // closed when the turn has ended; nil between turns
	// stop stops the turn; nil until the owner runs it. If the turn is to be
	// stopped before that, the cause is remembered.
	stop  context.CancelCauseFunc
	cause error
	// repairs says that it only closes what a crash left open, which takes no time.
	repairs bool
}

func (t *turn) busy() bool { return t.ended != nil }

// beginTurn makes the session busy. If it already is, beginTurn reports false, and
// returns a channel that is closed when the current turn has ended if that is a
// repair.
func (l *Session) beginTurn(repair bool) (began bool, repaired <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &l.shared.turn
	switch {
	case !t.busy():
		*t = turn{ended: make(chan struct{}), repairs: repair}
		return true, nil
	case t.repairs:
		return false, t.ended
	}
	return false, nil
}

// turnContext returns the context of the current turn, which the owner is about to
// run.
func (l *Session) turnContext(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, stop := context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &l.shared.turn
	t.stop = stop
	if t.cause != nil {
		stop(t.cause)
	}
	return ctx, stop
}

// stopTurn stops the current turn for the given cause. Between turns it does nothing.
func (l *Session) stopTurn(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &l.shared.turn
	if !t.busy() {
		return
	}
	if t.cause == nil {
		t.cause = cause
	}
	if t.stop != nil {
		t.stop(cause)
	}
}

// endTurn marks the current turn as ended.
func (l *Session) endTurn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.shared.turn.ended)
	l.shared.turn = turn{}
}

// turnEnd returns a channel that is closed when the current turn has ended; nil
// between turns.
func (l *Session) turnEnd() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shared.turn.ended
}

// Busy reports whether a turn runs or has been requested.
func (l *Session) Busy() bool { return l.turnEnd() != nil }

// Wait returns when there is no current turn, or the context's cause if the
// context ends first.
func (l *Session) Wait(ctx context.Context) error {
	for {
		ended := l.turnEnd()
		if ended == nil {
			return nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Interrupt stops the turn that runs or has been requested, if there is one. It
// does not wait for I/O.
func (l *Session) Interrupt() { l.stopTurn(agent.ErrInterrupted) }

// wherever is a turn, also if its calls move the session elsewhere: it is then read again
// for its new folder, and goes on there.
func wherever(ctx context.Context, l *Session, begin Turn) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for {
			before := l.session()
			for ev, err := range begin(before, ctx) {
				if !yield(ev, err) {
					return
				}
			}
			if !before.Left() {
				return
			}
			l.owned.missed = true
			if err := l.refresh(context.WithoutCancel(ctx)); err != nil {
				yield(agent.Event{}, err)
				return
			}
			begin = func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] {
				return s.Proceed(ctx, before)
			}
		}
	}
}
