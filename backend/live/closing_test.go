package live_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
)

// stalled is a log that never finishes reading a session, until the read is
// cancelled.
type stalled struct {
	live.Log
	reading chan struct{}
}

func (s stalled) Session(ctx context.Context, _ string) (backend.SessionInfo, error) {
	close(s.reading)
	<-ctx.Done()
	return backend.SessionInfo{}, ctx.Err()
}

// A caller that opens a session that is deleted before it was read gets an
// error that says so.
func TestClosedBeforeItWasRead(t *testing.T) {
	t.Parallel()
	reading := make(chan struct{})
	s := newStage(t, func(cfg *live.Config) { cfg.Log = stalled{cfg.Log, reading} })
	opened := make(chan error, 1)
	go func() {
		_, _, err := s.sessions.Open(context.Background(), "a")
		opened <- err
	}()
	<-reading
	if closed, err := s.sessions.CloseAtRest(t.Context(), []string{"a"}); err != nil || !closed {
		t.Errorf("closed %t, %v", closed, err)
	}
	var e *backend.Error
	if err := <-opened; !errors.As(err, &e) || e.ID != backend.ProblemSessionClosing {
		t.Errorf("opening the session returned %v", err)
	}
}

// Giving up on a session that is being read leaves it to be read on: it is not taken for
// one at rest, and the next user gets it.
func TestGivenUpBeforeItWasRead(t *testing.T) {
	t.Parallel()
	reading, read := make(chan struct{}), make(chan struct{})
	s := newStage(t, func(cfg *live.Config) {
		build := cfg.Build
		cfg.Build = func(ctx context.Context, info backend.SessionInfo, past []agent.Event, approver agent.Approver) (*agent.Session, error) {
			close(reading)
			<-read
			return build(ctx, info, past, approver)
		}
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	opened := make(chan error, 1)
	go func() {
		_, _, err := s.sessions.Open(ctx, "a")
		opened <- err
	}()
	<-reading
	cancel(errDisk)
	if err := <-opened; !errors.Is(err, errDisk) {
		t.Errorf("opened with %v", err)
	}
	close(read)
	_, release := s.open("a")
	release()
}

// pausing is a log whose reading of a session, once it is armed, signals and
// waits until it is given up.
type pausing struct {
	live.Log
	armed   atomic.Bool
	reading chan struct{}
}

func (p *pausing) Session(ctx context.Context, id string) (backend.SessionInfo, error) {
	if !p.armed.CompareAndSwap(true, false) {
		return p.Log.Session(ctx, id)
	}
	close(p.reading)
	<-ctx.Done()
	return backend.SessionInfo{}, ctx.Err()
}

// A message to a session that is being closed gets an error that says so.
func TestClosedWhileATurnBegins(t *testing.T) {
	t.Parallel()
	log := &pausing{reading: make(chan struct{})}
	s := newStage(t, func(cfg *live.Config) {
		log.Log = cfg.Log
		cfg.Log = log
	})
	l, release := s.open("a")
	defer release()
	log.armed.Store(true)
	started := make(chan error, 1)
	go func() { started <- l.Start((*agent.Session).Continue) }()
	<-log.reading
	if err := s.sessions.Close(t.Context()); err != nil {
		t.Error(err)
	}
	var e *backend.Error
	if err := <-started; !errors.As(err, &e) || e.ID != backend.ProblemSessionClosing {
		t.Errorf("sending answered %v", err)
	}
}
