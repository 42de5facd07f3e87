package live

import (
	"context"
	"sync"
)

// current is the turn that a session is busy with, from when it is asked for
// until it is over. It is safe for concurrent use.
type current struct {
	mu     sync.Mutex
	rested chan struct{} // closed when the turn is over; nil between turns
	// stop ends the turn; nil until the owner runs it. An end that is asked for
	// before that is remembered as its cause.
	stop  context.CancelCauseFunc
	cause error
}

// begin makes the session busy. It reports false where it is already.
func (c *current) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rested != nil {
		return false
	}
	c.rested = make(chan struct{})
	return true
}

// run returns the context of the turn that was begun.
func (c *current) run(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, stop := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = stop
	if c.cause != nil {
		stop(c.cause)
	}
	return ctx, stop
}

// end ends the turn for that cause. Between turns it does nothing.
func (c *current) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rested == nil {
		return
	}
	if c.cause == nil {
		c.cause = cause
	}
	if c.stop != nil {
		c.stop(cause)
	}
}

// rest says that the turn is over.
func (c *current) rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.rested)
	c.rested, c.stop, c.cause = nil, nil, nil
}

func (c *current) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rested != nil
}

// wait returns when no turn is under way, or ctx ends.
func (c *current) wait(ctx context.Context) error {
	for {
		c.mu.Lock()
		rested := c.rested
		c.mu.Unlock()
		if rested == nil {
			return nil
		}
		select {
		case <-rested:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
