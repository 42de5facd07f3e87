package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/compaction"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// items are those of a conversation, as far as models and people see them.
func items(tr *agent.Transcript) (all []string) {
	for it := range tr.Conversation().Items() {
		all = append(all, fmt.Sprintf("%s %t %t %t %.60q %d", it.ID(), it.Pinned, it.Dropped(), it.Shortened(), it.Text(), len(it.Text())))
	}
	return all
}

// filling is a session with rules, files and summaries, whose next turn compacts. The
// summaries come from a model of their own, which has these rounds.
func filling(t *testing.T, summaries ...llmtest.Round) *rig {
	t.Helper()
	r, _, c := looker(t, 500)
	service := &compaction.Service{Model: llmtest.Script(summaries...), Policy: func() compaction.Policy {
		return compaction.Policy{Ratio: 0.8, Rules: contextir.Rules{contextir.ToolResult: {Strategy: contextir.StrategyOffload, Keep: 5}}}
	}}
	c.threshold = 0 // not in the first turn
	r.cfg.Compactor = c
	r.run("look around")
	r.cfg.Compactor = service
	r.cfg.Model = llmtest.Script(llmtest.Round{Text: "Yes."}, llmtest.Round{Text: "Yes."})
	r.cfg.Offload = func(_ context.Context, item, _ string) string { return "/files/" + item }
	r.log = append(r.log, r.open().Record(agent.ContextMarked{Mark: contextir.MarkPin, Items: []string{"user_message:1:1"}}))
	r.log[len(r.log)-1].Seq = int64(len(r.log))
	r.open()
	return r
}

// COM-19: a compaction whose summary fails at any request, in any way, leaves the
// conversation as it was, and the turn goes on.
func TestCompactionWhoseRequestsFail(t *testing.T) {
	t.Parallel()
	spent := llm.Usage{Input: 100, Output: 10, Known: true}
	for name, bad := range map[string]llmtest.Round{
		"a refusal":        {Status: 401, Body: `{"error":{"message":"no"}}`},
		"a server's fault": {Status: 500, Body: "{}"},
		"an answer cut":    {Text: "## Goal", Error: "server_error"},
		"nothing":          {Usage: spent},
		"a call of a tool": {Calls: []llmtest.Call{look}, Usage: spent},
		"more than it was": {Text: strings.Repeat("It says much about little. ", 3000), Usage: spent},
		"a length limit":   {Text: "## Goal", Finish: llm.FinishLength, Usage: spent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := filling(t, bad)
			before := items(r.session.Transcript())
			ends := find[agent.CompactionEnd](r.compact(""))
			if len(ends) != 1 || ends[0].Outcome != agent.OutcomeFailed || ends[0].After != ends[0].Before || ends[0].Message == "" {
				t.Fatalf("%+v", ends)
			}
			if diff := cmp.Diff(before, items(r.session.Transcript())); diff != "" {
				t.Errorf("the conversation changed: %s", diff)
			}
			r.open()
			if diff := cmp.Diff(before, items(r.session.Transcript())); diff != "" {
				t.Errorf("opened again: %s", diff)
			}
			if got := end(t, r.run("go on")); got != agent.EndDone {
				t.Errorf("the next turn ended as %s", got)
			}
		})
	}
}

