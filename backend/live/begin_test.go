package live_test

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
)

// A turn that cannot begin still ends, for those who wait for its end.
func TestTurnThatCannotBegin(t *testing.T) {
	t.Parallel()
	for want, err := range map[backend.ProblemID]error{
		backend.ProblemModelUnchosen: agent.ErrNoModel,
		backend.ProblemInternal:      agent.ErrDone,
	} {
		var l *live.Session
		s := newStage(t, func(cfg *live.Config) {
			show := cfg.Show
			cfg.Show = func(ev agent.Event) {
				if ev.Kind() == agent.KindProcessingEnd && l.Busy() {
					t.Error("the end is shown before another turn can begin")
				}
				show(ev)
			}
		}, llmtest.Round{Text: "Done."})
		opened, release := s.open("a")
		l = opened
		if err := l.Start(func(*agent.Session, context.Context) iter.Seq2[agent.Event, error] {
			return func(yield func(agent.Event, error) bool) { yield(agent.Event{}, err) }
		}); err != nil {
			t.Fatal(err)
		}
		if failure := s.await(agent.KindError).Data.(agent.Failure); failure.ID != agent.FailureID(want) {
			t.Errorf("%v is reported as %+v", err, failure)
		}
		if end := s.await(agent.KindProcessingEnd).Data.(agent.ProcessingEnd); end.Reason != agent.EndFailed {
			t.Errorf("ended as %s", end.Reason)
		}
		s.turn(l, "again")
		release()
	}
}

// Every durable event is shown with its place in the log, also those that were stored
// together, because a page asks for what follows the place that it knows.
func TestShownEventsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(cfg *live.Config) {
		cfg.SideJobs = func(context.Context, backend.SessionInfo, *agent.Session) ([]live.Job, error) {
			return []live.Job{func(context.Context) live.Outcome {
				return live.Outcome{
					Requests: []agent.SideRequest{{Purpose: "one"}}, Event: agent.PromptSuggestion{Text: "Go on"},
					Wanted: func(*agent.Transcript) bool { return true },
				}
			}}, nil
		}
	}, llmtest.Round{Text: "Done."})
	l, release := s.open("a")
	if err := l.Start(run("go")); err != nil {
		t.Fatal(err)
	}
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	release()
	if err := s.sessions.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	type place struct {
		Seq  int64
		Kind agent.Kind
	}
	log, err := s.log.Store.Events(t.Context(), backend.EventRange{Session: "a", After: 1}) // the first was not stored here
	if err != nil {
		t.Fatal(err)
	}
	var stored, shown []place
	for _, ev := range log {
		stored = append(stored, place{ev.Seq, ev.Kind()})
	}
	for len(s.shown) > 0 {
		if ev := <-s.shown; ev.Durable() {
			shown = append(shown, place{ev.Seq, ev.Kind()})
		}
	}
	if diff := cmp.Diff(stored, shown); diff != "" {
		t.Error(diff)
	}
}

// Whoever sends a message right after a restart does not hear that the session is
// working: the repair of what the crash left open ends first.
func TestATurnWaitsForARepair(t *testing.T) {
	t.Parallel()
	reached, repair := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s := newStage(t, func(cfg *live.Config) {
		lease := cfg.Log
		cfg.Log = heldLog{lease, func() {
			once.Do(func() {
				close(reached)
				<-repair
			})
		}}
	}, llmtest.Round{Text: "Done."})
	l, release := s.open("a")
	defer release()
	repaired := make(chan error, 1)
	go func() { repaired <- l.Repair() }()
	<-reached
	if err := l.Repair(); err != nil {
		t.Errorf("a second repair: %v", err)
	}
	sent := make(chan error, 1)
	go func() { sent <- l.Start(run("go")) }()
	runtime.Gosched()
	select {
	case err := <-sent:
		close(repair)
		t.Fatalf("did not wait: %v", err)
	default:
	}
	close(repair)
	for _, done := range []chan error{repaired, sent} {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if s.await(agent.KindProcessingEnd); l.Busy() {
		t.Error("the session is still busy")
	}
}

// heldLog is a log whose leases are held up.
type heldLog struct {
	live.Log
	hold func()
}

func (h heldLog) Lease(session string) (func(), error) {
	h.hold()
	return h.Log.Lease(session)
}
