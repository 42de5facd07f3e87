package live_test

import (
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
	waits, err := l.ChangeQueue(func(q *agent.Queue) error {
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
