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
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// Session is a session that this process works on. Its goroutine, the owner,
// owns the [agent.Session]: only the owner runs turns, records events and
// replaces the session when another process has added to the log. Other
// goroutines reach it through the exported methods, which are safe for
// concurrent use.
//
// A session has one lock, mu. It is never held during I/O or while a function of
// [Config] or of a caller runs. A longer task is marked as begun under the lock,
// done without it, and marked as ended: a turn, an answer, a change of the
// queue, a side job. Therefore the store, however slow, delays neither a stop
// nor a change of settings. The lock of [Sessions] is taken before a session's,
// never after it.
type Session struct {
	id      string
	all     *Sessions
	ctx     context.Context         // of the owner
	cancel  context.CancelCauseFunc // ends the owner
	done    chan struct{}           // closed when the owner has ended
	loading loading
	hold    hold           // guarded by the lock of [Sessions]
	owned   owned          // used by the owner only
	inbox   inbox          // how other goroutines reach the owner
	jobs    sync.WaitGroup // the side jobs, also the one that runs hooks
	mu      sync.Mutex
	shared  shared // guarded by mu
}

// owned is what only the owner uses.
type owned struct {
	stage  stage
	seq    int64         // where the log ends as far as the session knows it; -1 if nothing is known
	missed bool          // the log has events that the session does not know
	batch  []agent.Event // durable events that wait for the next one
}

// inbox is how other goroutines reach the owner.
type inbox struct {
	turns    chan turnWork
	settings chan struct{} // signals that settings were requested; holds one
	results  chan struct{} // signals that a side job has a result; holds one
}

// shared is what the owner and other goroutines use.
type shared struct {
	session *agent.Session // nil until it was read; only the owner replaces it
	turn    turn
	answers answers
	side    sideJobs
	points  points
	// queueing is closed when the change or the reading of the queue that is under
	// way has ended; nil if there is none.
	queueing chan struct{}
	// bypass says that this process was told to let the session run everything
	// without asking; see revoke.
	bypass bool
}

func newSession(id string, all *Sessions) *Session {
	ctx, cancel := context.WithCancelCause(all.ctx)
	return &Session{
		id: id, all: all, ctx: ctx, cancel: cancel, done: make(chan struct{}),
		loading: loading{done: make(chan struct{})}, owned: owned{seq: -1},
		inbox: inbox{turns: make(chan turnWork), settings: make(chan struct{}, 1), results: make(chan struct{}, 1)},
	}
}

// session returns the agent's session; nil if it was not read yet. The owner may
// replace it at any time.
func (l *Session) session() *agent.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shared.session
}

// stage is the owner's progress with the newest turn.
type stage int

const (
	untouched stage = iota // none was
	working
	resting
)

// Turn is [agent.Session.Run] with its input, or another method that works with
// a session.
type Turn func(*agent.Session, context.Context) iter.Seq2[agent.Event, error]

// Input is a turn that begins with a message.
func Input(m agent.Queued) Turn {
	return func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] { return s.RunInput(ctx, m) }
}

// turnWork is one turn for the owner to run. accepted receives, once, whether
// it will be run.
type turnWork struct {
	first    Turn // what precedes the turn in the same step; may be nil
	begin    Turn
	accepted chan error
}

