package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// Log is where sessions are kept: a part of [backend.Store].
type Log interface {
	Append(context.Context, ...agent.Event) (seq int64, err error)
	Events(context.Context, backend.EventRange) ([]agent.Event, error)
	Session(ctx context.Context, id string) (backend.SessionInfo, error)
	Queue(ctx context.Context, session string) ([]agent.Queued, error)
	Lease(session string) (release func(), err error)
}

// Config is what the application decides about its sessions. Every field
// except SideJobs is required.
type Config struct {
	Log Log
	// Check returns an error if a session may not run here.
	Check func(backend.SessionInfo) error
	// Build creates a session from its row and its events. The approver decides
	// calls that need a person. The owner calls Build.
	Build func(context.Context, backend.SessionInfo, []agent.Event, agent.Approver) (*agent.Session, error)
	// Start returns the event that starts a session or reopens a closed one.
	Start func(resumed bool) agent.SessionStart
	// Show is called with every event, with a durable one after it was stored,
	// from the goroutine of its session.
	Show func(agent.Event)
	// CleanUp ends whatever the session's tools left running. It is called when
	// the session ends and when it leaves memory.
	CleanUp func(ctx context.Context, session string)
	// Occupied reports whether the session's tools left anything running, which
	// keeps the session in memory. It is called under a lock and returns at
	// once.
	Occupied func(session string) bool
	// SideJobs returns the jobs to run after a turn that ended by itself; nil if
	// there are never any.
	SideJobs func(context.Context, backend.SessionInfo, *agent.Session) ([]Job, error)
}

// MaxResting limits the sessions at rest that stay in memory. Beyond it, the
// least recently used one is closed; it is read again when it is needed.
const MaxResting = 16

// errClosing answers requests to a session that is being closed.
var errClosing = backend.Problem(backend.ProblemSessionClosing)

// Sessions holds the sessions in memory. It is safe for concurrent use. Its
// lock is never held during I/O: reading or closing one session delays no
// other.
type Sessions struct {
	cfg    Config
	ctx    context.Context // ends when all sessions are closed
	cancel context.CancelFunc

	mu      sync.Mutex
	byID    map[string]*Session
	uses    int64 // counts uses, to order sessions by their last one
	closing bool
}

// New returns an empty set of sessions. Close ends the sessions that it holds
// by then.
func New(cfg Config) *Sessions {
	ctx, cancel := context.WithCancel(context.Background())
	return &Sessions{cfg: cfg, ctx: ctx, cancel: cancel, byID: map[string]*Session{}}
}

// hold is what [Sessions] knows about a session, guarded by its lock.
type hold struct {
	users  int    // users that need it to stay in memory
	used   int64  // when it was used last
	parent string // the session that started it; empty for a user's own
	ending bool   // its owner was told to end
}

// loading signals when a session has been read.
type loading struct {
	done chan struct{} // closed when it was read or reading failed
	err  error         // why reading failed; set before done is closed
}

