package live

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// Session is a session that this process works on. Its goroutine, the owner,
// owns the [agent.Session]: only the owner runs turns, records events and
// replaces the session when another process has added to the log. Other
// goroutines reach it through the exported methods, which are safe for
// concurrent use.
type Session struct {
	id      string
	all     *Sessions
	session atomic.Pointer[agent.Session] // nil until it was read
	known   known
	stage   stage
	current current
	inbox   inbox
	side    sideJobs
	hold    hold
	loading loading
	cancel  context.CancelCauseFunc // ends the owner
	done    chan struct{}           // closed when the owner has ended
}

// known is what the owner's session knows about the log.
type known struct {
	seq    int64         // where it ends; -1 if nothing is known
	missed bool          // it has events that the session does not know
	batch  []agent.Event // durable events that wait for the next one
}

func newSession(id string, all *Sessions) *Session {
	return &Session{
		id: id, all: all, known: known{seq: -1},
		inbox: inbox{turns: make(chan turnWork), nudge: make(chan struct{}, 1)},
		side:  sideJobs{news: make(chan struct{}, 1)}, loading: loading{done: make(chan struct{})}, done: make(chan struct{}),
	}
}

// stage is the owner's progress with the newest turn.
type stage int

const (
	untouched stage = iota // none was
	working
	resting
)

// inbox is how other goroutines reach the owner.
type inbox struct {
	turns   chan turnWork
	answers answers       // of people, to its calls
	nudge   chan struct{} // settings were requested; holds one
	// mu is held while the session is replaced or its settings are requested, so
	// that a replacement loses no settings. It is never held during I/O.
	mu sync.Mutex
	// queueing is held while the queue changes, in the store and then in memory,
	// or is read from the store. Nothing else waits for it, in particular not the
	// turn that takes messages from the queue.
	queueing sync.Mutex
	// bypass says that this process was told to let the session run everything
	// without asking; see revoke.
	bypass atomic.Bool
}

// Turn is [agent.Session.Run] with its input, or another method that works with
// a session.
type Turn func(*agent.Session, context.Context) iter.Seq2[agent.Event, error]

// turnWork is one turn for the owner to run. accepted receives, once, whether
// it will be run.
type turnWork struct {
	first    Turn // what precedes the turn in the same step; may be nil
	begin    Turn
	accepted chan error
}

// own is the owner's loop. It reads the session, and ends with ctx after the
// current turn.
func (l *Session) own(ctx context.Context) {
	defer close(l.done)
	defer l.cancel(nil)
	defer l.all.forget(l)
	l.loading.err = l.refresh(ctx)
	if l.loading.err != nil && ctx.Err() != nil {
		l.loading.err = errClosing // before it was read
	}
	close(l.loading.done)
	if l.loading.err != nil {
		l.all.cfg.Leave(context.WithoutCancel(ctx), l.id)
		return
	}
	for {
		select {
		case <-ctx.Done():
			l.side.observer.close()
			l.AwaitJobs() // which ctx ends too
			l.end(context.WithoutCancel(ctx))
			l.all.cfg.Leave(context.WithoutCancel(ctx), l.id) // of a session that stays open in the log
			return
		case <-l.side.news:
			l.recordNews(ctx)
		case w := <-l.inbox.turns:
			l.recordNews(ctx) // so that the turn knows of it
			l.workAndFollow(ctx, w)
		case <-l.inbox.nudge:
			if release, err := l.acquire(ctx); err == nil {
				l.recordSettings(ctx)
				release()
			} // otherwise the next turn records them
		}
	}
}

// workAndFollow runs a turn and its queued follow-ups. The session stays in
// memory meanwhile.
func (l *Session) workAndFollow(ctx context.Context, w turnWork) {
	l.all.retain(l)
	defer l.all.release(l)
	l.work(ctx, w)
	l.follow(ctx)
}

// work runs one turn while no other process can, and reports whether one ended.
func (l *Session) work(ctx context.Context, w turnWork) (ended bool) {
	release, err := l.acquire(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = errClosing
		}
		l.current.rest()
		w.accepted <- err
		return false
	}
	defer release()
	defer l.inbox.answers.forget()
	l.stage = working
	turn, stop := l.current.run(ctx)
	defer stop(nil)
	if err := l.precede(turn, w.first); err != nil {
		l.rest()
		w.accepted <- err
		return false
	}
	w.accepted <- nil
	ended = l.runTurn(turn, w)
	if l.session.Load().Transcript().State == agent.StateClosed {
		l.known.missed = true // the next turn needs another environment
	}
	l.rest()
	if !ended {
		return false
	}
	l.recordJobs(ctx) // those that could not be recorded when they ended
	if err := l.beginJobs(ctx); err != nil && ctx.Err() == nil {
		slog.Warn("could not start side jobs", "session", l.id, "err", err)
	}
	return true
}

