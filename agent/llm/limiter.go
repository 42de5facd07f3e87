package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"
)

// Limiter holds back requests to a provider that has asked for a pause. Of
// several sessions that share a key only one is refused, instead of each of
// them as often as its retries allow. A request during the pause fails without
// being sent, with an [*Error] that says how long to wait, so that the usual
// retry waits and shows it. It is safe for concurrent use; the zero value is
// ready to use.
type Limiter struct {
	mu     sync.Mutex
	paused map[string]time.Time // until when, by provider
}

// shortestPause is the pause after a refusal that does not name one.
const shortestPause = time.Second

// Around is the limiter's [Middleware].
func (l *Limiter) Around(next StreamFunc) StreamFunc {
	return func(ctx context.Context, req Request) iter.Seq2[Event, error] {
		return func(yield func(Event, error) bool) {
			if wait := l.left(req.Provider); wait > 0 {
				yield(Event{}, &Error{
					Class: ClassRateLimit, Provider: req.Provider, Retryable: true, Held: true, RetryAfter: wait,
					Message: fmt.Sprintf("%s has asked for a pause", req.Provider),
				})
				return
			}
			for ev, err := range next(ctx, req) {
				l.note(req.Provider, err)
				if !yield(ev, err) {
					return
				}
			}
		}
	}
}

// Forget ends a provider's pause, because its key has changed.
func (l *Limiter) Forget(provider string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.paused, provider)
}

func (l *Limiter) left(provider string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.paused[provider])
}

func (l *Limiter) note(provider string, err error) {
	var e *Error
	if !errors.As(err, &e) || e.Class != ClassRateLimit {
		return
	}
	until := time.Now().Add(max(e.RetryAfter, shortestPause))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused == nil {
		l.paused = map[string]time.Time{}
	}
	if until.After(l.paused[provider]) {
		l.paused[provider] = until
	}
}
