package live_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
)

// blocked is a log with a method that blocks for the session "a", once it is armed
// with the method's name.
type blocked struct {
	live.Log
	mu      sync.Mutex
	method  string
	reached chan struct{} // closed when the method was called
	free    chan struct{} // closed when it may go on
}

func (b *blocked) arm(method string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.method, b.reached, b.free = method, make(chan struct{}), make(chan struct{})
}

// pass blocks the first call of the method.
func (b *blocked) pass(method, session string) {
	b.mu.Lock()
	armed := session == "a" && b.method == method
	if armed {
		b.method = ""
	}
	reached, free := b.reached, b.free
	b.mu.Unlock()
	if armed {
		close(reached)
		<-free
	}
}

func (b *blocked) Append(ctx context.Context, events ...agent.Event) (int64, error) {
	b.pass("Append", events[0].Session)
	return b.Log.Append(ctx, events...)
}

func (b *blocked) Events(ctx context.Context, r backend.EventRange) ([]agent.Event, error) {
	b.pass("Events", r.Session)
	return b.Log.Events(ctx, r)
}

func (b *blocked) Session(ctx context.Context, id string) (backend.SessionInfo, error) {
	b.pass("Session", id)
	return b.Log.Session(ctx, id)
}

func (b *blocked) Queue(ctx context.Context, session string) ([]agent.Queued, error) {
	b.pass("Queue", session)
	return b.Log.Queue(ctx, session)
}

func (b *blocked) Lease(session string) (func(), error) {
	b.pass("Lease", session)
	return b.Log.Lease(session)
}

// While a session waits for the store, everything but what needs the store answers at
// once, in that session and in every other one.
func TestNothingWaitsForTheStore(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Append", "Session", "Lease", "Events", "Queue"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			log := &blocked{}
			s := newStage(t, func(cfg *live.Config) { log.Log, cfg.Log = cfg.Log, log },
				llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."}, llmtest.Round{Text: "Three."})
			s.create("b", nil)
			l, release := s.open("a")
			defer release()
			s.turn(l, "go")
			// Something that the session does not know, so that it reads all of its log.
			if _, err := s.log.Store.Append(t.Context(), agent.Event{Session: "a", Data: agent.Title{Text: "Mine", ByUser: true}}); err != nil {
				t.Fatal(err)
			}
			log.arm(method)
			started := make(chan error, 1)
			go func() { started <- l.Start(run("again")) }()
			<-log.reached
			s.atOnce(l)
			close(log.free)
			if err := <-started; err != nil {
				t.Fatal(err)
			}
			if err := l.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			if log := s.kinds("a"); log[len(log)-1] != agent.KindProcessingEnd {
				t.Errorf("the log has %v", log)
			}
		})
	}
}

