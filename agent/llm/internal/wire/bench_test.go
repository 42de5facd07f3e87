package wire_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// BenchmarkStream measures reading an answer of 20,000 deltas.
func BenchmarkStream(b *testing.B) {
	round := llmtest.Round{
		Reasoning: strings.Repeat("thought ", 8000), Text: strings.Repeat("word ", 12000),
		Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"path": strings.Repeat("a/", 2000)})},
		Usage: llm.Usage{Input: 7, Output: 3, Known: true},
	}
	for _, a := range apis {
		b.Run(a.name, func(b *testing.B) {
			body := []byte(a.stream(round, 1))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write(body)
			}))
			defer server.Close()
			model := a.adapter(server.URL, secret, 0)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range model.Stream(b.Context(), ask("hi")) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
