package live

import (
	"context"
	"errors"
	"testing"
)

// A turn ends for the first cause that it is given, even before it runs. No
// cause is left for the next turn.
func TestCauseOfAnEnd(t *testing.T) {
	t.Parallel()
	first, second := errors.New("first"), errors.New("second")
	var c current
	c.end(first) // there is no turn
	for _, before := range []bool{true, false} {
		if !c.begin() || c.begin() {
			t.Fatal("the turn did not begin exactly once")
		}
		if before {
			c.end(first)
		}
		ctx, stop := c.run(t.Context())
		if (ctx.Err() != nil) != before {
			t.Errorf("ended before it ran: %v, want %t", ctx.Err(), before)
		}
		c.end(first)
		c.end(second)
		if cause := context.Cause(ctx); !errors.Is(cause, first) {
			t.Errorf("ended for %v", cause)
		}
		stop(nil)
		c.rest()
	}
	if !c.begin() {
		t.Fatal("the turn did not begin")
	}
	c.end(first)
	c.end(second)
	if ctx, _ := c.run(t.Context()); !errors.Is(context.Cause(ctx), first) {
		t.Errorf("ended before it ran for %v", context.Cause(ctx))
	}
}

// Ending between two turns does nothing to the next one.
func TestEndBetweenTurns(t *testing.T) {
	t.Parallel()
	var c current
	c.end(context.Canceled)
	c.begin()
	ctx, stop := c.run(t.Context())
	defer stop(nil)
	if err := ctx.Err(); err != nil {
		t.Errorf("the next turn was ended: %v", context.Cause(ctx))
	}
	c.rest()
}
