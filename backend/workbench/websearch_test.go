package workbench_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/websearch"
	"atelier.dev/atelier/backend"
	chooser "atelier.dev/atelier/backend/websearch"
)

// searching is a provider whose model searches in the wire format of one vendor.
type searching struct {
	stream func(llmtest.Round, int) string
	// found adds to an answer what the vendor says of the pages that it found.
	found func(stream string) string
	call  string
	// asked is in the request that searches.
	asked string
}

var vendors = map[string]searching{
	"openai": {llmtest.ResponsesStream, func(s string) string {
		return strings.ReplaceAll(s, `"annotations":[]`, `"annotations":[{"type":"url_citation","start_index":0,"end_index":2,"url":"https://go.dev/doc","title":"Docs"}]`)
	}, "web_search", `"tools":[{"filters":{"allowed_domains":["go.dev"]},"type":"web_search"}]`},
	"anthropic": {llmtest.MessagesStream, func(s string) string {
		const block = `{"type":"content_block_start","index":7,"content_block":{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","url":"https://go.dev/doc","title":"Docs","encrypted_content":"x"}]}}`
		frames := "event: content_block_start\ndata: " + block + "\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":7}\n\n"
		return strings.Replace(s, "event: message_delta", frames+"event: message_delta", 1)
	}, "WebSearch", `"tools":[{"allowed_domains":["go.dev"],"max_uses":3,"name":"web_search","type":"web_search_20250305"}]`},
	"gemini": {llmtest.GenerateStream, func(s string) string {
		return strings.Replace(s, `"finishReason"`, `"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://go.dev/doc","title":"Docs"}}]},"finishReason"`, 1)
	}, "google_web_search", `"google_search":{}`},
}

// OAS-310: without a service of the user's, the provider of the session's model searches,
// in its own wire format; the pages that it names are kept with the call, and what it
// costs is in the ledger.
func TestProviderSearches(t *testing.T) {
	t.Parallel()
	for provider, vendor := range vendors {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var bodies []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost || strings.Contains(r.URL.Path, "countTokens") {
					http.NotFound(w, r)
					return
				}
				body, _ := io.ReadAll(r.Body)
				mu.Lock()
				defer mu.Unlock()
				bodies = append(bodies, string(body))
				w.Header().Set("Content-Type", "text/event-stream")
				usage := llm.Usage{Input: 100, Output: 10, Known: true}
				switch len(bodies) {
				case 1:
					_, _ = io.WriteString(w, vendor.stream(llmtest.Round{Calls: []llmtest.Call{llmtest.Use(vendor.call, args{"query": "go docs", "allowed_domains": []any{"go.dev"}})}, Usage: usage}, 1))
				case 2:
					_, _ = io.WriteString(w, vendor.found(vendor.stream(llmtest.Round{Text: "It is 1.26.", Usage: usage}, 2)))
				default:
					_, _ = io.WriteString(w, vendor.stream(llmtest.Round{Text: "Done.", Usage: usage}, 3))
				}
			}))
			t.Cleanup(server.Close)
			name := strings.ToUpper(provider)
			p := newPage(t, t.TempDir(), t.TempDir(), func(variable string) string {
				switch variable {
				case name + "_API_KEY":
					return "sk-test"
				case name + "_BASE_URL":
					if provider == "openai" {
						return server.URL + "/v1"
					}
					return server.URL
				}
				return ""
			})
			prefer(p, func(prefs *backend.Preferences) { prefs.PlainTitles = true })
			id := p.session(provider)
			p.send(id, "go")
			request := await(p, anyOf[agent.ApprovalRequest])
			if request.Tool != "WebSearch" || !request.Access.WebChosen || !strings.EqualFold(request.Access.Web, provider) {
				t.Errorf("asked %+v", request)
			}
			p.answer(backend.Approval{Session: id, Request: request}, agent.Answer{Decision: agent.Allow})
			side := await(p, anyOf[agent.SideRequest])
			if side.Purpose != agent.PurposeSearch || side.Provider != provider || side.Usage.Input != 100 {
				t.Errorf("%+v", side)
			}
			end := await(p, anyOf[agent.ToolCallEnd])
			var card websearch.Card
			if end.IsError || end.Details == nil || json.Unmarshal(end.Details.Card, &card) != nil {
				t.Fatalf("%+v", end)
			}
			if len(card.Hits) != 1 || card.Hits[0].URL != "https://go.dev/doc" || !strings.Contains(end.Output, "It is 1.26.\n\n1. Docs\n   https://go.dev/doc") {
				t.Errorf("%+v: %q", card, end.Output)
			}
			await(p, anyOf[agent.ProcessingEnd])
			if !strings.Contains(bodies[1], vendor.asked) {
				t.Errorf("the search was asked for with %s", bodies[1])
			}
		})
	}
}

// Without any search, the model is told how the user can set one up.
func TestNoSearch(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("web_search", args{"query": "x"})}}, llmtest.Round{Text: "Done."})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	p.send(id, "go")
	if end := await(p, anyOf[agent.ToolCallEnd]); !end.IsError || !strings.Contains(end.Output, "Settings → Keys → Web search") {
		t.Errorf("%+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
	state := must[chooser.SearchState](p, "websearch.set", chooser.SearchChange{SearchChoice: chooser.SearchChoice{Engine: "brave"}, Key: "k"})
	if len(state.Services) != 4 || !state.Services[1].Ready {
		t.Errorf("%+v", state)
	}
}
