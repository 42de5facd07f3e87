package backend

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
)

// maxResting is how many sessions at rest stay in memory. When there are more,
// the one that was used longest ago is closed; it is read again when it is
// needed.
const maxResting = 16

// errClosing answers what is asked of a session that is being closed.
var errClosing = &Error{
	Code: CodeBusy, Message: "This session is being closed.",
	Kept: "Nothing was sent or changed; what you wrote is still in the box.", Next: "Try again.",
}

// lives holds the sessions in memory. Its lock is never held over I/O: reading
// or closing one session delays no other.
type lives struct {
	mu      sync.Mutex
	of      map[string]*live
	uses    int64 // counts uses, to know which was last
	closing bool
}

// hold is what [lives] knows of a session, guarded by its lock.
type hold struct {
	users  int    // who need it to stay in memory
	used   int64  // when it was used last
	parent string // the session that started it; empty for one of the user's
	ending bool   // its owner was told to end
}

// loading tells when a session was read.
type loading struct {
	done chan struct{} // closed when it was read, or could not be
	err  error         // why it could not be; set before done is closed
}

// live returns a session in memory and reads it from the store where that was
// not done yet. The session stays in memory until release is called.
func (w *Workbench) live(ctx context.Context, id string) (l *live, release func(), err error) {
	if l, err = w.join(ctx, id); err != nil {
		return nil, nil, err
	}
	release = sync.OnceFunc(func() { w.release(l) })
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

// join becomes a user of a session, after it was closed where it is being
// closed. The session may not have been read yet.
func (w *Workbench) join(ctx context.Context, id string) (*live, error) {
	for {
		l, ending, err := w.tryJoin(id)
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

// tryJoin is join, but for a session that is being closed: then it only says so.
func (w *Workbench) tryJoin(id string) (l *live, ending bool, err error) {
	w.lives.mu.Lock()
	defer w.lives.mu.Unlock()
	l = w.lives.of[id]
	switch {
	case l == nil && w.lives.closing:
		return nil, false, errClosing
	case l == nil:
		l = newLive(id, w)
		w.lives.of[id] = l
		ctx, cancel := context.WithCancelCause(w.ctx)
		l.cancel = cancel
		go l.own(ctx)
	case l.hold.ending:
		return l, true, nil
	}
	l.hold.users++
	return l, false, nil
}

// release ends one use of a session.
func (w *Workbench) release(l *live) {
	w.lives.mu.Lock()
	defer w.lives.mu.Unlock()
	l.hold.users--
	w.lives.uses++
	l.hold.used = w.lives.uses
	w.closeUnused()
}

// closeUnused has sessions at rest closed where there are too many of them. A
// session stays as long as one that it started does. The lock is held.
func (w *Workbench) closeUnused() {
	parents := map[string]bool{}
	for _, l := range w.lives.of {
		parents[l.hold.parent] = true
	}
	var unused []*live
	for _, l := range w.lives.of {
		if !parents[l.id] && w.unused(l) {
			unused = append(unused, l)
		}
	}
	if len(unused) <= maxResting {
		return
	}
	slices.SortFunc(unused, func(a, b *live) int { return cmp.Compare(a.hold.used, b.hold.used) })
	for _, l := range unused[:len(unused)-maxResting] {
		l.close(nil)
	}
}

// unused reports whether nothing is lost when a session is closed now. The lock
// is held.
func (w *Workbench) unused(l *live) bool {
	session := l.session.Load()
	if session == nil || l.hold.ending || l.hold.users > 0 || l.current.busy() || l.beside.underWay() || l.inbox.bypass.Load() {
		return false
	}
	if _, asked := session.Asked(); asked {
		return false
	}
	place, ok := w.placeOf(l.id)
	return !ok || !slices.ContainsFunc(place.tasks.List(), func(t tool.TaskInfo) bool { return t.Ended.IsZero() })
}

// close tells the owner to end, which closes the session. [lives] is locked.
func (l *live) close(cause error) {
	l.hold.ending = true
	l.cancel(cause)
}

// forget takes out a session whose owner has ended.
func (w *Workbench) forget(l *live) {
	w.lives.mu.Lock()
	defer w.lives.mu.Unlock()
	delete(w.lives.of, l.id)
}

// find returns a session if it is in memory, else nil. It may be closed at any
// time.
func (w *Workbench) find(id string) *live {
	w.lives.mu.Lock()
	defer w.lives.mu.Unlock()
	if l := w.lives.of[id]; l != nil && l.session.Load() != nil {
		return l
	}
	return nil
}

// agentsOf returns the sessions in memory that a session started.
func (w *Workbench) agentsOf(parent string) []*live {
	w.lives.mu.Lock()
	defer w.lives.mu.Unlock()
	var out []*live
	for _, l := range w.lives.of {
		if l.hold.parent == parent {
			out = append(out, l)
		}
	}
	return out
}

// dismiss closes the sessions that one started, and waits for that (LOOP-54).
// Those that work are interrupted.
func (w *Workbench) dismiss(ctx context.Context, parent string) {
	agents := w.agentsOf(parent)
	w.lives.mu.Lock()
	for _, l := range agents {
		l.close(agent.ErrInterrupted)
	}
	w.lives.mu.Unlock()
	for _, l := range agents {
		select {
		case <-l.done:
		case <-ctx.Done():
			slog.Warn("an agent did not end with its session in time", "session", parent, "agent", l.id)
		}
	}
}

// closeForDeletion has sessions closed whose logs are about to go, and waits for
// that. It does nothing and fails with CodeBusy if one of them works.
func (w *Workbench) closeForDeletion(ctx context.Context, ids []string) error {
	open, err := w.tellDeleted(ids)
	if err != nil {
		return err
	}
	for _, l := range open {
		select {
		case <-l.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (w *Workbench) tellDeleted(ids []string) (open []*live, err error) {
	w.lives.mu.Lock()
	defer w.lives.mu.Unlock()
	for _, id := range ids {
		l := w.lives.of[id]
		if l == nil {
			continue
		}
		if l.current.busy() {
			return nil, errNotDeleted
		}
		open = append(open, l)
	}
	for _, l := range open {
		l.close(nil)
	}
	return open, nil
}

// closeAll has all sessions closed, and lets no other be read. Turns that wait
// for a person stay open in the log.
func (w *Workbench) closeAll() []*live {
	w.lives.mu.Lock()
	defer w.lives.mu.Unlock()
	w.lives.closing = true
	all := make([]*live, 0, len(w.lives.of))
	for _, l := range w.lives.of {
		l.current.end(agent.ErrSuspended)
		all = append(all, l)
	}
	w.cancel()
	return all
}
