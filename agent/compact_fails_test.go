package agent_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

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
		r.clock = r.clock.Add(8 * time.Second)
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
			if e.Outcome != agent.OutcomeFailed || e.After != e.Before || !strings.Contains(e.Message, "no summary today") {
				t.Errorf("%+v", e)
			}
		}
		for _, w := range find[agent.Warning](events) {
			if strings.Contains(w.Message, "Compaction failed 3 times") {
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

// OAS-110: it is failures in a row that end the trying. After two it rests for eight
// seconds.
func TestCompactionIsTriedAgainOnceItWorked(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, _ := compactRig(t, c, llmtest.Round{Text: long(2000), Usage: full(8100)}, llmtest.Round{Text: "Yes."})
	r.run("begin")
	for _, o := range []agent.Outcome{agent.OutcomeFailed, agent.OutcomeFailed, agent.OutcomeDone, agent.OutcomeFailed, agent.OutcomeFailed} {
		r.store(r.session.Record(agent.CompactionEnd{Trigger: agent.CompactAuto, Outcome: o, After: 8100}))
	}
	if r.run("on"); len(c.asked) != 0 {
		t.Error("it is tried again at once, after two failures")
	}
	r.clock = r.clock.Add(8 * time.Second)
	if r.run("on"); len(c.asked) != 1 {
		t.Errorf("asked %d times", len(c.asked))
	}
}

// A summary that makes no room does not count.
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
	r.cfg.Limits = agent.Limits{Rounds: 10, Budget: 2 * llm.Dollar}
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

// Messages that the model has not read yet are not summarised, however long
// they are: the user's question may stand at its end.
func TestCompactionKeepsWhatIsUnread(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, model := compactRig(t, c, llmtest.Round{Text: long(4500), Usage: full(5000)}, llmtest.Round{Calls: []llmtest.Call{look}, Usage: full(5000)}, llmtest.Round{Text: "Yes."})
	r.use(note{name: "Look", run: func(context.Context, agent.Invocation) agent.Result { return agent.Result{Output: "seen"} }})
	r.run("begin")
	events := r.run(long(3200) + "Why?")
	if got := find[agent.CompactionEnd](events); len(got) != 1 || got[0].Outcome != agent.OutcomeDone || got[0].Kept != 1 {
		t.Fatalf("%+v", got)
	}
	if got := sent(model); !strings.Contains(got, "Why?") || !strings.Contains(got, "call Look") || !strings.Contains(got, "result seen") {
		t.Errorf("sent %s", got)
	}
}

// A stop leaves the conversation as it was, after a refusal too.
func TestStoppedAfterOverflow(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, _ := compactRig(t, c, llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: long(500)},
		llmtest.Round{Status: 400, Body: `{"error":{"code":"context_length_exceeded","message":"too long"}}`})
	r.use(note{name: "Look", run: func(context.Context, agent.Invocation) agent.Result { return agent.Result{Output: long(1000)} }})
	r.run("begin")
	c.summarise = func(ctx context.Context, _ agent.SummaryRequest) (string, error) {
		r.session.Interrupt()
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	events := r.run("on")
	if len(c.asked) != 1 || len(find[agent.HistoryRepaired](events)) > 0 || end(t, events) != agent.EndInterrupted {
		t.Errorf("asked %d times: %s", len(c.asked), kinds(events, 20))
	}
	c.summarise = nil
	if got := find[agent.CompactionEnd](r.compact("")); got[0].Outcome != agent.OutcomeDone || r.session.Transcript().Follows() {
		t.Errorf("what the stopped turn left queued follows a compaction: %+v", got)
	}
}

// OAS-110: three failures end the trying after refusals as well, until other
// settings may make a difference.
func TestOverflowIsNotTriedForEver(t *testing.T) {
	t.Parallel()
	c := &compactor{summarise: func(context.Context, agent.SummaryRequest) (string, error) { return "", errors.New("no summary today") }}
	rounds := []llmtest.Round{{Text: long(2000)}}
	for range 150 { // what is shortened instead does not help either
		rounds = append(rounds, llmtest.Round{Status: 400, Body: `{"error":{"code":"context_length_exceeded","message":"too long"}}`})
	}
	r, _ := compactRig(t, c, rounds...)
	r.run("begin")
	for range 5 {
		r.run("on")
	}
	if len(c.asked) != 3 {
		t.Errorf("asked %d times", len(c.asked))
	}
	r.store(r.session.Record(agent.SettingsChange{Settings: r.session.Transcript().Settings}))
	if r.run("on"); len(c.asked) != 4 {
		t.Errorf("with other settings asked %d times", len(c.asked))
	}
}

// A summary that gains next to nothing would be paid for again in no time.
func TestCompactionOfLittleGain(t *testing.T) {
	t.Parallel()
	c := &compactor{summarise: func(context.Context, agent.SummaryRequest) (string, error) { return long(2200), nil }}
	r, _ := compactRig(t, c, llmtest.Round{Text: long(2500), Usage: full(8100)}, llmtest.Round{Text: "Yes."})
	r.run("begin")
	if got := find[agent.CompactionEnd](r.run("on")); len(got) != 1 || got[0].Outcome != agent.OutcomeFailed || len(c.asked) != 1 {
		t.Errorf("%+v", got)
	}
}

// A compaction whose end could not be written is over once something else
// begins: the next crash is not attributed to it.
func TestLostEndsAreForgotten(t *testing.T) {
	t.Parallel()
	for name, begun := range map[string]agent.Payload{
		"a compaction": agent.CompactionStart{Trigger: agent.CompactManual, Tokens: 1},
		"a command":    agent.LocalCommandStart{ID: "c1", Command: "make"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := compactRig(t, &compactor{}, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
			r.open()
			r.store(r.session.Record(begun))
			r.run("begin")
			for i, ev := range r.log {
				if ev.Kind() == agent.KindUserInput {
					r.log = r.log[: i+1 : i+1]
					break
				}
			}
			if events := r.resume(); end(t, events) != agent.EndCrashed {
				t.Errorf("resumed: %s", kinds(events, 20))
			}
		})
	}
}

// An open turn or compaction in the log is ended first.
func TestNothingBesideAnOpenTurn(t *testing.T) {
	t.Parallel()
	r, _ := compactRig(t, &compactor{}, llmtest.Round{Text: long(900)})
	r.run("begin")
	r.store(r.session.Record(agent.UserInput{Text: "on"}))
	for name, begun := range map[string]iter.Seq2[agent.Event, error]{
		"compact": r.open().Compact(t.Context(), ""),
		"command": r.open().RunCommand(t.Context(), "true", prints(0)),
	} {
		for ev, err := range begun {
			if !errors.Is(err, agent.ErrBusy) {
				t.Errorf("%s: %s, %v", name, ev.Kind(), err)
			}
		}
	}
	r.resume()
	if got := find[agent.CompactionEnd](r.compact("")); got[0].Outcome != agent.OutcomeDone {
		t.Errorf("%+v", got)
	}
}

// OAS-115: what a summary cost counts before the next request.
func TestSummaryThatTakesTheBudget(t *testing.T) {
	t.Parallel()
	c := &compactor{usage: full(9000)}
	r, model := compactRig(t, c, llmtest.Round{Text: long(7500), Usage: full(8100)}, llmtest.Round{Text: "Yes."})
	r.cfg.Limits = agent.Limits{Rounds: 10, Budget: 18 * llm.Dollar}
	r.run("begin")
	events := r.run("on")
	if got := find[agent.CompactionEnd](events); len(got) != 1 || got[0].Outcome != agent.OutcomeDone || end(t, events) != agent.EndBudget || len(model.Requests()) != 1 {
		t.Errorf("%+v, %d requests: %s", got, len(model.Requests()), kinds(events, 20))
	}
}

// A model that was chosen since the newest turn summarises.
func TestCompactBySettingsAskedFor(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, _ := compactRig(t, c, llmtest.Round{Text: long(900)})
	r.run("begin")
	set := r.session.Transcript().Settings
	set.Model = "another"
	r.session.Configure(set)
	if r.compact(""); len(c.asked) != 1 || c.asked[0].Settings.Model != "another" {
		t.Errorf("asked %d times", len(c.asked))
	}
}

// An answer that fills the window to its end is kept and paid for, and goes on
// once there is room.
func TestAnswerThatFillsTheWindow(t *testing.T) {
	t.Parallel()
	r, model := compactRig(t, &compactor{}, llmtest.Round{Text: long(5000), Usage: full(100)},
		llmtest.Round{Text: "It is", Finish: llm.FinishContextOverflow, Usage: full(7000)}, llmtest.Round{Text: "noon."})
	r.run("begin")
	events := r.run("on")
	answers := find[agent.TextEnd](events)
	if end(t, events) != agent.EndDone || len(answers) != 2 || answers[0].Message.Text() != "It is" || answers[0].Usage.Input != 7000 || *answers[0].Cost == 0 {
		t.Fatalf("%s: %+v", kinds(events, 20), answers)
	}
	if got := sent(model); !strings.Contains(got, "assistant: It is\nuser: <update>\nYour answer broke off here.") || !strings.Contains(got, "<summary>") {
		t.Errorf("sent %s", got)
	}
}
