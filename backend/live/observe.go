package live

import (
	"context"
	"log/slog"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// maxObserved limits the points of a session that wait for their hooks. Only hooks
// that hang, or a flood of changed files, reach it.
const maxObserved = 64

// Observation returns what hooks are told of a point outside of a turn; nil if
// there is nothing to tell any more. It is called just before they run.
type Observation func(context.Context) agent.HookInput

// points are the points outside of turns whose hooks have not run yet. One goroutine,
// a side job of the session, runs them one after the other while there are any, so
// that it ends before the session does.
type points struct {
	waiting []Observation
	running bool // the goroutine runs
	closed  bool // nothing more may wait
}

// Observe runs the session's hooks of a point that has come outside of a turn,
// without waiting for them. Their reports enter the log when the session is at
// rest. It is safe for concurrent use.
func (l *Session) Observe(point agent.HookPoint, tell Observation) {
	if session := l.session(); session == nil || !session.Hooked(point) {
		return
	}
	if !l.await(tell) {
		slog.Warn("hooks were left out, because too many wait", "session", l.id, "point", point)
	}
}

// await has a point wait for its hooks, and reports false if too many wait. At the
// session's end it does nothing.
func (l *Session) await(tell Observation) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &l.shared.points
	switch {
	case p.closed:
		return true
	case len(p.waiting) == maxObserved:
		return false
	}
	p.waiting = append(p.waiting, tell)
	if !p.running {
		p.running = true
		l.jobs.Go(l.observe) // under the lock, so that it does not begin while the end waits for jobs
	}
	return true
}

// HasBesides reports whether hooks that run beside the session may have changed files that
// its log does not know of yet.
func (l *Session) HasBesides() bool {
	session := l.session()
	return session != nil && session.HasBesides()
}

// Fire runs the session's hooks of a point outside of its turns and waits for what they
// advise, also when the session is ending and Observe takes nothing more. What they say
// and report enters the log like that of Observe; a decision is the caller's to follow.
func (l *Session) Fire(ctx context.Context, data agent.HookInput) agent.HookAdvice {
	if session := l.session(); session != nil && session.Hooked(data.Point()) {
		return l.fire(ctx, data)
	}
	return agent.HookAdvice{}
}

// observe runs the hooks of the points that wait.
func (l *Session) observe() {
	for {
		tell := l.nextPoint()
		if tell == nil {
			return
		}
		if data := tell(l.ctx); data != nil {
			l.fire(l.ctx, data)
		}
	}
}

// nextPoint returns the oldest point that waits; nil, and the goroutine ends, if
// there is none.
func (l *Session) nextPoint() Observation {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &l.shared.points
	if len(p.waiting) == 0 || l.ctx.Err() != nil {
		p.running, p.waiting = false, nil
		return nil
	}
	tell := p.waiting[0]
	p.waiting = p.waiting[1:]
	return tell
}

// closePoints lets nothing more wait. Hooks that run end with the owner's context.
func (l *Session) closePoints() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shared.points.closed = true
}

// fire runs the hooks of one point, and passes what they report to the owner.
func (l *Session) fire(ctx context.Context, data agent.HookInput) agent.HookAdvice {
	open := func(t *agent.Transcript) bool { return t.State != agent.StateClosed }
	unnamed := func(t *agent.Transcript) bool { return open(t) && !t.Title.ByUser }
	advice := l.session().Observe(ctx, data, func(p agent.Payload) {
		if ev := (agent.Event{Session: l.id, At: time.Now().UnixMilli(), Data: p}); !ev.Durable() {
			l.all.cfg.Show(ev)
			return
		}
		l.addResult(Outcome{Event: p, Wanted: open})
	})
	if advice.Context != "" {
		l.addResult(Outcome{Event: agent.SteeringInjected{ByLoop: true, Text: advice.Context}, Wanted: open})
	}
	if advice.Title != "" {
		l.addResult(Outcome{Event: agent.Title{Text: backend.TitleFrom(advice.Title), ByHook: true}, Wanted: unnamed})
	}
	return advice
}

// Parent returns the id of the session that started this one; empty if none did.
func (l *Session) Parent() string {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	return l.hold.parent
}
