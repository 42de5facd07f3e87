package agent_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// inputs are the texts of the inputs, and of what steered, in order.
func inputs(events []agent.Event) (out []string) {
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case agent.UserInput:
			out = append(out, d.Text)
		case agent.SteeringInjected:
			out = append(out, "steer: "+d.Text)
		}
	}
	return out
}

// LOOP-08, LOOP-15, LOOP-133: what was queued to follow becomes the next input
// when the model is done, each a turn of its own.
func TestFollowUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(worth(2, look), worth(1), worth(4), worth(5)))
	r.cfg.Facts = facts{}
	r.open().FollowUp("second")
	r.session.FollowUp("third")
	events := r.run("first")
	if diff := cmp.Diff([]string{"first", "second", "third"}, inputs(events)); diff != "" {
		t.Error(diff)
	}
	cost := func(dollars int64) (llm.Usage, llm.Spending) {
		return llm.Usage{CacheWrite: dollars, Known: true}, llm.Spending{Cost: llm.Cost(dollars) * llm.Dollar}
	}
	want := []agent.ProcessingEnd{{Reason: agent.EndDone, Next: true, Rounds: 1}, {Reason: agent.EndDone, Next: true}, {Reason: agent.EndDone}}
	want[0].Usage, want[0].Cost = cost(3)
	want[1].Usage, want[1].Cost = cost(4)
	want[2].Usage, want[2].Cost = cost(5)
	if diff := cmp.Diff(want, find[agent.ProcessingEnd](events)); diff != "" {
		t.Error(diff)
	}
	if turns := r.session.Transcript().Turn; turns != 3 || len(r.session.Queue().Items()) != 0 {
		t.Errorf("%d turns, left %v", turns, r.session.Queue().Items())
	}
}

// LOOP-14: what the user steers while the hooks of the end run is delivered, however
// often; after an end that is not the model's own it waits.
func TestSteerWhileTheTurnEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		point agent.HookPoint
		steer int // as often
		end   llmtest.Round
		want  []string
		left  int
	}{
		"the stop hooks":        {agent.HookStop, 1, llmtest.Round{Text: "One."}, []string{"go", "steer: late 1"}, 0},
		"twice":                 {agent.HookStop, 2, llmtest.Round{Text: "One."}, []string{"go", "steer: late 1", "steer: late 2"}, 0},
		"after the last look":   {agent.HookNotification, 1, llmtest.Round{Text: "One."}, []string{"go"}, 1},
		"a turn that failed":    {agent.HookStop, 1, llmtest.Round{Status: 400}, []string{"go"}, 1},
		"an answer of no words": {agent.HookPostSampling, 1, llmtest.Round{Text: " "}, []string{"go", "steer: late 1"}, 0},
	} {
		model := llmtest.Script(tt.end, llmtest.Round{Text: "Two."}, llmtest.Round{Text: "Three."}, llmtest.Round{Text: "Four."})
		r, steered := newRig(t, model), 0
		r.cfg.Hooks = &hooks{advise: func(c agent.HookCall) agent.HookAdvice {
			if c.Point() == tt.point && steered < tt.steer {
				steered++
				r.session.Steer(fmt.Sprintf("late %d", steered))
			}
			return agent.HookAdvice{}
		}}
		got := inputs(r.run("go"))
		if left := len(r.session.Queue().Items()); !cmp.Equal(got, tt.want) || left != tt.left {
			t.Errorf("%s: %q, and %d left", name, got, left)
		}
		if tt.left == 0 {
			continue
		}
		if got := inputs(r.collect(r.session.RunQueued(t.Context()))); !cmp.Equal(got, []string{"late 1"}) {
			t.Errorf("%s: run later: %q", name, got)
		}
	}
}

// LOOP-08: after an interrupt, a failure or a limit nothing follows by itself;
// it waits, and can be run.
func TestFollowUpWaits(t *testing.T) {
	t.Parallel()
	var r *rig
	stops := note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
		r.session.Interrupt()
		return agent.Result{Output: "seen"}
	}}
	for name, tt := range map[string]struct {
		rounds []llmtest.Round
		limit  int
		tool   note
	}{
		"interrupt": {[]llmtest.Round{{Calls: []llmtest.Call{look}}, {Text: "On."}}, 0, stops},
		"failure":   {[]llmtest.Round{{Status: 401}, {Text: "On."}}, 0, note{name: "Look", readOnly: true}},
		"limit":     {[]llmtest.Round{{Calls: []llmtest.Call{look}}, {Text: "On."}}, 1, note{name: "Look", readOnly: true}},
	} {
		r = newRig(t, llmtest.Script(tt.rounds...), tt.tool)
		r.cfg.Limits.Rounds = tt.limit
		r.open().FollowUp("second")
		if got := inputs(r.run("first")); len(got) != 1 || len(r.session.Queue().Items()) != 1 {
			t.Errorf("%s: ran %v", name, got)
		}
		if r.session.Transcript().State == agent.StateClosed {
			r.store(r.session.Record(agent.SessionStart{Resumed: true}))
		}
		var events []agent.Event
		for ev, err := range r.session.RunQueued(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, ev)
		}
		if diff := cmp.Diff([]string{"second"}, inputs(events)); diff != "" || end(t, events) != agent.EndDone {
			t.Errorf("%s: %s", name, diff)
		}
		for range r.session.RunQueued(t.Context()) {
			t.Errorf("%s: something ran though nothing waits", name)
		}
	}
}

