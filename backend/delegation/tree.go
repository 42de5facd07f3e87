package delegation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend/live"
)

// AtOnce is how many agents of a tree work at a time (K-05).
const AtOnce = 4

// A model that starts agents in a loop is stopped: maxBegun of a tree may be started in a time.
const (
	maxBegun  = 60
	begunTime = 10 * time.Minute
)

// Of agents that begin alike, the next is held back for at most maxStagger. What the first one
// left in the provider's cache is there for warmFor.
const (
	maxStagger = 5 * time.Second
	warmFor    = 4 * time.Minute
)

// tree is what this process knows of the agents below one session.
type tree struct {
	// budget is held, by the one value that it has room for, while the cost of a request is
	// reserved.
	budget chan struct{}

	mu       sync.Mutex
	changed  chan struct{} // closed, and made again, when a place may have become free
	starting map[string]bool
	started  map[string]string          // by which session each agent was started
	lends    map[string]map[string]bool // agents that wait, with those that they wait for
	reserved map[string]llm.Cost        // estimated costs of requests under way, by session
	begun    []time.Time                // when agents were started, the newest last
	rounds   int                        // of all sessions, since the newest input of the root
	alike    map[string]*firstOf
}

// firstOf is the first agent of those that begin alike.
type firstOf struct {
	session  string
	answered chan struct{} // closed when the provider has begun to answer it, or it has ended
	at       time.Time     // when that was
}

func newTree() *tree {
	return &tree{
		budget: make(chan struct{}, 1), changed: make(chan struct{}), starting: map[string]bool{}, started: map[string]string{},
		lends: map[string]map[string]bool{}, reserved: map[string]llm.Cost{}, alike: map[string]*firstOf{},
	}
}

// starter returns the session that started an agent; empty if it is not known.
func (t *tree) starter(session string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.started[session]
}

// setStarter notes which session started an agent.
func (t *tree) setStarter(session, by string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.started[session] = by
}

// count notes that an agent is started, or returns an error if there were too many lately.
func (t *tree) count(now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun = slices.DeleteFunc(t.begun, func(at time.Time) bool { return now.Sub(at) > begunTime })
	if len(t.begun) >= maxBegun {
		return fmt.Errorf("%d agents were started within ten minutes, which is the most; go on with those that are there, or without", len(t.begun))
	}
	t.begun = append(t.begun, now)
	return nil
}

// notify wakes those that wait for a place. The lock is held.
func (t *tree) notify() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// take gives a session a place among the agents that work. If there is none, it returns those that
// hold one, and a channel that is closed when that may have changed.
func (t *tree) take(session string, working []*live.Session) (busy []*live.Session, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	holds := maps.Clone(t.starting)
	for _, l := range working {
		if len(t.lends[l.ID()]) == 0 {
			holds[l.ID()] = true
			busy = append(busy, l)
		}
	}
	delete(holds, session)
	if len(holds) >= AtOnce {
		return busy, t.changed
	}
	t.starting[session] = true
	return nil, nil
}

// give ends the hold on a place of a session that has begun to work, or will not.
func (t *tree) give(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.starting, session)
	t.notify()
}

// lend frees the place of an agent while it waits for another one.
func (t *tree) lend(session, waitsFor string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lends[session] == nil {
		t.lends[session] = map[string]bool{}
	}
	t.lends[session][waitsFor] = true
	t.notify()
}

// back notes that an agent no longer waits for another one, unless that was the last: then it needs
// a place before it is ready.
func (t *tree) back(session, waitedFor string) (last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lends[session]) == 1 && t.lends[session][waitedFor] {
		return true
	}
	delete(t.lends[session], waitedFor)
	return false
}

// ready notes that an agent waits for nothing.
func (t *tree) ready(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.lends, session)
}

// observe takes note of an event of one of the sessions.
func (t *tree) observe(ev agent.Event, root string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch d := ev.Data.(type) {
	case agent.UserInput:
		if ev.Session == root {
			t.rounds = 0
		}
		return
	case agent.TurnContinued: // a person said so
		t.rounds = 0
		return
	case agent.ReasoningDelta, agent.TextDelta, agent.CallDraft, agent.TextStart:
	case agent.TextEnd:
		t.rounds++
		delete(t.reserved, ev.Session)
	case agent.ProcessingEnd:
		delete(t.reserved, ev.Session)
		if !d.Next {
			t.notify()
		}
	default:
		return
	}
	for _, f := range t.alike {
		if f.session == ev.Session && f.at.IsZero() {
			f.at = now
			close(f.answered)
		}
	}
}

// stagger holds an agent back until the first one that begins alike was answered. It does not
// hold back the first one.
func (t *tree) stagger(ctx context.Context, session, alike string, now time.Time) {
	t.mu.Lock()
	f := t.alike[alike]
	if f == nil || !f.at.IsZero() && now.Sub(f.at) > warmFor {
		t.alike[alike] = &firstOf{session: session, answered: make(chan struct{})}
		t.mu.Unlock()
		return
	}
	t.mu.Unlock()
	timer := time.NewTimer(maxStagger)
	defer timer.Stop()
	select {
	case <-f.answered:
	case <-timer.C:
	case <-ctx.Done():
	}
}
