package llm_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// refusing is an adapter that refuses requests for their number as long as it
// is told to.
type refusing struct {
	after time.Duration
	asked int
	busy  bool
}

func (r *refusing) Name() string { return "p" }

func (r *refusing) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		r.asked++
		if r.busy {
			yield(llm.Event{}, &llm.Error{Class: llm.ClassRateLimit, Retryable: true, RetryAfter: r.after})
			return
		}
		yield(llm.Event{Type: llm.EventFinish, Answer: &llm.Answer{}}, nil)
	}
}

// K-20: after one refusal nobody sends a request until the pause is over, and
// each caller learns how long that is.
func TestLimiter(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{"said": 10 * time.Second, "not said": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var limiter llm.Limiter
				p := &refusing{after: after, busy: true}
				c := llm.NewClient(p, echo("other"))
				c.Use(limiter.Around)
				ask := func() *llm.Error {
					_, err := llm.Complete(c.Stream(t.Context(), llm.Request{Provider: "p"}))
					var e *llm.Error
					errors.As(err, &e)
					return e
				}
				pause := max(after, time.Second)
				if e := ask(); e == nil || e.Held {
					t.Fatalf("the first: %v", e)
				}
				time.Sleep(pause / 4)
				e := ask()
				if e == nil || !e.Held || !e.Retryable || e.RetryAfter != pause-pause/4 || p.asked != 1 {
					t.Fatalf("during the pause: %+v, asked %d times", e, p.asked)
				}
				if _, err := llm.Complete(c.Stream(t.Context(), llm.Request{Provider: "other"})); err != nil {
					t.Errorf("another provider: %v", err)
				}
				p.busy = false
				time.Sleep(e.RetryAfter)
				if e := ask(); e != nil {
					t.Errorf("after the pause: %v", e)
				}
			})
		})
	}
}

// A new key does not wait for the pause of the old one.
func TestLimiterForgets(t *testing.T) {
	t.Parallel()
	var limiter llm.Limiter
	p := &refusing{after: time.Hour, busy: true}
	c := llm.NewClient(p)
	c.Use(limiter.Around)
	class(t, c, llm.Request{Provider: "p"})
	limiter.Forget("p")
	class(t, c, llm.Request{Provider: "p"})
	if p.asked != 2 {
		t.Errorf("asked %d times, want 2", p.asked)
	}
}

// If two simultaneous requests are refused, the longer pause counts.
func TestLimiterKeepsTheLongerPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var limiter llm.Limiter
		stream := limiter.Around(func(_ context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
			return func(yield func(llm.Event, error) bool) {
				if yield(llm.Event{Type: llm.EventStart}, nil) {
					yield(llm.Event{}, &llm.Error{Class: llm.ClassRateLimit, RetryAfter: time.Duration(req.MaxOutput) * time.Second})
				}
			}
		})
		next := func(seconds int) func() (llm.Event, error, bool) {
			pull, stop := iter.Pull2(stream(t.Context(), llm.Request{Provider: "p", MaxOutput: seconds}))
			t.Cleanup(stop)
			return pull
		}
		long, short := next(10), next(2)
		long()
		short()
		long() // it is refused
		short()
		_, err, _ := next(0)()
		var e *llm.Error
		if !errors.As(err, &e) || e.RetryAfter != 10*time.Second {
			t.Errorf("the pause is %+v", e)
		}
	})
}
