package anthropic_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// LLM-27
func TestFinish(t *testing.T) {
	t.Parallel()
	for stop, want := range map[string]llm.Finish{
		`"end_turn"`:                      {Reason: llm.FinishStop, Raw: "end_turn"},
		`"stop_sequence"`:                 {Reason: llm.FinishStop, Raw: "stop_sequence"},
		`"tool_use"`:                      {Reason: llm.FinishToolCalls, Raw: "tool_use"},
		`"max_tokens"`:                    {Reason: llm.FinishLength, Raw: "max_tokens"},
		`"pause_turn"`:                    {Reason: llm.FinishPause, Raw: "pause_turn"},
		`"model_context_window_exceeded"`: {Reason: llm.FinishContextOverflow, Raw: "model_context_window_exceeded"},
		`"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":null}`: {Reason: llm.FinishRefusal, Raw: "refusal", Detail: "cyber"},
		`"brand_new"`: {Reason: llm.FinishOther, Raw: "brand_new"},
		`null`:        {Reason: llm.FinishOther},
	} {
		body := "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":" + stop + "}}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
		_, answer := stream(t, llmtest.Serve(t, llmtest.Round{Body: body}), llm.Request{})
		if diff := cmp.Diff(want, answer.Finish); diff != "" {
			t.Errorf("%s: %s", stop, diff)
		}
		if answer.Usage.Known {
			t.Errorf("usage %+v is not known", answer.Usage)
		}
	}
}

// LLM-42: an error inside the stream comes with a status of success.
func TestErrorsInStream(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]llm.Class{
		"overloaded_error": llm.ClassOverloaded, "rate_limit_error": llm.ClassRateLimit, "api_error": llm.ClassServer,
		"timeout_error": llm.ClassServer, "authentication_error": llm.ClassAuth, "permission_error": llm.ClassPermission,
		"not_found_error": llm.ClassNotFound, "invalid_request_error": llm.ClassInvalid, "billing_error": llm.ClassQuota,
		"request_too_large": llm.ClassContextOverflow,
	} {
		_, _, err := collect(t, llmtest.Serve(t, llmtest.Round{Text: "half", Error: kind}), llm.Request{})
		var e *llm.Error
		if !errors.As(err, &e) || e.Class != want || e.Code != kind || !e.Sent || e.Status != 0 {
			t.Errorf("%s gives %+v, want class %s", kind, e, want)
		}
	}
}

// LLM-42 LLM-44
func TestRefusals(t *testing.T) {
	t.Parallel()
	body := func(kind, message string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_1"}`
	}
	for name, tt := range map[string]struct {
		round llmtest.Round
		want  llm.Class
	}{
		"too long": {llmtest.Round{Status: 400, Body: body("invalid_request_error", "prompt is too long: 205000 tokens > 200000 maximum")}, llm.ClassContextOverflow},
		"no room":  {llmtest.Round{Status: 400, Body: body("invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 2")}, llm.ClassContextOverflow},
		"credit":   {llmtest.Round{Status: 400, Body: body("invalid_request_error", "Your credit balance is too low to access the API.")}, llm.ClassQuota},
		"bad key":  {llmtest.Round{Status: 401, Body: body("authentication_error", "invalid x-api-key")}, llm.ClassAuth},
		"busy":     {llmtest.Round{Status: 529, Body: body("overloaded_error", "Overloaded")}, llm.ClassOverloaded},
	} {
		_, _, err := collect(t, llmtest.Serve(t, tt.round), llm.Request{})
		var e *llm.Error
		if !errors.As(err, &e) || e.Class != tt.want || e.Status != tt.round.Status {
			t.Errorf("%s gives %+v, want class %s", name, e, tt.want)
		}
	}
}

// An answer into which a second one is spliced has halves of both, so it is
// requested again.
func TestSplicedAnswers(t *testing.T) {
	t.Parallel()
	whole := llmtest.MessagesStream(llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"n": 1})}}, 1)
	first, _, _ := strings.Cut(whole, "event: message_delta")
	server := llmtest.Serve(t, llmtest.Round{Body: first + whole})
	_, answer, err := collect(t, server, llm.Request{})
	var e *llm.Error
	if !errors.As(err, &e) || !e.Retryable || answer != nil {
		t.Errorf("got %v, %v", answer, err)
	}
}