// LOOP-14: what steers while the last answer is given is read before the model
// rests, and what steers a session at rest comes with the next input.
func TestSteerAtTheEnd(t *testing.T) {
	t.Parallel()
	var r *rig
	model := llmtest.Script(llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Also that."}, llmtest.Round{Text: "Fine."})
	r = newRig(t, model)
	r.open()
	var events []agent.Event
	for ev, err := range r.session.Run(t.Context(), "go") {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := ev.Data.(agent.TextStart); ok && len(model.Requests()) == 1 {
			r.session.Steer("that too")
		}
		events = append(events, r.store(ev))
	}
	if diff := cmp.Diff([]string{"go", "steer: that too"}, inputs(events)); diff != "" || len(model.Requests()) != 2 {
		t.Error(diff)
	}
	r.session.Steer("briefly")
	if diff := cmp.Diff([]string{"and now", "steer: briefly"}, inputs(r.run("and now"))); diff != "" {
		t.Error(diff)
	}
}

// OC-07: what a queued message mentions goes with it as it is when it is delivered: a text behind
// its own, and pictures. A message that is complete is not attached to.
func TestQueuedAttachments(t *testing.T) {
	t.Parallel()
	var r *rig
	model := llmtest.Script(llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Also that."}, llmtest.Round{Text: "Fine."})
	r = newRig(t, model)
	r.cfg.Attach = func(_ context.Context, text string) (string, []llm.Media) {
		return " (attached)", []llm.Media{{MIME: "image/png", Name: text, URL: "https://x/a.png"}}
	}
	r.open()
	r.session.Queue().Add(agent.Queued{ID: "1", Verb: agent.FollowUp, Text: "whole", Typed: "/x", Media: []llm.Media{{MIME: "image/gif", Name: "own", URL: "https://x/b.gif"}}})
	for ev, err := range r.session.Run(t.Context(), "go") {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := ev.Data.(agent.TextStart); ok && len(model.Requests()) == 1 {
			r.session.Steer("that too")
		}
		r.store(ev)
	}
	var got []string
	for _, m := range model.Requests()[2].Messages {
		for _, p := range m.Parts {
			if p.Media != nil {
				got = append(got, m.Parts[0].Text+": "+p.Media.Name)
			}
		}
	}
	if diff := cmp.Diff([]string{"that too (attached): that too", "whole: own"}, got); diff != "" {
		t.Error(diff)
	}
}

// A waiting message can be edited, moved and taken back until it is delivered.
func TestQueue(t *testing.T) {
	t.Parallel()
	var q agent.Queue
	for _, id := range []string{"a", "b", "c"} {
		q.Add(agent.Queued{ID: id, Verb: agent.FollowUp, Text: id})
	}
	ok := q.Edit(agent.Queued{ID: "b", Verb: agent.Steer, Text: "B"}) && q.Move("c", 0) && q.Move("a", 99) && q.Move("a", -1) && q.Remove("c")
	want := []agent.Queued{{ID: "a", Verb: agent.FollowUp, Text: "a"}, {ID: "b", Verb: agent.Steer, Text: "B"}}
	if diff := cmp.Diff(want, q.Items()); diff != "" || !ok {
		t.Errorf("%t %s", ok, diff)
	}
	if q.Edit(agent.Queued{ID: "c"}) || q.Move("c", 0) || q.Remove("c") {
		t.Error("what is gone was changed")
	}
	q.Set(want[:1])
	if diff := cmp.Diff(want[:1], q.Items()); diff != "" {
		t.Error(diff)
	}
}

// board is news from elsewhere.
type board struct {
	mu    sync.Mutex
	texts []string
}

func (b *board) post(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.texts = append(b.texts, text)
}

func (b *board) Waits() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.texts) > 0
}

func (b *board) Take() (texts []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	texts, b.texts = b.texts, nil
	return texts
}

// News reach the model between its rounds, after its last one, and by a turn of their own if
// it is at rest, as reminders. A session that was stopped or failed is not woken by them.
func TestNews(t *testing.T) {
	t.Parallel()
	news := &board{}
	model := llmtest.Script(
		llmtest.Round{Text: "First."}, llmtest.Round{Text: "Seen."}, llmtest.Round{Status: 500}, llmtest.Round{Text: "Again."},
	)
	r := newRig(t, model)
	r.cfg.News = news
	late := true
	r.cfg.Hooks = &hooks{advise: func(c agent.HookCall) agent.HookAdvice {
		if c.Point() == agent.HookPostSampling && late {
			late = false
			news.post("late")
		}
		return agent.HookAdvice{}
	}}
	r.open()
	if diff := cmp.Diff([]string{"go", "steer: late"}, inputs(r.run("go"))); diff != "" {
		t.Errorf("during a turn:\n%s", diff)
	}
	if events := r.collect(r.session.RunNews(t.Context())); len(events) != 0 {
		t.Errorf("without news: %+v", events)
	}
	news.post("bad request")
	events := r.collect(r.session.RunNews(t.Context()))
	if diff := cmp.Diff([]string{"steer: bad request"}, inputs(events)); diff != "" || end(t, events) != agent.EndFailed || len(find[agent.TurnContinued](events)) != 1 {
		t.Errorf("at rest: %+v\n%s", events, diff)
	}
	news.post("waits")
	if events := r.collect(r.session.RunNews(t.Context())); len(events) != 0 {
		t.Errorf("after a failure: %+v", events)
	}
	if diff := cmp.Diff([]string{"and now?", "steer: waits"}, inputs(r.run("and now?"))); diff != "" {
		t.Errorf("with the next input:\n%s", diff)
	}
}