// precede records what precedes a turn, and reads the session again if models are
// told something else by now.
func (l *Session) precede(ctx context.Context, first Turn) error {
	if first == nil {
		return nil
	}
	for ev, err := range first(l.session.Load(), ctx) {
		if err != nil {
			return err
		}
		if !l.record(ctx, ev) {
			return backend.Problem(backend.ProblemTurnUnsaved)
		}
	}
	return l.refresh(ctx)
}

// follow runs follow-ups that were queued after the turn had taken the last
// one, or behind a user's command. If another turn is requested, they run after
// that one.
func (l *Session) follow(ctx context.Context) {
	session := l.session.Load()
	for ctx.Err() == nil && session.Transcript().Follows() && session.Queue().Has(agent.FollowUp) && l.current.begin() {
		if !l.work(ctx, turnWork{begin: (*agent.Session).RunQueued, accepted: make(chan error, 1)}) {
			return // an immediate retry would fail as well
		}
		session = l.session.Load()
	}
}

// end closes the session in the log if this process has worked on it and it is
// at rest (K-07).
func (l *Session) end(ctx context.Context) {
	if l.stage == untouched {
		return
	}
	release, err := l.acquire(ctx)
	if err != nil {
		slog.Warn("could not end a session", "session", l.id, "err", err)
		return
	}
	defer release()
	l.recordJobs(ctx)
	if session := l.session.Load(); session.Transcript().State == agent.StateIdle {
		for _, ev := range session.Close(ctx) {
			l.record(ctx, ev)
		}
	}
}

// runTurn reports whether a turn ended.
func (l *Session) runTurn(ctx context.Context, w turnWork) (ended bool) {
	session := l.session.Load()
	if session.Transcript().State == agent.StateClosed {
		if !l.record(ctx, session.Record(l.all.cfg.Start(true))) {
			return false
		}
	}
	for ev, err := range w.begin(session, ctx) {
		if err != nil {
			slog.Error("a turn failed", "session", l.id, "err", err)
			l.rest()
			l.fail(agent.Event{At: time.Now().UnixMilli()}, startProblem(err))
			break
		}
		if !l.record(ctx, ev) {
			return ended
		}
		if title := backend.FirstTitle(session.Transcript().Title, ev); title != "" && !l.record(ctx, session.Record(agent.Title{Text: title})) {
			return ended
		}
		if backend.LosesTitle(session.Transcript(), ev) && !l.record(ctx, session.Record(agent.Title{})) {
			return ended
		}
		ended = ended || ev.Kind() == agent.KindProcessingEnd
	}
	l.recordSettings(ctx)
	return ended
}

// record stores a durable event and then shows it; a delta is only shown. An
// event with More waits for the next one, so that both are stored together.
// record reports false if they could not be stored: the session's memory is
// then ahead of the log, so it is dropped and read again for the next turn.
func (l *Session) record(ctx context.Context, ev agent.Event) bool {
	if !ev.Durable() {
		l.all.cfg.Show(ev)
		return true
	}
	l.known.batch = append(l.known.batch, ev)
	if ev.More {
		return true
	}
	batch := l.known.batch
	l.known.batch = nil
	// An event is kept even if its session is being shut down.
	seq, err := l.all.cfg.Log.Append(context.WithoutCancel(ctx), batch...)
	if err != nil {
		l.lost(ev, err)
		return false
	}
	l.known.missed = l.known.missed || seq != l.known.seq+int64(len(batch)) // such as a new name, which is stored at once
	l.known.seq = seq
	for i, ev := range batch {
		ev.Seq = seq - int64(len(batch)-1-i)
		switch ev.Data.(type) {
		case agent.Rewound, agent.RewindUndone:
			l.known.missed = true // what models are told has to be read again
		}
		if isRest(ev.Data) {
			l.rest()
		}
		l.all.cfg.Show(ev)
	}
	return true
}

// isRest reports whether a turn, or a user's action between turns, ends with
// this event and nothing follows at once.
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

// rest allows the next turn: whoever sees the end of one turn may start another
// at once. It counts once for each turn, because the next one may already have
// been requested.
func (l *Session) rest() {
	if l.stage == working {
		l.stage = resting
		l.current.rest()
	}
}

// lost reports that an event could not be stored. The turn ends there; stored
// events stay.
func (l *Session) lost(ev agent.Event, err error) {
	slog.Error("could not store an event", "session", l.id, "kind", ev.Kind(), "err", err)
	l.known.seq = -1
	l.rest()
	e := backend.AsError(err)
	l.fail(ev, backend.Problem(backend.ProblemTurnUnsaved).Detailed(strings.TrimSpace(e.Error()+"\n"+e.Details)))
}

