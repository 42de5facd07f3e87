package live_test

import (
	"context"
	"errors"
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
	if closed, err := s.sessions.CloseForDeletion(t.Context(), []string{"a"}); err != nil || !closed {
		t.Errorf("closed %t, %v", closed, err)
	}
	var e *backend.Error
	if err := <-opened; !errors.As(err, &e) || e.ID != backend.ProblemSessionClosing {
		t.Errorf("opening it answered %v", err)
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