// Open returns a session in memory, reading it from the log if necessary. The
// session stays in memory until release is called.
func (s *Sessions) Open(ctx context.Context, id string) (l *Session, release func(), err error) {
	if l, err = s.join(ctx, id); err != nil {
		return nil, nil, err
	}
	release = sync.OnceFunc(func() { s.release(l) })
	select {
	case <-l.loading.done:
		err = l.loading.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return l, release, nil
}

// join registers a user of a session. If the session is being closed, join
// waits for that and reopens it. The session may not have been read yet.
func (s *Sessions) join(ctx context.Context, id string) (*Session, error) {
	for {
		l, ending, err := s.tryJoin(id)
		if err != nil || !ending {
			return l, err
		}
		select {
		case <-l.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryJoin is join, but only reports that a session is being closed.
func (s *Sessions) tryJoin(id string) (l *Session, ending bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l = s.byID[id]
	switch {
	case l == nil && s.closing:
		return nil, false, errClosing
	case l == nil:
		l = newSession(id, s)
		s.byID[id] = l
		go l.own()
	case l.hold.ending:
		return l, true, nil
	}
	l.hold.users++
	return l, false, nil
}

// retain adds a use of a session, on behalf of its owner.
func (s *Sessions) retain(l *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.hold.users++
}

// setParent records which session started this one.
func (s *Sessions) setParent(l *Session, parent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.hold.parent = parent
}

// release ends one use of a session.
func (s *Sessions) release(l *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.hold.users--
	s.uses++
	l.hold.used = s.uses
	s.closeUnused()
}

// closeUnused closes sessions at rest if there are too many. A session stays as
// long as one that it started. The lock is held.
func (s *Sessions) closeUnused() {
	parents := map[string]bool{}
	for _, l := range s.byID {
		parents[l.hold.parent] = true
	}
	var unused []*Session
	for _, l := range s.byID {
		if !parents[l.id] && s.unused(l) {
			unused = append(unused, l)
		}
	}
	if len(unused) <= MaxResting {
		return
	}
	slices.SortFunc(unused, func(a, b *Session) int { return cmp.Compare(a.hold.used, b.hold.used) })
	for _, l := range unused[:len(unused)-MaxResting] {
		l.close(nil)
	}
}

// unused reports whether closing a session now loses nothing. The lock is held.
func (s *Sessions) unused(l *Session) bool {
	return !l.hold.ending && l.hold.users == 0 && l.idle() && !s.cfg.Occupied(l.id)
}

// idle reports whether a session was read and has nothing in memory that its log
// lacks or that is still under way.
func (l *Session) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.shared
	if s.session == nil || s.turn.busy() || s.side.underWay() || s.points.running || s.bypass {
		return false
	}
	_, asked := s.session.Asked()
	return !asked
}

// close tells the owner to end, which closes the session. The lock of
// [Sessions] is held.
func (l *Session) close(cause error) {
	l.hold.ending = true
	l.cancel(cause)
}

// forget removes a session whose owner has ended.
func (s *Sessions) forget(l *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, l.id)
}

// Find returns a session if it is in memory, else nil. The session may be
// closed at any time.
func (s *Sessions) Find(id string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.byID[id]; l != nil && l.session() != nil {
		return l
	}
	return nil
}

// StartedBy returns the sessions in memory that the given session started.
func (s *Sessions) StartedBy(parent string) []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*Session
	for _, l := range s.byID {
		if l.hold.parent == parent {
			out = append(out, l)
		}
	}
	return out
}

// CloseStartedBy closes the sessions that the given one started and waits for
// their end (LOOP-54). Working ones are interrupted.
func (s *Sessions) CloseStartedBy(ctx context.Context, parent string) {
	agents := s.StartedBy(parent)
	s.mu.Lock()
	for _, l := range agents {
		l.close(agent.ErrInterrupted)
	}
	s.mu.Unlock()
	for _, l := range agents {
		select {
		case <-l.done:
		case <-ctx.Done():
			slog.Warn("an agent did not end with its session in time", "session", parent, "agent", l.id)
		}
	}
}

// AtRest returns if a session has no open turn or command, for an action between two turns. A
// turn or command that a crash or a full disk left open is ended first. It returns [ErrWorking] if
// the session waits for a person.
func (s *Sessions) AtRest(ctx context.Context, info backend.SessionInfo) error {
	switch info.State {
	case agent.StateAwaitingInput:
		return ErrWorking
	case agent.StateProcessing:
		l, release, err := s.Open(ctx, info.ID)
		if err != nil {
			return err
		}
		defer release()
		if err := l.Repair(); err != nil {
			return err
		}
		return l.Wait(ctx)
	}
	return nil
}

// CloseAtRest closes sessions, such as those whose logs are about to be deleted,
// and waits for their end. It reports false, and closes none, if one of them is working.
func (s *Sessions) CloseAtRest(ctx context.Context, ids []string) (closed bool, err error) {
	open, ok := s.closeResting(ids)
	if !ok {
		return false, nil
	}
	for _, l := range open {
		select {
		case <-l.done:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
	return true, nil
}

// closeResting tells sessions to end, or reports false if one of them is working.
func (s *Sessions) closeResting(ids []string) (open []*Session, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		l := s.byID[id]
		if l == nil {
			continue
		}
		if l.Busy() {
			return nil, false
		}
		open = append(open, l)
	}
	for _, l := range open {
		l.close(nil)
	}
	return open, true
}

// Close closes all sessions, waits for their end and prevents further opening.
// Turns that wait for a person stay open in the log; all others are
// interrupted. It returns an error for each session that did not end before ctx
// did.
func (s *Sessions) Close(ctx context.Context) error {
	var errs []error
	for _, l := range s.closeAll() {
		select {
		case <-l.done:
		case <-ctx.Done():
			errs = append(errs, fmt.Errorf("wait for the end of session %s: %w", l.id, context.Cause(ctx)))
		}
	}
	return errors.Join(errs...)
}

// Len returns how many sessions are in memory.
func (s *Sessions) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}

func (s *Sessions) closeAll() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	all := make([]*Session, 0, len(s.byID))
	for _, l := range s.byID {
		l.stopTurn(agent.ErrSuspended)
		all = append(all, l)
	}
	s.cancel()
	return all
}