// fail shows that a turn failed, and its end, for those who wait for one. Neither
// is stored. at says which turn, and when.
func (l *Session) fail(at agent.Event, problem *backend.Error) {
	for _, data := range []agent.Payload{*problem.Failure(), agent.ProcessingEnd{Reason: agent.EndFailed}} {
		l.all.cfg.Show(agent.Event{Session: l.id, Turn: at.Turn, At: at.At, Data: data})
	}
}

// startProblem says why a turn could not begin.
func startProblem(err error) *backend.Error {
	if errors.Is(err, agent.ErrNoModel) {
		return backend.Problem(backend.ProblemModelUnchosen)
	}
	return backend.AsError(err)
}

// ErrWorking answers requests that need a session at rest.
var ErrWorking = backend.Problem(backend.ProblemSessionWorking)

// Start passes a turn to the owner and returns once it has begun. The error is
// backend.CodeBusy if the session is already working, here or in another
// process. If the session is being repaired, Start waits until it has been.
func (l *Session) Start(begin Turn) error { return l.StartAfter(nil, begin) }

// StartAfter is [Session.Start] for a turn that something precedes in the same step:
// nothing else happens in the session between first and begin. An error of first is
// returned, and the turn does not begin.
func (l *Session) StartAfter(first, begin Turn) error {
	for !l.current.begin() {
		repaired := l.current.repaired()
		if repaired == nil {
			return ErrWorking
		}
		select {
		case <-repaired:
		case <-l.done:
			return errClosing
		}
	}
	return l.pass(turnWork{first: first, begin: begin, accepted: make(chan error, 1)})
}

// Repair closes the turn or command that a crash or a full disk left open, and
// returns once that has begun. It does nothing if somebody else does so.
func (l *Session) Repair() error {
	if !l.current.repair() {
		if l.current.repaired() != nil {
			return nil
		}
		return ErrWorking
	}
	return l.pass(turnWork{begin: (*agent.Session).Resume, accepted: make(chan error, 1)})
}

// pass passes a turn, with which the session is busy, to the owner.
func (l *Session) pass(w turnWork) error {
	select {
	case l.inbox.turns <- w:
		return <-w.accepted
	case <-l.done:
		l.current.rest()
		return errClosing
	}
}

// ID returns the session's id.
func (l *Session) ID() string { return l.id }

// Busy reports whether a turn runs or has been requested.
func (l *Session) Busy() bool { return l.current.busy() }

// Wait returns when there is no current turn, or the context's cause if the
// context ends first.
func (l *Session) Wait(ctx context.Context) error { return l.current.wait(ctx) }

// Interrupt ends the turn that runs or has been requested, if there is one. It
// does not wait for I/O.
func (l *Session) Interrupt() { l.current.end(agent.ErrInterrupted) }

// Breakdown describes what fills the context of a session with the given past;
// see [agent.Session.Breakdown].
func (l *Session) Breakdown(ctx context.Context, past *agent.Transcript) agent.ContextBreakdown {
	return l.session.Load().Breakdown(ctx, past)
}

// Abort ends the turn and closes the session in the log; see [agent.Session.Abort].
func (l *Session) Abort() { l.session.Load().Abort() }

// acquire takes the session's lease, and reads the session again if its log has
// grown elsewhere or its memory was dropped.
func (l *Session) acquire(ctx context.Context) (release func(), err error) {
	release, err = l.all.cfg.Log.Lease(l.id)
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

// refresh reads the session if its memory lacks part of the log. If a log makes
// the reading panic, only its own session fails.
func (l *Session) refresh(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			slog.Error("reading a session panicked", "session", l.id, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("reading session %s panicked: %v", l.id, p)
		}
	}()
	info, err := l.all.cfg.Log.Session(ctx, l.id)
	if err == nil {
		err = l.all.cfg.Check(info)
	}
	if err != nil || info.Seq == l.known.seq && !l.known.missed {
		return err
	}
	if info.Helper != nil {
		l.all.setParent(l, info.Helper.Parent)
	}
	past, err := l.all.cfg.Log.Events(ctx, backend.EventRange{Session: l.id})
	if err != nil {
		return err
	}
	session, err := l.all.cfg.Build(ctx, info, past, &l.inbox.answers)
	if err != nil {
		return err
	}
	l.inbox.queueing.Lock()
	defer l.inbox.queueing.Unlock()
	waits, err := l.all.cfg.Log.Queue(ctx, l.id)
	if err != nil {
		return err
	}
	session.Queue().Set(waits)
	l.replace(session)
	l.known.seq, l.known.missed = info.Seq, false
	return nil
}