// The same holds while a change of the queue is being stored; what is more, a turn
// begins and ends meanwhile.
func TestNothingWaitsForTheQueue(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."}, llmtest.Round{Text: "Three."})
	s.create("b", nil)
	l, release := s.open("a")
	defer release()
	if _, err := l.ChangeQueue(t.Context(), func(*agent.Queue) error {
		s.turn(l, "go")
		s.atOnce(l)
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// The same holds while what an answer leaves behind is being stored.
func TestNothingWaitsForAnAnswer(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	s.create("b", nil)
	l, release := s.open("a")
	defer release()
	if _, err := l.Answer("request", agent.Answer{Decision: agent.Allow}, func() error {
		s.atOnce(l)
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// A session is closed while a change of its queue is being stored.
func TestCloseWhileTheQueueIsStored(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil, llmtest.Round{Text: "One."})
	l, release := s.open("a")
	defer release()
	if _, err := s.log.Store.Append(t.Context(), agent.Event{Session: "a", Data: agent.Title{Text: "Mine", ByUser: true}}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.ChangeQueue(t.Context(), func(*agent.Queue) (err error) {
		s.inTime(func() {
			started := make(chan error, 1)
			go func() { started <- l.Start(run("go")) }() // which waits for the queue, to read the session again
			for !l.Busy() {
				runtime.Gosched()
			}
			err = errors.Join(s.sessions.Close(t.Context()), <-started)
		})
		return err
	}); code(err) != backend.CodeBusy {
		t.Errorf("the turn began: %v", err)
	}
}

// No turn, and no function of the configuration but Occupied, is called while a lock is
// held.
func TestCallbacksHoldNoLock(t *testing.T) {
	t.Parallel()
	var s *stage
	reach := func() { s.reach("a") }
	log := &reaching{reach: reach}
	s = newStage(t, func(cfg *live.Config) {
		check, build, start, show := cfg.Check, cfg.Build, cfg.Start, cfg.Show
		log.Log, cfg.Log = cfg.Log, log
		cfg.Check = func(info backend.SessionInfo) error { reach(); return check(info) }
		cfg.Build = func(ctx context.Context, info backend.SessionInfo, past []agent.Event, a agent.Approver) (*agent.Session, error) {
			reach()
			return build(ctx, info, past, a)
		}
		cfg.Start = func(resumed bool) agent.SessionStart { reach(); return start(resumed) }
		cfg.Show = func(ev agent.Event) { reach(); show(ev) }
		cfg.CleanUp = func(context.Context, string) { reach() }
		cfg.SideJobs = func(context.Context, backend.SessionInfo, *agent.Session) ([]live.Job, error) {
			reach()
			return []live.Job{func(context.Context) live.Outcome {
				reach()
				return live.Outcome{Requests: []agent.SideRequest{{Purpose: "one"}}}
			}}, nil
		}
	}, llmtest.Round{Text: "One."})
	s.hooks = &listener{run: func(context.Context, string) { reach() }}
	s.inTime(func() {
		l, release := s.open("a")
		if err := l.Start(func(session *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] {
			reach()
			return session.Run(ctx, "go")
		}); err != nil {
			t.Error(err)
		}
		if err := l.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		l.Observe(agent.HookTaskCreated, func(context.Context) agent.HookInput {
			reach()
			return agent.TaskCreatedInput{TaskID: "1"}
		})
		if _, err := l.Answer("request", agent.Answer{Decision: agent.Deny}, func() error { reach(); return nil }); err != nil {
			t.Error(err)
		}
		if _, err := l.ChangeQueue(t.Context(), func(*agent.Queue) error { reach(); return nil }); err != nil {
			t.Error(err)
		}
		l.Configure(agent.Settings{Provider: llmtest.Provider, Model: "other", Mode: agent.ModeDefault})
		l.AwaitJobs()
		release()
		if err := s.sessions.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// reaching is a log each of whose methods calls reach first.
type reaching struct {
	live.Log
	reach func()
}

func (r *reaching) Append(ctx context.Context, events ...agent.Event) (int64, error) {
	r.reach()
	return r.Log.Append(ctx, events...)
}

func (r *reaching) Events(ctx context.Context, within backend.EventRange) ([]agent.Event, error) {
	r.reach()
	return r.Log.Events(ctx, within)
}

func (r *reaching) Session(ctx context.Context, id string) (backend.SessionInfo, error) {
	r.reach()
	return r.Log.Session(ctx, id)
}

func (r *reaching) Queue(ctx context.Context, session string) ([]agent.Queued, error) {
	r.reach()
	return r.Log.Queue(ctx, session)
}

func (r *reaching) Lease(session string) (func(), error) {
	r.reach()
	return r.Log.Lease(session)
}

// reach takes the lock of the list and, if the session was read, that of the session.
func (s *stage) reach(id string) {
	_ = s.sessions.Len()
	if l := s.sessions.Find(id); l != nil {
		_ = l.Busy()
	}
}

// atOnce calls what must not wait for the store, in a session and beside it, and fails
// if that takes too long.
func (s *stage) atOnce(l *live.Session) {
	s.t.Helper()
	s.inTime(func() {
		_, _, _, _ = l.Busy(), l.Latest(), l.Parent(), l.Queue().Items()
		l.Configure(l.Latest())
		_, _ = l.Asked()
		l.Wake()
		l.PermitBypass()
		l.Observe(agent.HookTaskCreated, began(1))
		if _, err := l.Answer("another request", agent.Answer{Decision: agent.Allow}, func() error { return nil }); err != nil {
			s.t.Error(err)
		}
		s.sessions.JudgeAgain()
		l.Interrupt()
		again, release := s.open(l.ID())
		release()
		if again != l || s.sessions.Find(l.ID()) != l {
			s.t.Error("the session is not in memory any more")
		}
		other, release := s.open("b")
		defer release()
		if err := other.Start(run("beside it")); err != nil {
			s.t.Error(err)
		}
		if err := other.Wait(s.t.Context()); err != nil {
			s.t.Error(err)
		}
		if closed, err := s.sessions.CloseAtRest(s.t.Context(), []string{"b"}); err != nil || !closed {
			s.t.Errorf("closed the other session: %t, %v", closed, err)
		}
	})
}

// inTime fails the test if do is stuck.
func (s *stage) inTime(do func()) {
	s.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	ctx, cancel := context.WithTimeout(s.t.Context(), stuck)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
		s.t.Fatal("it is stuck")
	}
}
