package openai_test

import (
	"errors"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/llm/openai"
)

// An account that OpenAI has not verified may not see summaries: after the
// first refusal none is requested.
func TestUnverifiedAccount(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Status: 400, Body: `{"error":{"message":"Your organization must be verified to generate reasoning summaries.","type":"invalid_request_error","param":"reasoning.summary","code":"unsupported_value"}}`},
		llmtest.Round{Text: "hi"}, llmtest.Round{Text: "hi"})
	model := openai.New(openai.Config{BaseURL: server.URL, APIKey: "key"})
	req := llm.Request{Model: "m", Effort: llm.EffortLow, Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}
	for i := range 3 {
		_, _, err := llmtest.Collect(model.Stream(t.Context(), req))
		var e *llm.Error
		if errors.As(err, &e); (i == 0) != (e != nil) || e != nil && !e.Retryable {
			t.Errorf("request %d: %v", i, err)
		}
		if body := string(server.Requests()[i].Body); strings.Contains(body, "summary") != (i == 0) {
			t.Errorf("request %d: %s", i, body)
		}
	}
}
