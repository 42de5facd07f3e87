package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextinfo"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// folded is what a log adds up to, read anew.
func folded(r *rig) *agent.Transcript {
	var past agent.Transcript
	for _, ev := range r.log {
		past.Apply(ev)
	}
	return &past
}

// byKind are the parts of a breakdown by kind, and what they add up to.
func byKind(b contextinfo.ContextBreakdown) (of map[contextinfo.ContextKind]int64, sum int64) {
	of = map[contextinfo.ContextKind]int64{}
	for _, p := range b.Parts {
		of[p.Kind] = p.Tokens
		sum += p.Tokens
	}
	return of, sum
}

// The parts of the context add up to the meter's total, even before the first
// request and while items since the newest count are still to be sent.
func TestBreakdown(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, _ := compactRig(t, c,
		llmtest.Round{Reasoning: strings.Repeat("why? ", 100), Text: "I look.", Calls: []llmtest.Call{use("Look", strings.Repeat("word ", 1000))}, Usage: full(3000)},
		llmtest.Round{Text: strings.Repeat("That is it. ", 500), Usage: full(4000)},
		llmtest.Round{Text: "In short, it works.", Usage: full(500)},
	)
	r.open()
	breakdown := func() (contextinfo.ContextBreakdown, map[contextinfo.ContextKind]int64) {
		t.Helper()
		b := contextinfo.Breakdown(t.Context(), r.session, folded(r))
		of, sum := byKind(b)
		if sum != b.Used+b.Added {
			t.Errorf("the parts add up to %d, not %d and %d", sum, b.Used, b.Added)
		}
		if b.Window != 10_000 || b.Reserved != 2000 {
			t.Errorf("a window of %d, %d of it reserved", b.Window, b.Reserved)
		}
		return b, of
	}

	b, of := breakdown()
	if b.Counted || b.Used == 0 || b.Added != 0 || of[contextinfo.ContextSystem] == 0 || of[contextinfo.ContextTools] == 0 || len(of) != 2 {
		t.Errorf("before the first request: %+v", b)
	}

	events := r.run("Fix the login.")
	b, of = breakdown()
	if !b.Counted || b.Used != 4000 || b.Used != r.session.Transcript().Context || b.Added != 0 {
		t.Errorf("after a turn: %+v", b)
	}
	if of[contextinfo.ContextResults] < 500 || of[contextinfo.ContextAnswers] < 1000 || of[contextinfo.ContextPrompts] == 0 || of[contextinfo.ContextReasoning] == 0 || of[contextinfo.ContextSummary] != 0 {
		t.Errorf("after a turn: %v", of)
	}
	var halfway agent.Transcript // as a page sees it that asks while the turn runs
	for _, ev := range events {
		halfway.Apply(ev)
		if ev.Kind() == agent.KindToolCallEnd {
			break
		}
	}
	middle := contextinfo.Breakdown(t.Context(), r.session, &halfway)
	if of, sum := byKind(middle); middle.Used != 3000 || middle.Added < 1000 || sum != middle.Used+middle.Added || of[contextinfo.ContextResults] < 1000 {
		t.Errorf("in the midst of a turn: %+v", middle)
	}

	r.collect(r.session.Compact(t.Context(), ""))
	b, of = breakdown()
	if b.Counted || b.Used == 0 || of[contextinfo.ContextSummary] == 0 || of[contextinfo.ContextAnswers]+of[contextinfo.ContextResults]+of[contextinfo.ContextReasoning] != 0 {
		t.Errorf("after a compaction: %+v", b)
	}
	if r.run("Go on."); !contextinfo.Breakdown(t.Context(), r.session, folded(r)).Counted {
		t.Error("after a compaction and an answer nothing is counted")
	}
	c.threshold = 0 // compaction is off
	if b := contextinfo.Breakdown(t.Context(), r.session, folded(r)); b.Reserved != 0 {
		t.Errorf("without compaction %d tokens are reserved", b.Reserved)
	}
}

// The share of documents is separate from the rest of the system prompt.
func TestBreakdownOfDocuments(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script())
	r.cfg.Profiles = documented{r.cfg.Profiles}
	r.open()
	of, _ := byKind(contextinfo.Breakdown(t.Context(), r.session, folded(r)))
	if of[contextinfo.ContextDocuments] < 2*of[contextinfo.ContextSystem] || of[contextinfo.ContextSystem] == 0 {
		t.Errorf("%v", of)
	}
}

// documented are profiles with a document in the system prompt.
type documented struct{ agent.Profiles }

func (d documented) Brief(context.Context, agent.BriefingInput) agent.Briefing {
	document := strings.Repeat("Two spaces. ", 300)
	return agent.Briefing{System: strings.Repeat("Be brief. ", 100) + document, Documents: []agent.Document{{Path: "AGENTS.md", Size: len(document), Told: len(document)}}}
}

// A conversation that is too long to be counted in time is weighed all the same.
func TestBreakdownOfALongConversation(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script())
	r.open()
	var past agent.Transcript
	text := strings.Repeat("The quick brown fox. ", 50)
	for i := range int64(50_000) {
		past.Apply(agent.Event{Seq: 2*i + 1, Data: agent.UserInput{Text: text}})
		past.Apply(agent.Event{Seq: 2*i + 2, Data: agent.TextEnd{Message: llm.Text(llm.RoleAssistant, text), Usage: llm.Usage{Input: 1000, Output: 1, Known: true}}})
	}
	b := contextinfo.Breakdown(t.Context(), r.session, &past)
	of, sum := byKind(b)
	if sum != 1001 || of[contextinfo.ContextPrompts] < 300 || of[contextinfo.ContextAnswers] < 300 {
		t.Errorf("%+v", b)
	}
}

// The text that is kept of an answer that broke off counts, until a provider has
// counted it.
func TestBrokenAnswerCounts(t *testing.T) {
	t.Parallel()
	half := strings.Repeat("half an answer ", 400)
	r := newRig(t, llmtest.Script(
		llmtest.Round{Text: "Hello.", Usage: full(1000)},
		llmtest.Round{Text: half, Cut: 1},
		llmtest.Round{Text: "Done.", Usage: full(3000)},
	))
	r.run("Hi.")
	before := contextinfo.Breakdown(t.Context(), r.session, folded(r))
	r.run("Tell me everything.")
	broken := contextinfo.Breakdown(t.Context(), r.session, folded(r))
	if broken.Used != before.Used || broken.Added < int64(len(half)/5) {
		t.Errorf("before %+v, after the answer broke off %+v", before, broken)
	}
	r.run("Go on.")
	if after := contextinfo.Breakdown(t.Context(), r.session, folded(r)); after.Used != 3000 || after.Added != 0 {
		t.Errorf("once it is counted: %+v", after)
	}
}

// A page asks what fills the context while the session records settings.
func TestBreakdownWhileSettingsAreRecorded(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script())
	r.open()
	past := folded(r)
	var all sync.WaitGroup
	all.Go(func() {
		for i := range 100 {
			r.session.Configure(agent.Settings{Provider: llmtest.Provider, Model: fmt.Sprint("m", i), Mode: agent.ModeDefault})
			r.session.RecordSettings()
		}
	})
	for range 100 {
		contextinfo.Breakdown(t.Context(), r.session, past)
	}
	all.Wait()
	if b := contextinfo.Breakdown(t.Context(), r.session, past); b.Model != "m99" {
		t.Errorf("the context is that of %q", b.Model)
	}
}
