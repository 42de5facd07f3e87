package backend

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"

	"atelier.dev/atelier/agent"
)

// live is a session that this process works on. Its goroutine owns the
// [agent.Session]: it alone runs turns, records events and replaces the
// session when another process has added to the log. Other goroutines reach
// it through turns, nudge, and the session's own safe methods.
type live struct {
	id      string
	bench   *Workbench
	session atomic.Pointer[agent.Session]
	seq     int64         // the log's end as the session knows it; -1 = not at all
	missed  bool          // the log holds events that the session does not know
	batch   []agent.Event // durable events that wait for the next one
	stage   stage
	busy    atomic.Bool
	inbox   inbox
	beside  beside
	cancel  context.CancelFunc
	done    chan struct{} // closed when the owner has ended
}

// stage is how far the owner is with the newest turn that was run here.
type stage int

const (
	untouched stage = iota // none was
	working
	resting
)

// inbox is how other goroutines reach the owner.
type inbox struct {
	turns chan turnWork
	nudge chan struct{} // settings were asked for; holds one
	// mu is held while the session is replaced, and while what it would lose by
	// that is changed: the queue, in the store and in memory, and the settings
	// that were asked for.
	mu sync.Mutex
	// rested is closed when the turn under way is over; nil between turns.
	// Guarded by mu.
	rested chan struct{}
	// bypass says that this process was told to let the session do everything
	// unasked; see revoke. Guarded by mu.
	bypass bool
}

// beginTurn is [agent.Session.Run] with its input, or another method that does
// something with a session.
type beginTurn func(*agent.Session, context.Context) iter.Seq2[agent.Event, error]

// turnWork is one turn for the owner to run. accepted is told, once, whether
// it will be.
type turnWork struct {
	begin    beginTurn
	accepted chan error
}

// own is the owner's loop. It ends with ctx, after the turn under way.
func (l *live) own(ctx context.Context) {
	defer close(l.done)
	for {
		select {
		case <-ctx.Done():
			l.beside.jobs.Wait() // which ctx ends too
			l.end(context.WithoutCancel(ctx))
			l.bench.leave(context.WithoutCancel(ctx), l.id) // of a session that stays open
			return
		case <-l.beside.news:
			if release, err := l.acquire(ctx); err == nil {
				l.recordAsides(ctx)
				release()
			} else { // they wait for the next turn, or the end
				slog.Warn("record a job beside the session", "session", l.id, "err", err)
			}
		case w := <-l.inbox.turns:
			l.work(ctx, w)
			l.follow(ctx)
		case <-l.inbox.nudge:
			if release, err := l.acquire(ctx); err == nil {
				l.recordSettings(ctx)
				release()
			} // else they are recorded by the next turn
		}
	}
}

// work runs one turn while no other process can, and reports whether one ended.
func (l *live) work(ctx context.Context, w turnWork) (ended bool) {
	release, err := l.acquire(ctx)
	if err != nil {
		l.busy.Store(false)
		w.accepted <- err
		return false
	}
	defer release()
	l.stage = working
	l.inbox.mu.Lock()
	l.inbox.rested = make(chan struct{})
	l.inbox.mu.Unlock()
	w.accepted <- nil
	ended = l.runTurn(ctx, w)
	if l.session.Load().Transcript().State == agent.StateClosed {
		l.missed = true // whoever goes on does so in another environment
	}
	l.rest()
	if !ended {
		return false
	}
	l.recordAsides(ctx) // those that could not be recorded when they were over
	if err := l.beginAsides(ctx); err != nil {
		slog.Warn("begin jobs beside the session", "session", l.id, "err", err)
	}
	return true
}

// follow runs what was queued when the turn had taken the last of the queue
// already, or behind a command of the user's. Where another turn is asked for,
// it follows that one.
func (l *live) follow(ctx context.Context) {
	session := l.session.Load()
	for ctx.Err() == nil && session.Transcript().Follows() && session.Queue().Has(agent.FollowUp) && l.busy.CompareAndSwap(false, true) {
		if !l.work(ctx, turnWork{begin: runQueued, accepted: make(chan error, 1)}) {
			return // it would fare no better again at once
		}
		session = l.session.Load()
	}
}

