package workbench_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/backend/contexts"
	"atelier.dev/atelier/backend/workbench"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextinfo"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
)

// The breakdown of a context is available before the first request, during a
// turn, while another session is being read, and after a restart.
func TestBreakdown(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t,
		llmtest.Round{Text: "I write it.", Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": "a.txt", "content": "a\n"})}, Usage: small},
		llmtest.Round{Text: "Done.", Usage: small})
	p, gate := gated(t, server)
	ask := func(p *page, id string) (contextinfo.ContextBreakdown, map[contextinfo.ContextKind]int64) {
		t.Helper()
		b := must[contextinfo.ContextBreakdown](p, "conversation.breakdown", workbench.SessionRef{Session: id})
		of, sum := map[contextinfo.ContextKind]int64{}, int64(0)
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
		call[contextinfo.ContextBreakdown](p, "conversation.breakdown", workbench.SessionRef{Session: gate.session})
	}()
	<-gate.reading
	id := p.session("openai")
	if b, of := ask(p, id); b.Counted || of[contextinfo.ContextSystem] == 0 || of[contextinfo.ContextTools] == 0 || of[contextinfo.ContextPrompts] != 0 {
		t.Errorf("before the first request: %+v", b)
	}
	p.send(id, strings.Repeat("Write it. ", 2000))
	asked := await(p, anyOf[agent.ApprovalRequest])
	used := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Session.Context
	if b, of := ask(p, id); !b.Counted || b.Used != used || of[contextinfo.ContextPrompts] == 0 || of[contextinfo.ContextAnswers] == 0 {
		t.Errorf("at work: %+v", b)
	}
	must[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{Session: id, Approval: asked.ID, Answer: agent.Answer{Decision: agent.Allow}})
	await(p, func(e agent.ProcessingEnd) bool { return true })
	before, _ := ask(p, id)
	close(gate.open)
	<-held
	p.close()
	again := newPage(t, p.folder, p.home, environment(server, "sk-test"))
	if after, of := ask(again, id); !after.Counted || after.Used != before.Used || of[contextinfo.ContextResults] == 0 {
		t.Errorf("before %+v, after a restart %+v", before, after)
	}
	if _, err := call[contextinfo.ContextBreakdown](again, "conversation.breakdown", workbench.SessionRef{Session: "none"}); err == nil || err.Code != backend.CodeNotFound {
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
	want := contextinfo.Breakdown(t.Context(), l, &past)
	got := must[contextinfo.ContextBreakdown](p, "conversation.breakdown", workbench.SessionRef{Session: "long"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// COM-94: a person pins and drops items, and takes a compaction back; models are sent what
// was decided, also after a restart and in a fork.
func TestMarksOfAContext(t *testing.T) {
	t.Parallel()
	large := llm.Usage{Input: 9000, Output: 10, Known: true}
	server := llmtest.Serve(t,
		llmtest.Round{Text: "The secret is 4711.", Usage: large}, llmtest.Round{Text: "Noted." + strings.Repeat(" I looked at it.", 500), Usage: large},
		llmtest.Round{Text: "## Goal\nThe login.", Usage: large}, llmtest.Round{Text: "Yes.", Usage: large},
		llmtest.Round{Text: "All of it.", Usage: large}, llmtest.Round{Text: "As there.", Usage: large})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	ask := func(p *page, session, text string) string {
		t.Helper()
		p.send(session, text)
		await(p, anyOf[agent.ProcessingEnd])
		requests := server.Requests()
		_, said, _ := strings.Cut(string(requests[len(requests)-1].Body), `"role":"system"},`)
		said, _, _ = strings.Cut(said, `"model":`)
		return said
	}
	info := func() contextinfo.ContextInfo {
		t.Helper()
		return must[contextinfo.ContextInfo](p, "context.info", contexts.ContextRequest{Session: id, Page: contextinfo.ContextPage{Count: 10}})
	}
	mark := func(mark contextir.Mark, item string) {
		t.Helper()
		must[backend.Empty](p, "context.mark", contexts.ContextMarkRequest{Session: id, Mark: mark, Items: []string{item}})
	}
	ask(p, id, "Never touch the tests.")
	mark(contextir.MarkPin, "user_message:1:1")
	mark(contextir.MarkDrop, "assistant_message:1:1")
	if got := ask(p, id, "Mend the login."); strings.Contains(got, "4711") || !strings.Contains(got, "Never touch") {
		t.Errorf("sent %s", got)
	}
	preview := must[contexts.CompactPreview](p, "context.preview", contexts.CompactPreviewRequest{Session: id, Focus: "numbers"})
	if preview.Summary != "## Goal\nThe login." || preview.Pinned != 1 || preview.Items != 4 {
		t.Errorf("previewed %+v", preview)
	}
	if now := info(); len(now.Compactions) != 0 || now.Total != 4 || now.Pinned != 1 || now.Dropped != 1 {
		t.Errorf("the preview changed it: %+v", now)
	}
	must[backend.Empty](p, "context.compact", contexts.CompactToRequest{Session: id, Summary: "My own words."})
	await(p, anyOf[agent.CompactionEnd])
	if got := ask(p, id, "Go on."); !strings.Contains(got, "My own words.") || !strings.Contains(got, "Never touch") || strings.Contains(got, "Noted.") {
		t.Errorf("after the compaction: %s", got)
	}
	now := info()
	if len(now.Compactions) != 1 || now.Items[len(now.Items)-1].Type != contextir.CompactionSummary {
		t.Fatalf("after the compaction: %+v", now)
	}
	seq := now.Compactions[0].Seq
	must[backend.Empty](p, "context.undo", contexts.CompactUndoRequest{Session: id, Compaction: seq})
	if _, err := call[backend.Empty](p, "context.undo", contexts.CompactUndoRequest{Session: id, Compaction: seq}); err == nil || err.ID != backend.ProblemCompactionGone {
		t.Errorf("undone twice: %v", err)
	}
	if now := info(); now.Total != 6 || !now.Compactions[0].Undone || now.Pinned != 1 || now.Dropped != 1 {
		t.Errorf("after the undo: %+v", now)
	}
	fork := must[workbench.ForkReply](p, "sessions.fork", workbench.ForkRequest{Session: id}).Session.ID
	p.close()
	p = newPage(t, p.folder, p.home, environment(server, "sk-test"))
	for _, session := range []string{id, fork} {
		got := ask(p, session, "And now?")
		if strings.Contains(got, "My own words.") || strings.Contains(got, "4711") || !strings.Contains(got, "Noted.") || !strings.Contains(got, "Never touch") {
			t.Errorf("in %s after a restart: %s", session, got)
		}
	}
	if _, err := call[backend.Empty](p, "context.mark", contexts.ContextMarkRequest{Session: id, Mark: contextir.MarkPin, Items: []string{"user_message:99:1"}}); err == nil || err.ID != backend.ProblemContextItem {
		t.Errorf("marked nothing: %v", err)
	}
}
