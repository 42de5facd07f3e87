package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// OAS-110, COM-19: a failure changes nothing, is tried again in the next turn, and no
// more after three.
func TestCompactionFails(t *testing.T) {
	t.Parallel()
	c := &compactor{summarise: func(context.Context, agent.SummaryRequest) (string, error) { return "", errors.New("no summary today") }}
	rounds := []llmtest.Round{{Text: long(2000), Usage: full(8100)}}
	for range 5 {
		rounds = append(rounds, llmtest.Round{Calls: []llmtest.Call{look}, Usage: full(8100)}, llmtest.Round{Text: "Yes.", Usage: full(8100)})
	}
	r, model := compactRig(t, c, rounds...)
	r.run("begin")
	var warned int
	for i := range 5 {
		if i == 2 {
			r.open() // the count is in the log
		}
		events := r.run("on")
		if end(t, events) != agent.EndDone {
			t.Error("the turn did not go on")
		}
		ends := find[agent.CompactionEnd](events)
		phases := find[agent.CompactionPhase](events)
		if i < 3 && (len(ends) != 1 || phases[len(phases)-1].Phase != agent.PhaseRollback) {
			t.Errorf("turn %d: %+v", i, phases)
		}
		for _, e := range ends {
			if e.Outcome != agent.OutcomeFailed || e.After != e.Before || e.Message != "No summary today." {
				t.Errorf("%+v", e)
			}
		}
		for _, w := range find[agent.Warning](events) {
			if strings.Contains(w.Message, "could not be made shorter 3 times") {
				warned++
			}
		}
		if !strings.Contains(sent(model), "assistant: word word") {
			t.Error("the conversation was changed")
		}
	}
	if len(c.asked) != 3 || warned != 1 {
		t.Errorf("tried %d times, warned %d times", len(c.asked), warned)
	}
	c.summarise = nil
	if got := find[agent.CompactionEnd](r.compact("")); len(got) != 1 || got[0].Outcome != agent.OutcomeDone {
		t.Errorf("asked for by hand: %+v", got)
	}
}

// OAS-110: it is failures in a row that end the trying.
func TestCompactionIsTriedAgainOnceItWorked(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, _ := compactRig(t, c, llmtest.Round{Text: long(2000), Usage: full(8100)}, llmtest.Round{Text: "Yes."})
	r.run("begin")
	for _, o := range []agent.Outcome{agent.OutcomeFailed, agent.OutcomeFailed, agent.OutcomeDone, agent.OutcomeFailed, agent.OutcomeFailed} {
		r.store(r.session.Record(agent.CompactionEnd{Trigger: agent.CompactAuto, Outcome: o, After: 8100}))
	}
	if r.run("on"); len(c.asked) != 1 {
		t.Errorf("asked %d times", len(c.asked))
	}
}

// A summary that makes no room is no summary.
func TestCompactionThatIsNoShorter(t *testing.T) {
	t.Parallel()
	c := &compactor{summarise: func(context.Context, agent.SummaryRequest) (string, error) { return long(9000), nil }}
	r, _ := compactRig(t, c, llmtest.Round{Text: long(2000), Usage: full(8100)}, llmtest.Round{Text: "Yes."})
	r.run("begin")
	if got := find[agent.CompactionEnd](r.run("on")); len(got) != 1 || got[0].Outcome != agent.OutcomeFailed {
		t.Errorf("%+v", got)
	}
}

// Where it is not the conversation that fills the window, no summary is paid for.
func TestNoSummaryOfWhatIsShort(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, _ := compactRig(t, c, llmtest.Round{Text: "Hello.", Usage: full(8100)}, llmtest.Round{Text: "Yes."})
	r.run("begin")
	if got := find[agent.CompactionEnd](r.run("on")); len(got) != 1 || got[0].Outcome != agent.OutcomeFailed || len(c.asked) > 0 {
		t.Errorf("%+v, asked %d times", got, len(c.asked))
	}
}

// OAS-115: no summary costs more than the session may.
func TestNoSummaryBeyondTheBudget(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, _ := compactRig(t, c, llmtest.Round{Text: long(2000), Usage: full(100)})
	r.cfg.Limits = agent.Limits{Rounds: 10, Budget: llm.Dollar}
	r.run("begin")
	if got := find[agent.CompactionEnd](r.compact("")); len(got) != 1 || !strings.Contains(got[0].Message, "budget") || len(c.asked) > 0 {
		t.Errorf("%+v, asked %d times", got, len(c.asked))
	}
}

// An interrupt ends a compaction with nothing changed; so does a crash, whose
// compaction is ended when the session is opened next.
func TestCompactionCut(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, _ := compactRig(t, c, llmtest.Round{Text: long(2000), Usage: full(8100)}, llmtest.Round{Text: "Yes."}, llmtest.Round{Text: "Yes."})
	r.run("begin")
	stop := r.session.Interrupt
	c.summarise = func(ctx context.Context, _ agent.SummaryRequest) (string, error) {
		stop()
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	events := r.run("on")
	if got := find[agent.CompactionEnd](events); len(got) != 1 || got[0].Outcome != agent.OutcomeInterrupted || end(t, events) != agent.EndInterrupted {
		t.Errorf("%+v", got)
	}
	c.threshold = 0
	if r.run("fine"); !r.session.Transcript().Follows() {
		t.Fatal("the turn did not end by itself")
	}
	events = r.compact("")
	if got := find[agent.CompactionEnd](events); len(got) != 1 || got[0].Outcome != agent.OutcomeInterrupted || r.session.Transcript().State != agent.StateIdle {
		t.Errorf("by hand: %+v", got)
	}
	if r.session.Transcript().Follows() {
		t.Error("what is queued follows by itself")
	}
	for n, ended := range []bool{true, false} { // of the one in a turn, and the one by hand
		crashed := *r
		for i, ev := range r.log {
			if ev.Kind() != agent.KindCompactionStart {
				continue
			}
			if n--; n < 0 {
				crashed.log = r.log[: i+1 : i+1]
				break
			}
		}
		for _, err := range crashed.open().Compact(t.Context(), "") {
			if !errors.Is(err, agent.ErrBusy) {
				t.Errorf("compacted in the middle of something: %v", err)
			}
		}
		events := crashed.resume()
		if got := find[agent.CompactionEnd](events); len(got) != 1 || got[0].Outcome != agent.OutcomeInterrupted {
			t.Errorf("%s", kinds(events, 20))
		}
		if got := len(find[agent.ProcessingEnd](events)) == 1; got != ended || crashed.session.Transcript().State != agent.StateIdle {
			t.Errorf("%s, then %s", kinds(events, 20), crashed.session.Transcript().State)
		}
		if again := crashed.resume(); len(again) > 0 {
			t.Errorf("ended twice: %s", kinds(again, 20))
		}
	}
	stop = r.session.Abort
	if events := r.compact(""); len(find[agent.SessionEnd](events)) != 1 || r.session.Transcript().State != agent.StateClosed {
		t.Errorf("aborted: %s", kinds(events, 20))
	}
}
