package live_test

import (
	"context"
	"errors"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// Settings can be changed while a change of the queue is being stored.
func TestConfigureWhileTheQueueIsStored(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	l, release := s.open("a")
	defer release()
	set := agent.Settings{Provider: llmtest.Provider, Model: "other", Mode: agent.ModeDefault}
	waits, err := l.ChangeQueue(t.Context(), func(q *agent.Queue) error {
		l.Configure(set) // in place of the store, which may take long
		q.Add(agent.Queued{ID: "m", Verb: agent.Steer, Text: "hi"})
		return nil
	})
	if err != nil || len(waits) != 1 {
		t.Errorf("%d messages wait: %v", len(waits), err)
	}
	if got := s.await(agent.KindSettings).Data.(agent.SettingsChange).Settings; got != set {
		t.Errorf("recorded %+v", got)
	}
}

// Changes of a queue are made one after the other. Who waits for one that is being
// stored can give up; the change is made all the same, and so is the next one.
func TestChangesOfTheQueueDoNotMix(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	l, release := s.open("a")
	defer release()
	add := func(id string) func(*agent.Queue) error {
		return func(q *agent.Queue) error {
			q.Add(agent.Queued{ID: id, Verb: agent.Steer, Text: id})
			return nil
		}
	}
	next := make(chan error, 1)
	if _, err := l.ChangeQueue(t.Context(), func(q *agent.Queue) error {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errDisk)
		if _, err := l.ChangeQueue(ctx, add("given up")); !errors.Is(err, errDisk) {
			t.Errorf("a change during another one: %v", err)
		}
		go func() {
			_, err := l.ChangeQueue(t.Context(), add("second"))
			next <- err
		}()
		return add("first")(q)
	}); err != nil {
		t.Fatal(err)
	}
	if err := <-next; err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range l.Queue().Items() {
		ids = append(ids, m.ID)
	}
	if len(ids) != 2 || ids[0] != "first" || ids[1] != "second" {
		t.Errorf("%q wait", ids)
	}
}

// A change of the queue that fails leaves the queue to the next one.
func TestChangeOfTheQueueFails(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	l, release := s.open("a")
	defer release()
	for range 2 {
		if _, err := l.ChangeQueue(t.Context(), func(*agent.Queue) error { return errDisk }); !errors.Is(err, errDisk) {
			t.Errorf("the change returned %v", err)
		}
	}
}
