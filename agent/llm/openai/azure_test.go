package openai_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/llm/openai"
)

// detour sends every request to a test's server and keeps the intended
// addresses.
type detour struct {
	server *llmtest.Server
	asked  []string
}

func (d *detour) RoundTrip(req *http.Request) (*http.Response, error) {
	d.asked = append(d.asked, req.URL.String())
	here, err := url.Parse(d.server.URL + req.URL.Path[strings.LastIndex(req.URL.Path, "/"):])
	if err != nil {
		return nil, err
	}
	to := req.Clone(req.Context())
	to.URL = here
	return http.DefaultTransport.RoundTrip(to)
}

// Azure is called over Responses at its own form of address, with the key in
// its own header. A conversation with tools and reasoning is sent back
// unchanged.
func TestAzure(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ address, want string }{
		"a host":            {"https://shop.openai.azure.com", "https://shop.openai.azure.com/openai/v1/responses"},
		"the v1 API":        {"https://shop.openai.azure.com/openai/v1/", "https://shop.openai.azure.com/openai/v1/responses"},
		"half of it":        {"https://shop.openai.azure.com/openai", "https://shop.openai.azure.com/openai/v1/responses"},
		"a whole call":      {"https://shop.openai.azure.com/openai/v1/responses", "https://shop.openai.azure.com/openai/v1/responses"},
		"a version":         {"https://shop.openai.azure.com/?api-version=2025-04-01-preview", "https://shop.openai.azure.com/openai/responses?api-version=2025-04-01-preview"},
		"a deployment":      {"https://shop.openai.azure.com/openai/deployments/mine?api-version=2025-04-01-preview", "https://shop.openai.azure.com/openai/responses?api-version=2025-04-01-preview"},
		"its call":          {"https://shop.openai.azure.com/openai/deployments/mine/chat/completions?api-version=v", "https://shop.openai.azure.com/openai/responses?api-version=v"},
		"v1 with a version": {"https://shop.services.ai.azure.com/openai/v1?api-version=preview", "https://shop.services.ai.azure.com/openai/v1/responses?api-version=preview"},
		"a gateway":         {"http://gateway.example/llm", "http://gateway.example/llm/responses"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t,
				llmtest.Round{Reasoning: "hm", Calls: []llmtest.Call{llmtest.Use("Read", map[string]string{"path": "a"})}}, llmtest.Round{Text: "done"})
			way := &detour{server: server}
			a := openai.NewAzure("azure", openai.Config{BaseURL: tt.address, APIKey: "the-secret-key", HTTPClient: &http.Client{Transport: way}})
			req := llm.Request{
				Provider: "azure", Model: "my-deployment", Effort: llm.EffortHigh, Messages: []llm.Message{llm.Text(llm.RoleUser, "read a")},
				Tools: []llm.ToolSpec{{Name: "Read", Schema: json.RawMessage(`{"type":"object"}`)}},
			}
			_, first, err := llmtest.Collect(a.Stream(t.Context(), req))
			if err != nil {
				t.Fatal(err)
			}
			calls := first.Message.Calls()
			if len(calls) != 1 || calls[0].Name != "Read" || first.Message.Origin.Provider != "azure" {
				t.Fatalf("answered %+v", first.Message)
			}
			req.Messages = append(req.Messages, first.Message, llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{
				Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: calls[0].ID, Name: "Read", Parts: []llm.Part{{Kind: llm.PartText, Text: "content of a"}}},
			}}})
			if _, _, err := llmtest.Collect(a.Stream(t.Context(), req)); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Models(t.Context()); err != nil {
				t.Fatal(err)
			}
			models := strings.Replace(tt.want, "/responses", "/models", 1)
			if len(way.asked) != 3 || way.asked[0] != tt.want || way.asked[1] != tt.want || way.asked[2] != models {
				t.Errorf("asked %q, want %s and %s", way.asked, tt.want, models)
			}
			for _, r := range server.Requests() {
				if r.Header.Get("Api-Key") != "the-secret-key" || r.Header.Get("Authorization") != "" {
					t.Errorf("%s is sent %v", r.Path, r.Header)
				}
			}
			for i, wants := range [][]string{
				{`"model":"my-deployment"`, `"tools":[{`, `"effort":"high"`, `"store":false`},
				{`"type":"reasoning"`, `"encrypted_content"`, `"function_call_output"`, "content of a"},
			} {
				for _, want := range wants {
					if body := string(server.Requests()[i].Body); !strings.Contains(body, want) {
						t.Errorf("request %d has no %s: %s", i+1, want, body)
					}
				}
			}
		})
	}
}

// The host of an address tells whether it needs Responses.
func TestServes(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"https://api.openai.com/v1": true, " https://api.openai.com ": true, "https://shop.openai.azure.com/openai/v1": true,
		"https://api.openai.com.example/v1": false, "https://gateway.example/api.openai.com": false, "": false, "://": false,
	} {
		if got := openai.Serves(address); got != want {
			t.Errorf("Serves(%q) = %v", address, got)
		}
	}
}
