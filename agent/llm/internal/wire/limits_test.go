package wire_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// An answer that is larger than any sensible one ends with an error that says
// so, and is not requested again.
func TestAnswersAreLimited(t *testing.T) {
	t.Parallel()
	word := strings.Repeat("x", 1<<16) + " "
	for name, tt := range map[string]struct {
		round llmtest.Round
		says  string
	}{
		"text":      {llmtest.Round{Text: strings.Repeat(word, 5)}, "the answer was larger than"},
		"arguments": {llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"n": strings.Repeat(word, 3)})}}, "a tool call was larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, a api) {
				server := llmtest.Serve(t, tt.round)
				_, _, err := llmtest.Collect(a.adapter(a.url(server), secret, 0).Stream(t.Context(), ask("hi")))
				if e := failure(t, err); e.Class != llm.ClassTooLarge || e.Retryable || !e.Sent || !strings.Contains(e.Message, tt.says) {
					t.Errorf("got %+v, want %q", e, tt.says)
				}
			})
		})
	}
}

// Only the first calls of an answer with very many calls are kept. The others
// are counted, and the cost is known.
func TestCallsAreLimited(t *testing.T) {
	t.Parallel()
	const most, more = 256, 20
	calls := make([]llmtest.Call, most+more)
	for i := range calls {
		calls[i] = llmtest.Use("Read", map[string]any{"n": i})
	}
	round := llmtest.Round{Text: "Look!", Calls: calls, Usage: llm.Usage{Input: 1, Output: 2, Known: true}}
	each(t, func(t *testing.T, a api) {
		server := llmtest.Serve(t, round)
		events, answer, err := llmtest.Collect(a.adapter(a.url(server), secret, 0).Stream(t.Context(), ask("hi")))
		if err != nil {
			t.Fatal(err)
		}
		llmtest.Check(t, events)
		kept := answer.Message.Calls()
		if len(kept) != most || answer.LeftOut != more || answer.Usage != round.Usage || answer.Finish.Reason != llm.FinishToolCalls {
			t.Fatalf("%d calls kept, %d left out, usage %+v, finish %+v", len(kept), answer.LeftOut, answer.Usage, answer.Finish)
		}
		if last := string(kept[most-1].Arguments); last != `{"n":255}` {
			t.Errorf("the last call that is kept is %s", last)
		}
	})
}

// A block that is not kept can be completed like any other, even if blocks of
// other kinds were opened after it.
func TestBlocksBeyondTheCallsAreComplete(t *testing.T) {
	t.Parallel()
	b := wire.NewBuilder(llm.Origin{}, func(llm.Event, error) bool { return true })
	call, reasoning := llm.Part{Kind: llm.PartToolCall}, llm.Part{Kind: llm.PartReasoning}
	for range 257 {
		call.Call = &llm.ToolCall{}
		b.Open(call)
	}
	last := b.Open(call)
	b.Open(llm.Part{Kind: llm.PartText})
	b.Call(last).Name = "Read"
	reasoning.Reasoning = &llm.Reasoning{}
	thought := b.Open(reasoning)
	b.Open(call)
	b.Reasoning(thought).Signature = "s"
	b.Close(thought, nil)
}

// An answer with too many parts ends with an error, whatever kind of part is one
// too many and however its adapter completes it.
func TestPartsAreLimited(t *testing.T) {
	t.Parallel()
	for _, kind := range []llm.PartKind{llm.PartText, llm.PartReasoning, llm.PartToolCall} {
		var ended error
		b := wire.NewBuilder(llm.Origin{}, func(_ llm.Event, err error) bool {
			ended = err
			return err == nil
		})
		for range 10_000 {
			b.Open(llm.Part{Kind: llm.PartText})
		}
		part := llm.Part{Kind: kind}
		if kind == llm.PartToolCall {
			part.Call = &llm.ToolCall{}
		}
		for range 2 {
			i := b.Open(part)
			b.Append(i, "x")
			b.Replace(i, "y")
			b.Call(i).Name = "Read"
			b.Reasoning(i).Signature = "s"
			if b.Len(i) != 0 || b.Text(i) != "" {
				t.Errorf("%s: a part too many has the text %q", kind, b.Text(i))
			}
			b.Close(i, nil)
		}
		if e := failure(t, ended); e.Class != llm.ClassTooLarge || !strings.Contains(e.Message, "more than 10000 parts") {
			t.Errorf("%s: got %v", kind, e)
		}
	}
}

// The limit applies to the decompressed size. One adapter stands for all,
// because their bytes are counted in the same place.
func TestCompressedAnswersAreLimited(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	comment := append(bytes.Repeat([]byte{':'}, 1<<20), '\n')
	if _, err := z.Write(comment); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	bomb.Write(bytes.Repeat(bomb.Bytes(), 4)) // parts that are compressed one by one are read as one
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	}))
	t.Cleanup(server.Close)
	_, _, err := llmtest.Collect(apis[0].adapter(server.URL, secret, 0).Stream(t.Context(), ask("hi")))
	if e := failure(t, err); e.Class != llm.ClassTooLarge || !strings.Contains(e.Message, "the answer was larger than") {
		t.Errorf("got %v", e)
	}
}

// A list of models and the text of a failure have limits too.
func TestRepliesAreLimited(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"data": []any{map[string]any{"id": strings.Repeat("x", 3<<17)}}})
	}))
	t.Cleanup(server.Close)
	each(t, func(t *testing.T, a api) {
		status = http.StatusOK
		_, err := a.adapter(server.URL, secret, 0).Models(t.Context())
		if e := failure(t, err); e.Class != llm.ClassTooLarge || !strings.Contains(e.Message, "larger than") {
			t.Errorf("a list of models: %v", e)
		}
		status = http.StatusInternalServerError
		_, _, err = llmtest.Collect(a.adapter(server.URL, secret, 0).Stream(t.Context(), ask("hi")))
		if e := failure(t, err); e.Class != llm.ClassServer || len(e.Message) > 4<<10 {
			t.Errorf("a failure: %.300v", e)
		}
	})
}