// COM-19: if any event of a compaction cannot be written, or the program ends there, the
// conversation is as it was, in memory and for whoever opens the session next; only the
// end of the compaction changes it.
func TestCompactionWhoseWritesFail(t *testing.T) {
	t.Parallel()
	good := llmtest.Round{Text: "## Goal\nThe login.", Usage: full(100)}
	whole := filling(t, good)
	before := items(whole.session.Transcript())
	var steps int
	for ev, err := range whole.session.Compact(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		steps++
		_ = ev
	}
	after := items(whole.session.Transcript())
	if steps < 5 || cmp.Equal(before, after) {
		t.Fatalf("%d events, %d items", steps, len(after))
	}
	for fail := range steps {
		r := filling(t, good)
		done := false
		n := 0
		for ev := range r.session.Compact(t.Context(), "") {
			if n++; n > fail {
				break // it could not be written
			}
			if c, ok := ev.Data.(agent.CompactionEnd); ok && c.Outcome == agent.OutcomeDone {
				done = true
			}
			if ev.Durable() {
				r.store(ev)
			}
		}
		r.resume()
		want := before
		if done {
			want = after
		}
		if diff := cmp.Diff(want, items(r.session.Transcript())); diff != "" {
			t.Errorf("written %d of %d events: %s", fail, steps, diff)
		}
		if got := end(t, r.run("go on")); got != agent.EndDone {
			t.Errorf("written %d events: the next turn ended as %s", fail, got)
		}
	}
}

// COM-19: files that cannot be written, in any number, keep their results' texts in the
// conversation or leave the usual note; nothing else of it changes.
func TestCompactionWhoseFilesFail(t *testing.T) {
	t.Parallel()
	for fail := range 4 {
		r := filling(t, llmtest.Round{Status: 500, Body: "{}"})
		n := 0
		r.cfg.Offload = func(_ context.Context, item, _ string) string {
			if n++; n > fail {
				return ""
			}
			return "/files/" + item
		}
		r.cfg.Facts = facts{limits: llm.ModelLimits{Window: 4000}} // so that it compacts by itself
		r.open()
		ends := find[agent.CompactionEnd](r.run("go on"))
		if len(ends) == 0 {
			t.Fatal("nothing was compacted")
		}
		before := items(r.session.Transcript())
		r.open()
		if diff := cmp.Diff(before, items(r.session.Transcript())); diff != "" {
			t.Errorf("%d files: opened again: %s", fail, diff)
		}
		if !strings.HasPrefix(before[0], "user_message:1:1 true") {
			t.Errorf("the pinned item is %s", before[0])
		}
	}
}

// K-08: a session that is switched to a model with a smaller window goes on: it is compacted
// for the new window before the next request, with its pins and the user's words.
func TestSwitchToASmallerWindow(t *testing.T) {
	t.Parallel()
	r := filling(t)
	service := &compaction.Service{Model: llmtest.Script(llmtest.Round{Text: "## Goal\nThe login.", Usage: full(100)}, llmtest.Round{Text: "## Goal\nThe login.", Usage: full(100)})}
	model := llmtest.Script(llmtest.Round{Text: "Yes.", Usage: full(5000)}, llmtest.Round{Text: "Yes.", Usage: full(900)})
	r.cfg.Compactor, r.cfg.Model = service, model
	r.cfg.Facts = smaller{}
	r.open()
	if ends := find[agent.CompactionEnd](r.run("still in the large one")); len(ends) != 0 {
		t.Fatalf("compacted in a window of 100,000: %+v", ends)
	}
	set := r.session.Latest()
	set.Model = "small"
	r.session.Configure(set)
	events := r.run("and now?")
	ends := find[agent.CompactionEnd](events)
	if len(ends) == 0 || ends[0].Outcome != agent.OutcomeDone || end(t, events) != agent.EndDone {
		t.Fatalf("%+v", ends)
	}
	asked := model.Requests()
	last := asked[len(asked)-1]
	size := 0
	for _, m := range last.Messages {
		size += len(fmt.Sprint(m))
	}
	if said := sent(model); last.Model != "small" || size/4 > 4000 || !strings.Contains(said, "and now?") || !strings.Contains(said, "look around") {
		t.Errorf("%s was sent %d bytes: %.400s", last.Model, size, said)
	}
}

// smaller says that the model "small" has a window of 4,000 tokens, and others a large one.
type smaller struct{ facts }

func (smaller) Limits(_, model string) llm.ModelLimits {
	if model == "small" {
		return llm.ModelLimits{Window: 4000}
	}
	return llm.ModelLimits{Window: 100_000}
}
