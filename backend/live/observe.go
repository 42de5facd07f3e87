package live

import (
	"context"
	"log/slog"
	"sync"
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

// observer runs the hooks of a session at points outside of turns, one after the
// other, while there are any. Its goroutine is one of the session's side jobs, so
// that it ends before the session does.
type observer struct {
	mu      sync.Mutex // guards what follows, and starting the goroutine against close
	ctx     context.Context
	waiting []Observation
	running bool
	closed  bool
}

// Observe runs the session's hooks of a point that has come outside of a turn,
// without waiting for them. What they report enters the log when the session is at
// rest. It is safe for concurrent use.
func (l *Session) Observe(point agent.HookPoint, tell Observation) {
	if session := l.session.Load(); session == nil || !session.Hooked(point) {
		return
	}
	o := &l.side.observer
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		return
	case len(o.waiting) == maxObserved:
		slog.Warn("hooks were left out, because too many wait", "session", l.id, "point", point)
		return
	}
	o.waiting = append(o.waiting, tell)
	if !o.running {
		o.running = true
		l.side.jobs.Go(l.observe)
	}
}

// Fire runs the session's hooks of a point outside of its turns and waits for what they
// advise, also when the session is ending and Observe takes nothing more. What they say
// and report enters the log like that of Observe; a decision is the caller's to follow.
func (l *Session) Fire(ctx context.Context, data agent.HookInput) agent.HookAdvice {
	if session := l.session.Load(); session != nil && session.Hooked(data.Point()) {
		return l.fire(ctx, data)
	}
	return agent.HookAdvice{}
}

// observe runs the hooks of the points that wait.
func (l *Session) observe() {
	for {
		tell, ctx := l.side.observer.next()
		if tell == nil {
			return
		}
		if data := tell(ctx); data != nil {
			l.fire(ctx, data)
		}
	}
}

// next returns the oldest point that waits; nil, and the goroutine ends, if there
// is none.
func (o *observer) next() (Observation, context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 || o.ctx.Err() != nil {
		o.running, o.waiting = false, nil
		return nil, nil
	}
	tell := o.waiting[0]
	o.waiting = o.waiting[1:]
	return tell, o.ctx
}

// close lets nothing more wait. Hooks that run end with the owner's context.
func (o *observer) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}

// busy reports whether hooks run or wait.
func (o *observer) busy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.running
}

// fire runs the hooks of one point, and passes what they report to the owner.
func (l *Session) fire(ctx context.Context, data agent.HookInput) agent.HookAdvice {
	open := func(t *agent.Transcript) bool { return t.State != agent.StateClosed }
	unnamed := func(t *agent.Transcript) bool { return open(t) && !t.Title.ByUser }
	advice := l.session.Load().Observe(ctx, data, func(p agent.Payload) {
		if ev := (agent.Event{Session: l.id, At: time.Now().UnixMilli(), Data: p}); !ev.Durable() {
			l.all.cfg.Show(ev)
			return
		}
		l.side.add(Outcome{Event: p, Wanted: open})
	})
	if advice.Context != "" {
		l.side.add(Outcome{Event: agent.SteeringInjected{ByLoop: true, Text: advice.Context}, Wanted: open})
	}
	if advice.Title != "" {
		l.side.add(Outcome{Event: agent.Title{Text: backend.TitleFrom(advice.Title), ByHook: true}, Wanted: unnamed})
	}
	return advice
}

// Parent returns the id of the session that started this one; empty if none did.
func (l *Session) Parent() string {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	return l.hold.parent
}