// own is the owner's loop. It reads the session, and ends with the owner's context
// after the current turn.
func (l *Session) own() {
	ctx := l.ctx
	defer close(l.done)
	defer l.cancel(nil)
	defer l.all.forget(l)
	l.loading.err = l.refresh(ctx)
	if l.loading.err != nil && ctx.Err() != nil {
		l.loading.err = errClosing // before it was read
	}
	close(l.loading.done)
	if l.loading.err != nil {
		l.all.cfg.CleanUp(context.WithoutCancel(ctx), l.id)
		return
	}
	for {
		select {
		case <-ctx.Done():
			l.closePoints()
			l.AwaitJobs() // which ctx ends too
			l.end(context.WithoutCancel(ctx))
			l.all.cfg.CleanUp(context.WithoutCancel(ctx), l.id) // of a session that stays open in the log
			return
		case <-l.inbox.results:
			l.recordResults(ctx)
		case w := <-l.inbox.turns:
			l.recordResults(ctx) // so that the turn knows of it
			l.workAndFollow(ctx, w)
		case <-l.inbox.settings:
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
		l.endTurn()
		w.accepted <- err
		return false
	}
	defer release()
	defer l.forgetAnswers()
	l.owned.stage = working
	turnCtx, stop := l.turnContext(ctx)
	defer stop(nil)
	if err := l.precede(turnCtx, w.first); err != nil {
		l.rest()
		w.accepted <- err
		return false
	}
	w.accepted <- nil
	ended = l.runTurn(turnCtx, w)
	if l.session().Transcript().State == agent.StateClosed {
		l.owned.missed = true // the next turn needs another environment
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
	for ev, err := range first(l.session(), ctx) {
		if err != nil {
			return err
		}
		if !l.record(ctx, ev) {
			return backend.Problem(backend.ProblemTurnUnsaved)
		}
	}
	return l.refresh(ctx)
}

// end closes the session in the log if this process has worked on it and it is
// at rest (K-07).
func (l *Session) end(ctx context.Context) {
	if l.owned.stage == untouched {
		return
	}
	release, err := l.acquire(ctx)
	if err != nil {
		slog.Warn("could not end a session", "session", l.id, "err", err)
		return
	}
	defer release()
	l.recordJobs(ctx)
	if session := l.session(); session.Transcript().State == agent.StateIdle {
		for _, ev := range session.Close(ctx) {
			l.record(ctx, ev)
		}
	}
}

// runTurn reports whether a turn ended. If it panics, only its own session fails.
func (l *Session) runTurn(ctx context.Context, w turnWork) (ended bool) {
	defer func() {
		if p := recover(); p != nil {
			l.owned.batch, l.owned.seq = nil, -1 // what is stored is read again for the next turn
			l.rest()
			l.fail(agent.Event{At: time.Now().UnixMilli()}, backend.AsError(l.panicked("a turn", p)))
		}
	}()
	session := l.session()
	if session.Transcript().State == agent.StateClosed {
		if !l.record(ctx, session.Record(l.all.cfg.Start(true))) {
			return false
		}
	}
	for ev, err := range wherever(ctx, l, w.begin) {
		if err != nil {
			slog.Error("a turn failed", "session", l.id, "err", err)
			l.rest()
			l.fail(agent.Event{At: time.Now().UnixMilli()}, startProblem(err))
			break
		}
		if !l.record(ctx, ev) {
			return ended
		}
		if title := backend.FirstTitle(l.session().Transcript().Title, ev); title != "" && !l.record(ctx, l.session().Record(agent.Title{Text: title})) {
			return ended
		}
		if backend.LosesTitle(l.session().Transcript(), ev) && !l.record(ctx, l.session().Record(agent.Title{})) {
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
	l.owned.batch = append(l.owned.batch, ev)
	if ev.More {
		return true
	}
	batch := l.owned.batch
	l.owned.batch = nil
	// An event is kept even if its session is being shut down.
	seq, err := l.all.cfg.Log.Append(context.WithoutCancel(ctx), batch...)
	if err != nil {
		l.lost(ev, err)
		return false
	}
	l.owned.missed = l.owned.missed || seq != l.owned.seq+int64(len(batch)) // such as a new name, which is stored at once
	l.owned.seq = seq
	for i, ev := range batch {
		ev.Seq = seq - int64(len(batch)-1-i)
		switch ev.Data.(type) {
		case agent.Rewound, agent.RewindUndone, agent.CompactionUndone:
			l.owned.missed = true // what models are told has to be read again
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
	if l.owned.stage == working {
		l.owned.stage = resting
		l.endTurn()
	}
}

// lost reports that an event could not be stored. The turn ends there; stored
// events stay.
func (l *Session) lost(ev agent.Event, err error) {
	slog.Error("could not store an event", "session", l.id, "kind", ev.Kind(), "err", err)
	l.owned.seq = -1
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

// panicked logs a panic and returns it as an error.
func (l *Session) panicked(what string, p any) error {
	slog.Error(what+" panicked", "session", l.id, "panic", p, "stack", string(debug.Stack()))
	return fmt.Errorf("%s panicked: %v", what, p)
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
	for {
		began, repaired := l.beginTurn(false)
		if began {
			break
		}
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
	began, repaired := l.beginTurn(true)
	switch {
	case began:
	case repaired != nil:
		return nil
	default:
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
		l.endTurn()
		return errClosing
	}
}

// ID returns the session's id.
func (l *Session) ID() string { return l.id }

// Config returns the session's configuration.
func (l *Session) Config() agent.Config { return l.session().Config() }

// Abort ends the turn and closes the session in the log; see [agent.Session.Abort].
func (l *Session) Abort() { l.session().Abort() }

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
			err = l.panicked("reading a session", p)
		}
	}()
	info, err := l.all.cfg.Log.Session(ctx, l.id)
	if err == nil {
		err = l.all.cfg.Check(info)
	}
	if err != nil || info.Seq == l.owned.seq && !l.owned.missed {
		return err
	}
	if info.Helper != nil {
		l.all.setParent(l, info.Helper.Parent)
	}
	past, err := l.all.cfg.Log.Events(ctx, backend.EventRange{Session: l.id})
	if err != nil {
		return err
	}
	session, err := l.all.cfg.Build(ctx, info, past, agent.ApproverFunc(l.approve))
	if err != nil {
		return err
	}
	release, err := l.claimQueue(ctx) // so that the queue in the store does not change between the two steps
	if err != nil {
		return err
	}
	defer release()
	waits, err := l.all.cfg.Log.Queue(ctx, l.id)
	if err != nil {
		return err
	}
	session.Queue().Set(waits)
	l.replace(session)
	l.owned.seq, l.owned.missed = info.Seq, false
	return nil
}
