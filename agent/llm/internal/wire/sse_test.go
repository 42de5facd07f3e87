package wire_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// LLM-53: an event stream is read in every form that its standard allows, with
// lines of any length.
func TestFormsOfEventStreams(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000) // one delta is far longer than a reader's buffer
	round := llmtest.Round{Text: "Hello " + long, Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"text": long})},
		Usage: llm.Usage{Input: 7, Output: 3, Known: true}}
	forms := map[string]func(string) string{
		"as it is":     func(s string) string { return s },
		"CRLF":         func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"no space":     func(s string) string { return strings.ReplaceAll(s, "data: ", "data:") },
		"comments":     func(s string) string { return ": ping\n\n" + strings.ReplaceAll(s, "\n\n", "\n\n: still here\n\n") },
		"ids, retries": func(s string) string { return strings.ReplaceAll(s, "data: ", "id: 7\nretry: 3000\ndata: ") },
		"CR":           func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
		"a BOM":        func(s string) string { return "\uFEFF" + s },
		"no last line": func(s string) string { return strings.TrimRight(s, "\n") },
		"blank lines":  func(s string) string { return "\n\n" + strings.ReplaceAll(s, "\n\n", "\n\n\n\n") },
	}
	each(t, func(t *testing.T, a api) {
		for name, form := range forms {
			server := llmtest.Serve(t, llmtest.Round{Body: form(a.stream(round, 1))})
			_, answer, err := llmtest.Collect(a.adapter(a.url(server), secret, 0).Stream(t.Context(), ask("hi")))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			checkAnswer(t, a, *answer, round)
		}
	})
}

// LLM-53: data that is spread over several lines is one value.
func TestDataOverSeveralLines(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, a api) {
		round := llmtest.Round{Text: "Hello.", Usage: llm.Usage{Input: 7, Output: 3, Known: true}}
		spread := strings.ReplaceAll(a.stream(round, 1), "data: {", "data: {\ndata: ")
		server := llmtest.Serve(t, llmtest.Round{Body: spread})
		_, answer, err := llmtest.Collect(a.adapter(a.url(server), secret, 0).Stream(t.Context(), ask("hi")))
		if err != nil {
			t.Fatal(err)
		}
		checkAnswer(t, a, *answer, round)
	})
}
