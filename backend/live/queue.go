package live

import (
	"context"
	"sync"

	"atelier.dev/atelier/agent"
)

// Queue returns the messages that wait for delivery.
func (l *Session) Queue() *agent.Queue { return l.session().Queue() }

// ChangeQueue makes one change, in the store and in memory, while no other is made
// and the session cannot be replaced. A turn does not wait for it. ChangeQueue
// returns the messages that wait afterwards.
func (l *Session) ChangeQueue(ctx context.Context, change func(*agent.Queue) error) ([]agent.Queued, error) {
	release, err := l.claimQueue(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	q := l.Queue()
	err = change(q)
	return q.Items(), err
}

// claimQueue makes the caller the only one who may change the queue, or read it from
// the store, until release is called. It waits for those who came before, so that
// changes reach the store and the memory in the same order.
func (l *Session) claimQueue(ctx context.Context) (release func(), err error) {
	for {
		ended := l.tryQueue()
		if ended == nil {
			return sync.OnceFunc(l.releaseQueue), nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryQueue returns nil if the queue is the caller's now; else a channel that is closed
// when whoever has it releases it.
func (l *Session) tryQueue() (ended <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shared.queueing == nil {
		l.shared.queueing = make(chan struct{})
		return nil
	}
	return l.shared.queueing
}

func (l *Session) releaseQueue() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.shared.queueing)
	l.shared.queueing = nil
}
