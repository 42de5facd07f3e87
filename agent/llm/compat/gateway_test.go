package compat_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// Only OpenRouter is asked to cache, for the models that need it, and only its
// cost is in dollars.
func TestGateway(t *testing.T) {
	t.Parallel()
	const stream = `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"cost":0.00123}}` + "\n\n"
	openrouter := func(c compat.Config) llm.Adapter {
		for _, p := range compat.Presets() {
			if p.ID == "openrouter" {
				return p.New(c)
			}
		}
		panic("no OpenRouter")
	}
	other := func(c compat.Config) llm.Adapter { return compat.New(c) }
	for name, tt := range map[string]struct {
		adapter func(compat.Config) llm.Adapter
		req     llm.Request
		marked  bool
		charged llm.Cost
	}{
		"Claude":     {openrouter, llm.Request{Model: "anthropic/claude-opus-5"}, true, llm.Dollar * 123 / 100_000},
		"no cache":   {openrouter, llm.Request{Model: "anthropic/claude-opus-5", Options: llm.Options{NoCache: true}}, false, llm.Dollar * 123 / 100_000},
		"another":    {openrouter, llm.Request{Model: "openai/gpt-6"}, false, llm.Dollar * 123 / 100_000},
		"no gateway": {other, llm.Request{Model: "anthropic/claude-opus-5"}, false, 0},
	} {
		server := llmtest.Serve(t, llmtest.Round{Body: stream})
		_, answer, err := llmtest.Collect(tt.adapter(compat.Config{BaseURL: server.URL}).Stream(t.Context(), tt.req))
		if err != nil {
			t.Fatal(err)
		}
		body := string(server.Requests()[0].Body)
		if got := strings.Contains(body, `"cache_control":{"type":"ephemeral"}`); got != tt.marked || answer.Usage.Charged != tt.charged {
			t.Errorf("%s: marked %v, charged %v: %s", name, got, answer.Usage.Charged, body)
		}
	}
}

// The values of an endpoint's own headers do not reach its errors, however the
// endpoint quotes them.
func TestHeadersAreSecret(t *testing.T) {
	t.Parallel()
	header := http.Header{"X-Team": {"canary team/7"}, "X-Gateway": {"Bearer canary-token-8"}}
	for _, said := range []string{
		"bad header X-Team: canary team/7", "no team canary+team%2F7", "Y2FuYXJ5IHRlYW0vNw is not base64", "Bearer canary-token-8 is over", "the token canary-token-8 is over",
	} {
		body, err := json.Marshal(map[string]any{"error": map[string]any{"message": said, "code": said}})
		if err != nil {
			t.Fatal(err)
		}
		server := llmtest.Serve(t, llmtest.Round{Status: 400, Body: string(body)}, llmtest.Round{Body: "data: " + string(body) + "\n\n"})
		a := compat.New(compat.Config{BaseURL: server.URL, Header: header})
		for range 2 {
			_, _, err := llmtest.Collect(a.Stream(t.Context(), llm.Request{Model: "m"}))
			var e *llm.Error
			if !errors.As(err, &e) || strings.Contains(e.Message+e.Code, "canary") || strings.Contains(e.Message, "Y2Fu") || !strings.Contains(e.Message, "[key]") {
				t.Errorf("%s: %+v", said, e)
			}
		}
		if got := server.Requests()[0].Header.Get("X-Team"); got != header.Get("X-Team") {
			t.Errorf("sent %q", got)
		}
	}
}
