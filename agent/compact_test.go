package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

// compactor summarises by a function.
type compactor struct {
	threshold int64
	usage     llm.Usage // of each request; little where it is not known
	summarise func(context.Context, agent.SummaryRequest) (string, error)
	asked     []agent.SummaryRequest
}

func (c *compactor) Threshold(int64) int64 { return c.threshold }

func (c *compactor) Summarise(ctx context.Context, r agent.SummaryRequest) (agent.Summary, error) {
	c.asked = append(c.asked, r)
	s := agent.Summary{Text: "In short.", By: llm.Origin{Provider: "p", Model: "small"}, Requests: []llm.Usage{{Input: 7, Output: 3, Known: true}}}
	if c.usage.Known {
		s.Requests[0] = c.usage
	}
	if c.summarise == nil {
		return s, nil
	}
	var err error
	s.Text, err = c.summarise(ctx, r)
	return s, err
}

// compact makes the conversation short between two turns.
func (r *rig) compact(focus string) []agent.Event {
	r.t.Helper()
	return r.collect(r.session.Compact(r.t.Context(), focus))
}

// full is the usage of a request that holds so many tokens.
func full(tokens int64) llm.Usage { return llm.Usage{Input: tokens, Known: true} }

// long is a text of so many tokens.
func long(tokens int) string { return strings.Repeat("word ", tokens*4/5) }

