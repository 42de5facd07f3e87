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
	"atelier.dev/atelier/agent/llm/llmtest"
)

// An answer that is larger than any that makes sense ends with an error that
// says so, and is not asked for again.
func TestAnswersAreLimited(t *testing.T) {
	t.Parallel()
	word := strings.Repeat("x", 1<<20) + " "
	calls := make([]llmtest.Call, 300)
	for i := range calls {
		calls[i] = llmtest.Use("Read", map[string]any{"n": i})
	}
	for name, tt := range map[string]struct {
		round llmtest.Round
		says  string
	}{
		"text":      {llmtest.Round{Text: strings.Repeat(word, 17)}, "the answer was larger than 16 MB"},
		"arguments": {llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"n": strings.Repeat(word, 9)})}}, "a tool call was larger than 8 MB"},
		"calls":     {llmtest.Round{Calls: calls}, "more than 256 tool calls"},
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

// What a server compresses counts by what it comes to. One adapter stands for
// all, whose bytes are counted in the same place.
func TestCompressedAnswersAreLimited(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	comment := append(bytes.Repeat([]byte{':'}, 1<<20), '\n')
	for range 257 {
		if _, err := z.Write(comment); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	}))
	t.Cleanup(server.Close)
	_, _, err := llmtest.Collect(apis[0].adapter(server.URL, secret, 0).Stream(t.Context(), ask("hi")))
	if e := failure(t, err); e.Class != llm.ClassTooLarge || !strings.Contains(e.Message, "larger than 256 MB") {
		t.Errorf("got %v", e)
	}
}

// A list of models and the explanation of a failure have limits too.
func TestRepliesAreLimited(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"data": []any{map[string]any{"id": strings.Repeat("x", 17<<20)}}})
	}))
	t.Cleanup(server.Close)
	each(t, func(t *testing.T, a api) {
		status = http.StatusOK
		_, err := a.adapter(server.URL, secret, 0).Models(t.Context())
		if e := failure(t, err); e.Class != llm.ClassTooLarge || !strings.Contains(e.Message, "larger than 16 MB") {
			t.Errorf("a list of models: %v", e)
		}
		status = http.StatusInternalServerError
		_, _, err = llmtest.Collect(a.adapter(server.URL, secret, 0).Stream(t.Context(), ask("hi")))
		if e := failure(t, err); e.Class != llm.ClassServer || len(e.Message) > 4<<10 {
			t.Errorf("a failure: %.300v", e)
		}
	})
}
