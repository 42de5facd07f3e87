package live

import (
	"context"
	"sync"
)

// current is the session's current turn, from the request for it until its end.
// It is safe for concurrent use.
type current struct {
	mu     sync.Mutex
	rested chan struct{} // closed when the turn has ended; nil between turns
	// stop ends the turn; nil until the owner runs it. If the turn is to be
	// ended before that, its cause is remembered.
	stop  context.CancelCauseFunc
	cause error
	// repairs says that it only closes what a crash left open, which takes no time.
	repairs bool
}

// begin makes the session busy. It reports false if it already is.
func (c *current) begin() bool { return c.beginTo(false) }

// repair is begin for a turn that only closes what a crash left open.
func (c *current) repair() bool { return c.beginTo(true) }

func (c *current) beginTo(repair bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rested != nil {
		return false
	}
	c.rested, c.repairs = make(chan struct{}), repair
	return true
}

// repaired returns a channel that is closed when such a turn has ended; nil if the
// current turn is another one.
func (c *current) repaired() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.repairs {
		return nil
	}
	return c.rested
}

// run returns the context of the current turn.
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

// end ends the turn for the given cause. Between turns it does nothing.
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

// rest marks the turn as ended.
func (c *current) rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.rested)
	c.rested, c.stop, c.cause, c.repairs = nil, nil, nil, false
}

func (c *current) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rested != nil
}

// wait returns when there is no current turn, or ctx ends.
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