// sent is what the newest request said, one line for each message.
func sent(m *llmtest.Model) string {
	var b strings.Builder
	requests := m.Requests()
	for _, msg := range requests[len(requests)-1].Messages {
		fmt.Fprintf(&b, "%s:", msg.Role)
		for _, p := range msg.Parts {
			switch {
			case p.Call != nil:
				b.WriteString(" call " + p.Call.Name)
			case p.Result != nil:
				b.WriteString(" result " + p.Result.Parts[0].Text)
			default:
				b.WriteString(" " + p.Text)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// compactRig is a session whose model has a window of 10,000 tokens, made short
// from 8,000.
func compactRig(t *testing.T, c *compactor, rounds ...llmtest.Round) (*rig, *llmtest.Model) {
	t.Helper()
	model := llmtest.Script(rounds...)
	r := newRig(t, model)
	c.threshold = 8000
	r.cfg.Compactor, r.cfg.Facts = c, facts{limits: llm.ModelLimits{Window: 10_000}}
	return r, model
}

// COM-93, COM-18, OAS-109, K-08: a conversation that passes the threshold is told of, summarised
// and goes on in the same turn; the events say so in order, and it is the same
// for whoever opens the session again.
func TestCompaction(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, model := compactRig(t, c,
		llmtest.Round{Text: long(7500), Usage: full(8000)}, llmtest.Round{Text: "Yes.", Usage: full(300)}, llmtest.Round{Text: "Still."})
	warned := find[agent.Warning](r.run("Fix the login. Never touch the tests."))
	if len(warned) != 1 || !strings.Contains(warned[0].Message, "80 %") || !strings.Contains(warned[0].Message, "tries to compact it before") {
		t.Errorf("warned: %+v", warned)
	}
	events := r.run("Go on, " + long(200))
	want := []string{"user_input", "compaction_start", "selective_start", "selective_done", "summary_start",
		"side_request", "summary_done", "compaction_end", "assistant_text_end", "processing_end"}
	var got []string
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case agent.CompactionPhase:
			got = append(got, string(d.Phase))
		default:
			if ev.Durable() && ev.Kind() != agent.KindBriefing && ev.Kind() != agent.KindWarning {
				got = append(got, string(ev.Kind()))
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	start, end := find[agent.CompactionStart](events)[0], find[agent.CompactionEnd](events)[0]
	if start.Trigger != agent.CompactAuto || start.Tokens < 8000 || start.Threshold != 8000 {
		t.Errorf("%+v", start)
	}
	if end.Outcome != agent.OutcomeDone || end.Before != start.Tokens || end.After > 2000 || end.Summary != "In short." {
		t.Errorf("%+v", end)
	}
	if side := find[agent.SideRequest](events)[0]; side.Purpose != agent.PurposeSummary || side.Model != "small" || *side.Cost != llm.Dollar/100 {
		t.Errorf("%+v", side)
	}
	result := agent.NewQueryResult()
	for _, ev := range events {
		result.Apply(ev)
	}
	if at := slices.IndexFunc(result.ByModel, func(m agent.ModelCost) bool { return m.Model == "small" }); at < 0 || result.ByModel[at].Cost.Cost != llm.Dollar/100 {
		t.Errorf("the result does not have the summary's cost: %+v", result.ByModel)
	}
	short := sent(model)
	for _, part := range []string{"<summary>\nIn short.\n</summary>", "Fix the login. Never touch the tests.", "user: Go on, "} {
		if !strings.Contains(short, part) {
			t.Errorf("the model is not told %q in %q", part, short)
		}
	}
	if strings.Contains(short, long(100)+long(7000)) {
		t.Error("the old answer is sent all the same")
	}
	if len(c.asked) != 1 || !strings.Contains(c.asked[0].Messages[1].Text(), "word word") {
		t.Errorf("asked %d times", len(c.asked))
	}
	r.open()
	r.run("And?")
	if again := sent(model); !strings.HasPrefix(again, short) {
		t.Errorf("opened again:\n%s\nbefore:\n%s", again, short)
	}
}

// COM-14, COM-15: where cutting old results is enough, no model is asked, and the five
// newest stay whole.
func TestCompactionCutsOldResultsFirst(t *testing.T) {
	t.Parallel()
	var rounds []llmtest.Round
	for range 8 {
		rounds = append(rounds, llmtest.Round{Calls: []llmtest.Call{look}, Usage: full(100)})
	}
	rounds[7].Usage = full(7900)
	c := &compactor{}
	r, model := compactRig(t, c, append(rounds, llmtest.Round{Text: "Done."})...)
	looks := 0
	r.use(note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
		if looks++; looks > 3 {
			return agent.Result{Output: long(550)} // long enough to be cut too
		}
		return agent.Result{Output: long(2300)}
	}})
	end := find[agent.CompactionEnd](r.run("look around"))
	if len(end) != 1 || end[0].Outcome != agent.OutcomeDone || end[0].ToolBlocks != 3 || end[0].Summary != "" || len(c.asked) > 0 {
		t.Errorf("%+v, asked %d times", end, len(c.asked))
	}
	requests := model.Requests()
	if slices.ContainsFunc(requests[len(requests)-1].Messages, func(m llm.Message) bool { return m.Origin != nil }) {
		t.Error("what a provider thought is still bound to what it had read")
	}
	if n, whole := strings.Count(sent(model), "taken out"), strings.Count(sent(model), long(550)); n != 3 || whole != 5 {
		t.Errorf("%d results are cut, %d are whole", n, whole)
	}
}

// LOOP-134: what the user wrote to steer a turn is theirs in the history: a
// compaction keeps it word for word, as it does not what the loop itself said.
func TestCompactionKeepsSteering(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, model := compactRig(t, c, llmtest.Round{Text: strings.Repeat("And so ", 900), Finish: llm.FinishLength}, llmtest.Round{Text: "on."}, llmtest.Round{Text: "Yes."})
	r.open()
	r.session.Steer("only the header")
	r.run("go")
	r.open() // a restart does not change whose words they are
	r.compact("")
	r.run("on")
	got := sent(model)
	if !strings.Contains(got, "<user_message>\nonly the header\n</user_message>") || strings.Contains(got, "Go on exactly where it stopped") {
		t.Error(got)
	}
}

// COM-15: what is cut to a little less than the threshold would be cut again
// after a few rounds, so the rest is summarised at once.
func TestCompactionMakesRoomForAWhile(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, _ := compactRig(t, c, llmtest.Round{Calls: slices.Repeat([]llmtest.Call{look}, 6)}, llmtest.Round{Text: long(4500), Usage: full(8100)}, llmtest.Round{Text: "Yes."})
	looks := 0
	r.use(note{name: "Look", run: func(context.Context, agent.Invocation) agent.Result {
		if looks++; looks > 1 {
			return agent.Result{Output: "nothing"}
		}
		return agent.Result{Output: long(3000)}
	}})
	r.run("look around")
	end := find[agent.CompactionEnd](r.run("on"))
	if len(end) != 1 || end[0].Outcome != agent.OutcomeDone || end[0].Summary == "" {
		t.Errorf("%+v", end)
	}
}

// The newest fifth of a conversation stays word for word, but no more than
// 20,000 tokens.
func TestCompactionKeepsTheTail(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		tokens int64
		each   int
		kept   int // answers, besides the newest input
	}{{tokens: 8100, each: 500, kept: 3}, {tokens: 810_000, each: 9000, kept: 2}} {
		var rounds []llmtest.Round
		for range 12 {
			rounds = append(rounds, llmtest.Round{Text: long(tt.each), Usage: full(100)})
		}
		c := &compactor{}
		r, _ := compactRig(t, c, append(rounds, llmtest.Round{Text: long(tt.each), Usage: full(tt.tokens)}, llmtest.Round{Text: "Yes."})...)
		c.threshold = tt.tokens
		r.cfg.Facts = facts{limits: llm.ModelLimits{Window: tt.tokens * 5 / 4}}
		for range 13 {
			r.run("on")
		}
		end := find[agent.CompactionEnd](r.run("on"))
		if len(end) != 1 || end[0].Kept != 2*tt.kept+1 {
			t.Errorf("%d tokens: %+v", tt.tokens, end)
		}
	}
}

// K-08: a conversation that the provider refuses for its length is warned of, made short
// once, and sent again; with nothing to make it short, the turn ends and the
// session is kept.
func TestCompactionAfterOverflow(t *testing.T) {
	t.Parallel()
	overflow := llmtest.Round{Status: 400, Body: `{"error":{"code":"context_length_exceeded","message":"too long"}}`}
	for name, tt := range map[string]struct {
		threshold int64
		rounds    []llmtest.Round
		triggers  []agent.CompactionTrigger
		end       agent.EndReason
	}{
		"then it fits":    {8000, []llmtest.Round{overflow, {Text: "Now."}}, []agent.CompactionTrigger{agent.CompactOverflow}, agent.EndDone},
		"still too long":  {8000, []llmtest.Round{overflow, overflow}, []agent.CompactionTrigger{agent.CompactOverflow}, agent.EndFailed},
		"compaction off":  {0, []llmtest.Round{overflow}, nil, agent.EndFailed},
		"and once a time": {8000, []llmtest.Round{overflow, {Text: long(500), Calls: []llmtest.Call{look}}, {Calls: []llmtest.Call{look}}, overflow, {Text: "Now."}}, []agent.CompactionTrigger{agent.CompactOverflow, agent.CompactOverflow}, agent.EndDone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &compactor{}
			r, _ := compactRig(t, c, append([]llmtest.Round{{Text: long(500)}}, tt.rounds...)...)
			c.threshold = tt.threshold
			r.run("begin")
			events := r.run("on")
			if got := end(t, events); got != tt.end {
				t.Errorf("ended %s", got)
			}
			var triggers []agent.CompactionTrigger
			for _, s := range find[agent.CompactionStart](events) {
				triggers = append(triggers, s.Trigger)
			}
			if diff := cmp.Diff(tt.triggers, triggers); diff != "" {
				t.Error(diff)
			}
			if got := len(find[agent.Warning](events)); got != len(tt.triggers) {
				t.Errorf("%d warnings", got)
			}
			if state := r.session.Transcript().State; state != agent.StateIdle {
				t.Errorf("the session is %s", state)
			}
		})
	}
}

// A person has the whole conversation summarised, says what to keep, and may
// do so again: what the user wrote is there word for word, as are the names of
// the files that were changed.
func TestCompactByHand(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, model := compactRig(t, c, llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: long(900)}, llmtest.Round{Text: long(900)}, llmtest.Round{Text: "Yes."})
	r.use(note{name: "Note", run: func(context.Context, agent.Invocation) agent.Result {
		return agent.Result{Output: "written", Details: &agent.Details{Changes: []agent.FileChange{{Path: "old.go", MovedTo: "login.go"}}}}
	}})
	r.open()
	if got := find[agent.CompactionEnd](r.compact("")); got[0].Outcome != agent.OutcomeFailed || !strings.Contains(got[0].Message, "nothing new") {
		t.Errorf("of nothing: %+v", got)
	}
	r.run("first wish")
	events := r.compact("the names")
	if start := find[agent.CompactionStart](events)[0]; start.Trigger != agent.CompactManual {
		t.Errorf("%+v", start)
	}
	if events[len(events)-1].Kind() != agent.KindCompactionEnd || r.session.Transcript().State != agent.StateIdle {
		t.Errorf("%s", kinds(events, 20))
	}
	after := find[agent.CompactionEnd](events)[0].After
	if again := find[agent.CompactionStart](r.compact("")); again[0].Tokens != after {
		t.Errorf("%d tokens are left, then there are %d", after, again[0].Tokens)
	}
	c.summarise = func(_ context.Context, r agent.SummaryRequest) (string, error) { return r.Before + " And more.", nil }
	r.run("second wish")
	r.open()
	r.compact("")
	if c.asked[0].Focus != "the names" || c.asked[1].Before != "In short." || len(c.asked[1].Messages) != 2 {
		t.Errorf("asked for %q, then on %q with %d messages", c.asked[0].Focus, c.asked[1].Before, len(c.asked[1].Messages))
	}
	r.run("third wish")
	want := []string{"In short. And more.", "<user_message>\nfirst wish\n</user_message>\n<user_message>\nsecond wish\n</user_message>", "login.go", "user: third wish"}
	for _, part := range want {
		if got := sent(model); !strings.Contains(got, part) {
			t.Errorf("%q is not in %s", part, got)
		}
	}
	told := []agent.LastExchange{{Input: "first wish"}, {Input: "second wish"}, {Input: "third wish", Answer: "Yes."}}
	if diff := cmp.Diff(told, r.session.Transcript().Exchanges()); diff != "" {
		t.Error(diff)
	}
	if r.session.Transcript().Turn != 3 {
		t.Errorf("to compact counts as a turn")
	}
}

