package live

import (
	"context"
	"errors"
	"testing"
)

// unowned returns a session without an owner.
func unowned() *Session { return newSession("a", New(Config{})) }

// A turn stops for the first cause that it is given, even before it runs. No
// cause is left for the next turn.
func TestCauseOfAStop(t *testing.T) {
	t.Parallel()
	first, second := errors.New("first"), errors.New("second")
	l := unowned()
	begin := func() bool { began, _ := l.beginTurn(false); return began }
	l.stopTurn(first) // there is no turn
	for _, before := range []bool{true, false} {
		if !begin() || begin() {
			t.Fatal("the turn did not begin exactly once")
		}
		if before {
			l.stopTurn(first)
		}
		ctx, stop := l.turnContext(t.Context())
		if (ctx.Err() != nil) != before {
			t.Errorf("stopped before it ran: %v, want %t", ctx.Err(), before)
		}
		l.stopTurn(first)
		l.stopTurn(second)
		if cause := context.Cause(ctx); !errors.Is(cause, first) {
			t.Errorf("stopped for %v", cause)
		}
		stop(nil)
		l.endTurn()
	}
	if !begin() {
		t.Fatal("the turn did not begin")
	}
	l.stopTurn(first)
	l.stopTurn(second)
	if ctx, _ := l.turnContext(t.Context()); !errors.Is(context.Cause(ctx), first) {
		t.Errorf("stopped before it ran for %v", context.Cause(ctx))
	}
}

// A stop between two turns does nothing to the next one.
func TestStopBetweenTurns(t *testing.T) {
	t.Parallel()
	l := unowned()
	l.stopTurn(context.Canceled)
	l.beginTurn(false)
	ctx, stop := l.turnContext(t.Context())
	defer stop(nil)
	if err := ctx.Err(); err != nil {
		t.Errorf("the next turn was stopped: %v", context.Cause(ctx))
	}
	l.endTurn()
}
