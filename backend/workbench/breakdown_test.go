package workbench_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/backend/workbench"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
)

// The breakdown of a context is available before the first request, during a
// turn, while another session is being read, and after a restart.
func TestBreakdown(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t,
		llmtest.Round{Text: "I write it.", Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": "a.txt", "content": "a\n"})}, Usage: small},
		llmtest.Round{Text: "Done.", Usage: small})
	p, gate := gated(t, server)
	ask := func(p *page, id string) (agent.ContextBreakdown, map[agent.ContextKind]int64) {
		t.Helper()
		b := must[agent.ContextBreakdown](p, "conversation.breakdown", workbench.SessionRef{Session: id})
		of, sum := map[agent.ContextKind]int64{}, int64(0)
		for _, part := range b.Parts {
			of[part.Kind], sum = part.Tokens, sum+part.Tokens
		}
		if sum != b.Used+b.Added {
			t.Errorf("the parts add up to %d, not %d and %d", sum, b.Used, b.Added)
		}
		return b, of
	}

	gate.session = must[backend.SessionInfo](p, "sessions.create", backend.Empty{}).ID // whose reading takes long
	held := make(chan struct{})
	go func() {
		defer close(held)
		call[agent.ContextBreakdown](p, "conversation.breakdown", workbench.SessionRef{Session: gate.session})
	}()
	<-gate.reading
	id := p.session("openai")
	if b, of := ask(p, id); b.Counted || of[agent.ContextSystem] == 0 || of[agent.ContextTools] == 0 || of[agent.ContextPrompts] != 0 {
		t.Errorf("before the first request: %+v", b)
	}
	p.send(id, strings.Repeat("Write it. ", 2000))
	asked := await(p, anyOf[agent.ApprovalRequest])
	used := must[workbench.Snapshot](p, "conversation.open", workbench.OpenRequest{Session: id}).Session.Context
	if b, of := ask(p, id); !b.Counted || b.Used != used || of[agent.ContextPrompts] == 0 || of[agent.ContextAnswers] == 0 {
		t.Errorf("at work: %+v", b)
	}
	must[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{Session: id, Approval: asked.ID, Answer: agent.Answer{Decision: agent.Allow}})
	await(p, func(e agent.ProcessingEnd) bool { return true })
	before, _ := ask(p, id)
	close(gate.open)
	<-held
	p.close()
	again := newPage(t, p.folder, p.home, environment(server, "sk-test"))
	if after, of := ask(again, id); !after.Counted || after.Used != before.Used || of[agent.ContextResults] == 0 {
		t.Errorf("before %+v, after a restart %+v", before, after)
	}
	if _, err := call[agent.ContextBreakdown](again, "conversation.breakdown", workbench.SessionRef{Session: "none"}); err == nil || err.Code != backend.CodeNotFound {
		t.Errorf("of a missing session: %v", err)
	}
}

// Of a log of several pages every event counts once, the first and the last of a page
// among them.
func TestBreakdownOfManyPages(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), "sk-test"))
	set := agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeDefault}
	if err := p.store.CreateSession(t.Context(), backend.SessionInfo{ID: "long", Folder: p.folder, State: agent.StateIdle, Settings: set}); err != nil {
		t.Fatal(err)
	}
	const page, last = 1000, 3*1000 + 1
	log := make([]agent.Event, last)
	for i := range log {
		log[i] = agent.Event{Session: "long", Data: agent.Warning{Code: "w"}}
	}
	log[0].Data = agent.SettingsChange{Settings: set}
	words := 1
	for _, seq := range []int{2, page - 1, page, page + 1, 2*page - 1, 2 * page, 2*page + 1, last - 1, last} {
		words *= 2 // so that no sum of others is the same
		log[seq-1].Data = agent.UserInput{Text: strings.Repeat("word ", words)}
	}
	for part := range slices.Chunk(log, 500) {
		if _, err := p.store.Append(t.Context(), part...); err != nil {
			t.Fatal(err)
		}
	}
	l, release, err := p.bench.Sessions().Open(t.Context(), "long")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	events, err := p.store.Events(t.Context(), backend.EventRange{Session: "long"})
	if err != nil || len(events) != last {
		t.Fatalf("%d events, %v", len(events), err)
	}
	var past agent.Transcript
	for _, ev := range events {
		past.Apply(ev)
	}
	// Counting has little time, and what is left is estimated: a busy machine may need
	// several attempts.
	var diff string
	for range 50 {
		want := l.Breakdown(t.Context(), &past)
		got := must[agent.ContextBreakdown](p, "conversation.breakdown", workbench.SessionRef{Session: "long"})
		if diff = cmp.Diff(want, got); diff == "" {
			return
		}
	}
	t.Error(diff)
}
