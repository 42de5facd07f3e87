package workbench_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/reading"
	"atelier.dev/atelier/storage"
)

// said returns a complete answer of a model, with its thinking.
func said(text, thinking string) agent.TextEnd {
	return agent.TextEnd{Message: llm.Message{Parts: []llm.Part{
		{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: thinking}}, {Kind: llm.PartText, Text: text},
	}}}
}

// written returns a page with a session whose log goes on with payloads.
func written(t *testing.T, payloads ...agent.Payload) (*page, string) {
	t.Helper()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
	session := p.session("compat")
	events := make([]agent.Event, len(payloads))
	for i, data := range payloads {
		events[i] = agent.Event{Session: session, At: 1, Data: data}
	}
	if len(events) > 0 {
		if _, err := p.store.Append(t.Context(), events...); err != nil {
			t.Fatal(err)
		}
	}
	return p, session
}

// found lists hits as "part of nth: snippet", the newest first.
func found(hits []reading.Hit) []string {
	var lines []string
	for _, h := range hits {
		lines = append(lines, fmt.Sprintf("%s %s%d: %s", h.Part, h.Of, h.Nth, h.Snippet))
	}
	return lines
}

// Every text that a card or a message shows is searched, whatever its case, and
// nothing in the text to look for is a pattern.
func TestFind(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 40)
	p, session := written(t,
		agent.UserInput{Text: "Why does Straße.* fail?\nStart here"},
		said("The ΣΊΣΥΦΟΣ file", "I think of a needle"),
		agent.ToolCallStart{CallID: "c1", Tool: "Bash", Input: `{"command":"grep \"a needle\"\ta.txt","timeout":7000}`},
		agent.ToolCallEnd{CallID: "c1", Tool: "Bash", Output: "needle, NEEDLE \x1b[31m\u202e" + long, Outcome: agent.OutcomeDone},
		agent.ToolCallStart{CallID: "c2", Tool: "Read", Input: `no JSON {needles`},
		agent.LocalCommandStart{ID: "l1", Command: "echo 3 K"},
		agent.LocalCommandEnd{ID: "l1", Command: "echo 3 K", Output: "\xff\xfe K broken bytes"},
		agent.ToolCallEnd{CallID: "c3", Tool: "Bash", Output: "exit code of it\n\n[Exit code 3]", IsError: true, Outcome: agent.OutcomeFailed,
			Details: &agent.Details{Command: &agent.CommandResult{ExitCode: 3}}},
		agent.ToolCallEnd{CallID: "c4", Tool: "Read", Output: "a file with [Exit code 3]", Outcome: agent.OutcomeDone},
		agent.SteeringInjected{Text: "also the needle's eye"},
		agent.SteeringInjected{Text: "needle of the loop", ByLoop: true},
		agent.UserInput{Typed: "/knit a scarf", Text: "Knit a scarf by hand."},
	)
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"a text that is nowhere", "haystack", nil},
		{"all parts", "needle", []string{
			"message 0: also the needle's eye",
			"input c20: no JSON {needles",
			"output c11: needle, NEEDLE \x1b[31m\u202e" + strings.Repeat("word ", 6) + "wor",
			"output c10: needle, NEEDLE \x1b[31m\u202e" + strings.Repeat("word ", 4) + "word",
			"input c10: grep \"a needle\" a.txt 7000",
			"thinking 0: I think of a needle",
		}},
		{"what was typed, and what was made of it", "a scarf", []string{"prompt 0: Knit a scarf by hand.", "message 0: /knit a scarf"}},
		{"not the names of arguments", "timeout", nil},
		{"an argument's quotation marks and tab", `"a needle" a.txt`, []string{`input c10: grep "a needle" a.txt 7000`}},
		{"a number", "7000", []string{`input c10: grep "a needle" a.txt 7000`}},
		{"not the note of an exit code, which is hidden", "exit code", []string{
			"output c40: a file with [Exit code 3]", "output c30: exit code of it",
		}},
		{"characters of patterns", ".* FAIL?", []string{"message 0: Why does Straße.* fail? Start here"}},
		{"one white space for another", "fail? start", []string{"message 0: Why does Straße.* fail? Start here"}},
		{"a final sigma", "σίσυφοσ", []string{"message 0: The ΣΊΣΥΦΟΣ file"}},
		{"the capital of a sharp s", "STRAẞE", []string{"message 0: Why does Straße.* fail? Start here"}},
		{"the sign of Kelvin", "K broken", []string{"output l10: �� K broken bytes"}},
		{"a control character", "\x1b[31M", []string{"output c10: needle, NEEDLE \x1b[31m\u202e" + strings.Repeat("word ", 7) + "word"}},
	} {
		got := must[reading.FindReply](p, "conversation.find", reading.FindRequest{Session: session, Text: tt.text})
		if diff := cmp.Diff(tt.want, found(got.Hits)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// A long log is searched to its beginning, in parts that neither repeat nor
// leave out an event.
func TestFindInALongLog(t *testing.T) {
	t.Parallel()
	var payloads []agent.Payload
	for i := range 6000 {
		text := fmt.Sprintf("message %d", i)
		if i%1000 == 0 {
			text = fmt.Sprintf("Needle %d", i)
		}
		payloads = append(payloads, said(text, ""))
	}
	p, session := written(t, payloads...)
	var got []string
	calls := 0
	for before := int64(0); ; calls++ {
		reply := must[reading.FindReply](p, "conversation.find", reading.FindRequest{Session: session, Text: "needle", Before: before, Limit: 4})
		got = append(got, found(reply.Hits)...)
		if before = reply.Next; before == 0 {
			break
		}
	}
	want := []string{
		"message 0: Needle 5000", "message 0: Needle 4000", "message 0: Needle 3000", "message 0: Needle 2000", "message 0: Needle 1000", "message 0: Needle 0",
	}
	if diff := cmp.Diff(want, got); diff != "" || calls == 0 {
		t.Errorf("%s in %d calls", diff, calls+1)
	}
	first := must[reading.FindReply](p, "conversation.find", reading.FindRequest{Session: session, Text: "nowhere"})
	if first.Next == 0 || len(first.Hits) > 0 {
		t.Errorf("one call searched the whole log: %+v", first)
	}
	if _, err := call[reading.FindReply](p, "conversation.find", reading.FindRequest{Session: "other", Text: "x"}); err == nil {
		t.Error("a session that does not exist was searched")
	}
}

// A text that is nothing but hits does not fill the reply.
func TestFindIsBounded(t *testing.T) {
	t.Parallel()
	p, session := written(t, said(strings.Repeat("a", 1<<20), ""), said("an answer", ""))
	got := must[reading.FindReply](p, "conversation.find", reading.FindRequest{Session: session, Text: "A"})
	if len(got.Hits) != 102 || len(got.Hits[50].Snippet) > 200 {
		t.Errorf("%d hits, %q", len(got.Hits), got.Hits[50].Snippet)
	}
	same := must[reading.FindReply](p, "conversation.find", reading.FindRequest{Session: session, Text: strings.Repeat("a", 30_000)})
	if len(same.Hits) != 2 || len(same.Hits[0].Snippet) > 300 {
		t.Errorf("%d hits of a long text, %d bytes", len(same.Hits), len(same.Hits[0].Snippet))
	}
}

// stopping cancels a search while it reads its second page.
type stopping struct {
	*storage.Store
	cancel context.CancelFunc
	reads  int
}

func (s *stopping) Events(ctx context.Context, r backend.EventRange) ([]agent.Event, error) {
	if s.reads++; s.reads == 2 {
		s.cancel()
	}
	return s.Store.Events(ctx, r)
}

func TestFindEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	var store *stopping
	p := newPageOn(t, environment(llmtest.Serve(t), ""), func(s *storage.Store) backend.Store {
		store = &stopping{Store: s, cancel: func() {}}
		return store
	})
	session := p.session("compat")
	if _, err := store.Append(t.Context(), slices.Repeat([]agent.Event{{Session: session, At: 1, Data: said("needle", "")}}, 1000)...); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	store.cancel, store.reads = cancel, 0
	reply := p.bench.Call(ctx, "conversation.find", fmt.Sprintf(`{"session":%q,"text":"nowhere"}`, session))
	if store.reads != 2 || !strings.Contains(reply, `"error"`) {
		t.Errorf("%d reads after the caller left, answered %s", store.reads, reply)
	}
}