// OAS-109: of the files that were changed a summary names the newest, each once.
func TestCompactionNamesFiles(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, model := compactRig(t, c, llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: long(900)}, llmtest.Round{Text: "Yes."})
	var changes []agent.FileChange
	for i := range 25 {
		changes = append(changes, agent.FileChange{Path: fmt.Sprintf("f%d.go", i)})
	}
	changes = append(changes, agent.FileChange{Path: "f9.go"})
	r.use(note{name: "Look", run: func(context.Context, agent.Invocation) agent.Result {
		return agent.Result{Output: "changed", Details: &agent.Details{Changes: changes}}
	}})
	r.run("change them")
	r.compact("")
	r.run("on")
	if got := sent(model); !strings.Contains(got, "the newest last: f5.go, f6.go, f7.go, f8.go, f10.go") || !strings.Contains(got, "f24.go, f9.go\n") {
		t.Errorf("sent %s", got)
	}
}

// OAS-118: hooks keep a compaction from happening, say what it is to keep, and hear
// what came of it.
func TestCompactionHooks(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, model := compactRig(t, c, llmtest.Round{Text: long(2000), Usage: full(8100)},
		llmtest.Round{Text: "Yes.", Usage: full(8100)}, llmtest.Round{Text: "Yes.", Usage: full(100)})
	r.cfg.Hooks = at(agent.HookPreCompact, agent.HookAdvice{Decision: agent.Deny, Reason: "Not now."})
	r.run("begin")
	if events := r.run("on"); len(find[agent.CompactionStart](events)) > 0 || len(c.asked) > 0 {
		t.Errorf("denied, and yet: %s", kinds(events, 20))
	}
	var heard []agent.HookInput
	r.cfg.Hooks = &hooks{advise: func(call agent.HookCall) agent.HookAdvice {
		switch call.Data.(type) {
		case agent.PreCompactInput, agent.PostCompactInput:
			heard = append(heard, call.Data)
			return agent.HookAdvice{Context: "the " + string(call.Point())}
		}
		return agent.HookAdvice{}
	}}
	r.open()
	r.run("on")
	if len(c.asked) != 1 || c.asked[0].Focus != "the preCompact" {
		t.Errorf("asked %+v", c.asked)
	}
	if len(heard) != 2 || heard[1] != (agent.PostCompactInput{Trigger: agent.CompactAuto, Summary: "In short."}) || !strings.Contains(sent(model), "user: <update>\nthe postCompact") {
		t.Errorf("heard %+v, sent %s", heard, sent(model))
	}
}
