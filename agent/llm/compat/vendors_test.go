package compat_test

import (
	"errors"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// Single vendors end their answers in their own forms.
func TestVendorsEnds(t *testing.T) {
	t.Parallel()
	const said = `data: {"id":"1","choices":[{"index":0,"delta":{"content":"hi"}}]}` + "\n\n"
	for name, tt := range map[string]struct {
		end    string
		usage  llm.Usage
		finish llm.FinishReason
		class  llm.Class // if it is an error
	}{
		"xAI counts reasoning apart": {
			end: `{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":115,` +
				`"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":100}}}`,
			usage: llm.Usage{Input: 6, CacheRead: 4, Output: 105, Reasoning: 100, Known: true}, finish: llm.FinishStop,
		},
		"others do not": {
			end:   `{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":105,"total_tokens":115,"completion_tokens_details":{"reasoning_tokens":100}}}`,
			usage: llm.Usage{Input: 10, Output: 105, Reasoning: 100, Known: true}, finish: llm.FinishStop,
		},
		"Kimi's cached tokens": {
			end:   `{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":10,"completion_tokens":5,"cached_tokens":8}}]}`,
			usage: llm.Usage{Input: 2, CacheRead: 8, Output: 5, Known: true}, finish: llm.FinishStop,
		},
		"a full window":    {end: `{"choices":[{"delta":{},"finish_reason":"model_context_window_exceeded"}]}`, finish: llm.FinishContextOverflow},
		"max_tokens":       {end: `{"choices":[{"delta":{},"finish_reason":"max_tokens"}]}`, finish: llm.FinishLength},
		"OpenRouter's end": {end: `{"choices":[{"delta":{},"finish_reason":"stop"}],"error":{"code":502,"message":"Provider disconnected"}}`, class: llm.ClassServer},
		"OpenRouter's failed chunk": {
			end:   `{"choices":[{"delta":{},"finish_reason":"error"}],"usage":{"prompt_tokens":10,"completion_tokens":5},"error":{"code":502,"message":"Provider disconnected"}}`,
			usage: llm.Usage{Input: 10, Output: 5, Known: true}, class: llm.ClassServer,
		},
		"after a finish":    {end: `{"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n" + `data: {"error":{"code":429,"message":"slow down"}}`, class: llm.ClassRateLimit},
		"llama.cpp's error": {end: "\n\n" + `error: {"code":400,"message":"exceeds the available context size"}`, class: llm.ClassContextOverflow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t, llmtest.Round{Body: said + "data: " + tt.end + "\n\n"})
			_, answer, err := llmtest.Collect(compat.New(compat.Config{BaseURL: server.URL}).Stream(t.Context(), llm.Request{Model: "m"}))
			var e *llm.Error
			if errors.As(err, &e); tt.class != "" {
				if e == nil || e.Class != tt.class || e.Usage != tt.usage {
					t.Errorf("got %+v, %v", answer, err)
				}
				return
			}
			if err != nil || answer.Usage != tt.usage || answer.Finish.Reason != tt.finish {
				t.Errorf("got %+v, %v", answer, err)
			}
		})
	}
}
