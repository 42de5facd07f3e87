package live

import (
	"atelier.dev/atelier/agent"
)

// Queue returns what waits to be delivered.
func (l *Session) Queue() *agent.Queue { return l.session.Load().Queue() }

// ChangeQueue makes one change, in the store and in memory, while the session is
// not read again. It returns what waits then.
func (l *Session) ChangeQueue(change func(*agent.Queue) error) ([]agent.Queued, error) {
	l.inbox.mu.Lock()
	defer l.inbox.mu.Unlock()
	q := l.Queue()
	err := change(q)
	return q.Items(), err
}