// waitForRest returns when no turn is under way, or ctx ends.
func (l *live) waitForRest(ctx context.Context) error {
	for {
		l.inbox.mu.Lock()
		rested := l.inbox.rested
		l.inbox.mu.Unlock()
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

// end closes the session in the log if this process has worked on it and it
// is at rest (K-07).
func (l *live) end(ctx context.Context) {
	if l.stage == untouched {
		return
	}
	release, err := l.acquire(ctx)
	if err != nil {
		slog.Warn("end session", "session", l.id, "err", err)
		return
	}
	defer release()
	l.recordAsides(ctx)
	if session := l.session.Load(); session.Transcript().State == agent.StateIdle {
		for _, ev := range session.Close(ctx) {
			l.record(ctx, ev)
		}
	}
}

// runTurn reports whether a turn ended.
func (l *live) runTurn(ctx context.Context, w turnWork) (ended bool) {
	session := l.session.Load()
	if session.Transcript().State == agent.StateClosed {
		if !l.record(ctx, session.Record(l.bench.sessionStart(true))) {
			return false
		}
	}
	for ev, err := range w.begin(session, ctx) {
		if err != nil {
			slog.Error("turn ended", "session", l.id, "err", err)
			break
		}
		if !l.record(ctx, ev) {
			return ended
		}
		if title := firstTitle(session.Transcript().Title, ev); title != "" && !l.record(ctx, session.Record(agent.Title{Text: title})) {
			return ended
		}
		ended = ended || ev.Kind() == agent.KindProcessingEnd
	}
	l.recordSettings(ctx)
	return ended
}

// record stores a durable event and then shows it; a delta is only shown. An
// event that another follows at once waits for that one, and both are stored
// together. It reports false when they could not be stored: the session's
// memory is then ahead of the log, so it is dropped and read again for the
// next turn.
func (l *live) record(ctx context.Context, ev agent.Event) bool {
	if !ev.Durable() {
		l.bench.show(ev)
		return true
	}
	l.batch = append(l.batch, ev)
	if ev.More {
		return true
	}
	batch := l.batch
	l.batch = nil
	// What happened is kept even when its session is being shut down.
	seq, err := l.bench.cfg.Store.Append(context.WithoutCancel(ctx), batch...)
	if err != nil {
		l.lost(ev, err)
		return false
	}
	l.missed = l.missed || seq != l.seq+int64(len(batch)) // a new name, say, which is stored at once
	l.seq = seq
	for i, ev := range batch {
		ev.Seq = seq - int64(len(batch)-1-i)
		if isRest(ev.Data) {
			l.rest()
		}
		l.bench.show(ev)
	}
	return true
}

// isRest reports whether a turn, or something that the user did between two,
// ends with this and nothing follows at once.
func isRest(p agent.Payload) bool {
	switch d := p.(type) {
	case agent.ProcessingEnd:
		return !d.Next
	case agent.LocalCommandEnd:
		return true
	case agent.CompactionEnd:
		return d.Trigger == agent.CompactManual
	}
	return false
}

// rest lets the next turn be asked for: whoever is shown the end of one may
// begin another at once. It counts once a turn, because the next one may have
// been asked for already.
func (l *live) rest() {
	if l.stage == working {
		l.stage = resting
		l.inbox.mu.Lock()
		close(l.inbox.rested)
		l.inbox.rested = nil
		l.inbox.mu.Unlock()
		l.busy.Store(false)
	}
}

// lost says that an event could not be stored. The turn ends there; what was
// stored stays.
func (l *live) lost(ev agent.Event, err error) {
	slog.Error("store event", "session", l.id, "kind", ev.Kind(), "err", err)
	l.seq = -1
	l.rest()
	e := AsError(err)
	l.bench.show(agent.Event{Session: l.id, Turn: ev.Turn, At: ev.At, Data: agent.Failure{
		Code: string(e.Code), Message: "The turn was stopped because it could not be saved. " + e.Message,
		Kept: e.Kept, Next: e.Next, Details: e.Details,
	}})
	l.bench.show(agent.Event{Session: l.id, Turn: ev.Turn, At: ev.At, Data: agent.ProcessingEnd{Reason: agent.EndFailed}})
}

// recordSettings records settings that were asked for since the last round.
func (l *live) recordSettings(ctx context.Context) {
	if ev, ok := l.session.Load().RecordSettings(); ok {
		l.record(ctx, ev)
	}
}

// errWorking answers what can only begin in a session at rest.
var errWorking = &Error{
	Code: CodeBusy, Message: "This session is already working.",
	Kept: "Nothing was sent or changed; what you wrote is still in the box.", Next: "Wait until it is done, or stop it.",
}

// start hands a turn to the owner and returns once it has begun. CodeBusy
// where the session is working already, here or in another process.
func (l *live) start(begin beginTurn) error {
	if !l.busy.CompareAndSwap(false, true) {
		return errWorking
	}
	w := turnWork{begin: begin, accepted: make(chan error, 1)}
	select {
	case l.inbox.turns <- w:
		return <-w.accepted
	case <-l.done:
		return &Error{Code: CodeBusy, Message: "Atelier is closing.", Kept: "Nothing was sent or changed."}
	}
}

// acquire takes the session's lease and reads it again if its log has grown
// elsewhere or its memory was dropped.
func (l *live) acquire(ctx context.Context) (release func(), err error) {
	release, err = l.bench.cfg.Store.Lease(l.id)
	if err != nil {
		return nil, err
	}
	if err := l.refresh(ctx); err != nil {
		release()
		return nil, err
	}
	l.revoke(ctx)
	return release, nil
}

func (l *live) refresh(ctx context.Context) error {
	info, err := l.bench.cfg.Store.Session(ctx, l.id)
	if err != nil || info.Seq == l.seq && !l.missed {
		return err
	}
	past, err := l.bench.cfg.Store.Events(ctx, EventRange{Session: l.id})
	if err != nil {
		return err
	}
	session, err := l.bench.newSession(ctx, info, past)
	if err != nil {
		return err
	}
	l.inbox.mu.Lock()
	defer l.inbox.mu.Unlock()
	waits, err := l.bench.cfg.Store.Queue(ctx, l.id)
	if err != nil {
		return err
	}
	session.Queue().Set(waits)
	if old := l.session.Load(); old != nil {
		if set, ok := old.Asked(); ok {
			session.Configure(set)
		}
	}
	l.session.Store(session)
	l.seq, l.missed = info.Seq, false
	return nil
}
