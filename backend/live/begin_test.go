package live_test

import (
	"context"
	"iter"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
)

// A turn that cannot begin ends all the same, for those who wait for its end.
func TestTurnThatCannotBegin(t *testing.T) {
	t.Parallel()
	for want, err := range map[backend.ProblemID]error{
		backend.ProblemModelUnchosen: agent.ErrNoModel,
		backend.ProblemInternal:      agent.ErrDone,
	} {
		s := newStage(t, nil, llmtest.Round{Text: "Done."})
		l, release := s.open("a")
		if err := l.Start(func(*agent.Session, context.Context) iter.Seq2[agent.Event, error] {
			return func(yield func(agent.Event, error) bool) { yield(agent.Event{}, err) }
		}); err != nil {
			t.Fatal(err)
		}
		if failure := s.await(agent.KindError).Data.(agent.Failure); failure.ID != agent.FailureID(want) {
			t.Errorf("%v is told as %+v", err, failure)
		}
		if end := s.await(agent.KindProcessingEnd).Data.(agent.ProcessingEnd); end.Reason != agent.EndFailed {
			t.Errorf("ended as %s", end.Reason)
		}
		s.turn(l, "again")
		release()
	}
}
