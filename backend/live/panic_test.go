package live_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// A turn that panics fails alone: what was stored stays, the session is at rest, its
// next turn goes on from there, and other sessions notice nothing.
func TestATurnThatPanics(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil, llmtest.Round{Text: "Lost."}, llmtest.Round{Text: "Unharmed."}, llmtest.Round{Text: "Done."})
	s.create("b", nil)
	l, release := s.open("a")
	defer release()
	other, releaseOther := s.open("b")
	defer releaseOther()
	err := l.Start(func(session *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			for ev, err := range session.Run(ctx, "go") {
				if ev.Kind() == agent.KindTextEnd {
					panic("a defect")
				}
				if !yield(ev, err) {
					return
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if failed := s.await(agent.KindError).Data.(agent.Failure); !strings.Contains(failed.Details, "a defect") {
		t.Errorf("shown: %+v", failed)
	}
	if end := s.await(agent.KindProcessingEnd).Data.(agent.ProcessingEnd); end.Reason != agent.EndFailed {
		t.Errorf("the turn ended with %+v", end)
	}
	if err := l.Wait(t.Context()); err != nil || l.Busy() {
		t.Fatalf("busy %t, %v", l.Busy(), err)
	}
	s.turn(other, "meanwhile")
	s.turn(l, "again")
	for _, m := range s.model.Requests()[2].Messages {
		if m.Text() == "Lost." {
			t.Error("the next turn goes on from what was not stored")
		}
	}
	want := []agent.Kind{agent.KindUserInput, agent.KindUserInput, agent.KindTextEnd, agent.KindProcessingEnd}
	if diff := cmp.Diff(want, s.kinds("a")); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
}
