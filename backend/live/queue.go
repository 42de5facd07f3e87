package live

import "atelier.dev/atelier/agent"

// Queue returns the messages that wait for delivery.
func (l *Session) Queue() *agent.Queue { return l.session.Load().Queue() }

// ChangeQueue makes one change, in the store and in memory, while the session
// cannot be replaced. It returns the messages that wait afterwards.
func (l *Session) ChangeQueue(change func(*agent.Queue) error) ([]agent.Queued, error) {
	l.inbox.queueing.Lock()
	defer l.inbox.queueing.Unlock()
	q := l.Queue()
	err := change(q)
	return q.Items(), err
}
