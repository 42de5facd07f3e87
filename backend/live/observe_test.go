package live_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
)

// listener is the hooks of a session, which note the ids of tasks that began.
type listener struct {
	mu    sync.Mutex
	heard []string
	run   func(context.Context, string)
}

func (l *listener) Has(p agent.HookPoint) bool { return p == agent.HookTaskCreated }

func (l *listener) Fire(ctx context.Context, c agent.HookCall, report func(agent.Payload)) agent.HookAdvice {
	id := c.Data.(agent.TaskCreatedInput).TaskID
	l.mu.Lock()
	l.heard = append(l.heard, id)
	l.mu.Unlock()
	report(agent.HookStart{Point: c.Point(), Name: id})
	if l.run != nil {
		l.run(ctx, id)
	}
	report(agent.HookEnd{Point: c.Point(), Name: id, Failed: ctx.Err() != nil})
	return agent.HookAdvice{Context: "task " + id, Title: "Tasks"}
}

func began(id int) live.Observation {
	return func(context.Context) agent.HookInput { return agent.TaskCreatedInput{TaskID: strconv.Itoa(id)} }
}

// OAS-661: hooks of points outside of turns run one after the other, in the order
// in which the points came. Their results are in the log, and the model is told.
func TestObserve(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil, llmtest.Round{Text: "Done."})
	hooks := &listener{}
	s.hooks = hooks
	l, release := s.open("a")
	for i := range 3 {
		l.Observe(agent.HookTaskCreated, began(i))
	}
	l.Observe(agent.HookTaskCreated, func(context.Context) agent.HookInput { return nil }) // it is gone
	l.Observe(agent.HookFileChanged, func(context.Context) agent.HookInput {
		t.Error("a point without hooks was prepared")
		return nil
	})
	l.AwaitJobs()
	s.turn(l, "go")
	release()
	if diff := cmp.Diff([]string{"0", "1", "2"}, hooks.heard); diff != "" {
		t.Error(diff)
	}
	var steered []string
	for _, m := range s.model.Requests()[0].Messages {
		steered = append(steered, m.Text())
	}
	for i := range 3 {
		if !slices.Contains(steered, agent.Reminder("task "+strconv.Itoa(i))) {
			t.Errorf("sent %q", steered)
		}
	}
	ends := 0
	for _, kind := range s.kinds("a") {
		if kind == agent.KindHookEnd {
			ends++
		}
	}
	if ends != 3 {
		t.Errorf("%d results are in the log", ends)
	}
}

// What hooks outside of turns report and the disk does not take is stored once it does.
func TestObserveOnAFailingDisk(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil, llmtest.Round{Text: "Done."})
	s.hooks = &listener{}
	l, release := s.open("a")
	s.log.set("append", errDisk)
	l.Observe(agent.HookTaskCreated, began(0))
	s.await(agent.KindProcessingEnd) // of what could not be stored
	s.log.set("append", nil)
	s.turn(l, "go")
	release()
	ends := 0
	for _, kind := range s.kinds("a") {
		if kind == agent.KindHookEnd {
			ends++
		}
	}
	if ends != 1 {
		t.Errorf("%d results are in the log", ends)
	}
}

// A hook outside of a turn names the session, and once that is closed none is run.
func TestObserveNamesTheSession(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil, llmtest.Round{Text: "Done."})
	hooks := &listener{}
	s.hooks = hooks
	l, release := s.open("a")
	l.Observe(agent.HookTaskCreated, began(1))
	l.AwaitJobs()
	s.turn(l, "go")
	release()
	if err := s.sessions.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, err := s.log.Events(t.Context(), backend.EventRange{Session: "a"})
	if err != nil || !slices.ContainsFunc(events, func(ev agent.Event) bool { return ev.Data == agent.Title{Text: "Tasks", ByHook: true} }) {
		t.Errorf("the log has %v, %v", s.kinds("a"), err)
	}
	l.Observe(agent.HookTaskCreated, began(2))
	l.AwaitJobs()
	if diff := cmp.Diff([]string{"1"}, hooks.heard); diff != "" {
		t.Error(diff)
	}
}

// OAS-661: only so many points wait for hooks that hang, and no hook outlives its
// session.
func TestObserveIsBounded(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	hanging := make(chan struct{})
	hooks := &listener{run: func(ctx context.Context, id string) {
		if id == "0" {
			close(hanging)
			<-ctx.Done()
		}
	}}
	s.hooks = hooks
	l, release := s.open("a")
	l.Observe(agent.HookTaskCreated, began(0))
	<-hanging
	for i := range 100 {
		l.Observe(agent.HookTaskCreated, began(i+1))
	}
	release()
	if err := s.sessions.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Observe(agent.HookTaskCreated, began(200)) // too late
	if diff := cmp.Diff([]string{"0"}, hooks.heard); diff != "" {
		t.Error(diff)
	}
}

// Waiting points run once the slow hooks are done.
func TestObserveDropsTheNewest(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	hanging, done := make(chan struct{}), make(chan struct{})
	hooks := &listener{run: func(_ context.Context, id string) {
		if id == "0" {
			close(hanging)
			<-done
		}
	}}
	s.hooks = hooks
	l, release := s.open("a")
	defer release()
	l.Observe(agent.HookTaskCreated, began(0))
	<-hanging
	for i := range 100 {
		l.Observe(agent.HookTaskCreated, began(i+1))
	}
	close(done)
	l.AwaitJobs()
	if n := len(hooks.heard); n != 65 || hooks.heard[64] != "64" {
		t.Errorf("%d ran: %v", n, hooks.heard)
	}
}
