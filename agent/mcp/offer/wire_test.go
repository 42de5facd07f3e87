package offer_test

import (
	"encoding/json"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/llm/provider"
	"atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/offer"
)

// LLM-38: every wire format carries the tools of ordinary and of hostile servers in a form
// that its strictest provider accepts.
func TestToolsOnTheWire(t *testing.T) {
	t.Parallel()
	odd := mcp.ServerTools{Server: "odd-one"}
	for name, schema := range offer.Hostile() {
		odd.Tools = append(odd.Tools, mcp.ToolStatus{
			Name: name, Model: mcp.ToolName("odd-one", name, func(string) bool { return false }), Description: "Does\u200b something.", Schema: json.RawMessage(schema), Tokens: 1,
		})
	}
	s := &servers{}
	s.set(hub("plain", "go"), odd)
	tools := offer.New(offer.Config{Servers: s}).More("p", "m").Show().Definitions()
	if len(tools) < len(odd.Tools) {
		t.Fatalf("%d tools of %d", len(tools), len(odd.Tools))
	}
	for id, base := range map[string]string{"openai": "OPENAI", "anthropic": "ANTHROPIC", "gemini": "GEMINI", "compat": "COMPAT"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t, llmtest.Round{Text: "ok"})
			client := provider.Client(func(name string) string {
				switch name {
				case "GEMINI_BASE_URL", "ANTHROPIC_BASE_URL":
					return server.Root
				case base + "_BASE_URL":
					return server.URL
				case base + "_API_KEY":
					return "k"
				}
				return ""
			})
			for _, err := range client.Stream(t.Context(), llm.Request{
				Provider: id, Model: "m", Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}, Tools: tools, MaxOutput: 100,
			}) {
				if err != nil {
					t.Fatal(err)
				}
			}
			var body any
			if err := json.Unmarshal(server.Requests()[0].Body, &body); err != nil {
				t.Fatal(err)
			}
			sent := 0
			for _, schema := range schemas(body) {
				sent++
				raw, _ := json.Marshal(schema)
				if fault := offer.RefusedBy(raw); fault != "" {
					t.Errorf("%s: %.300s", fault, raw)
				}
			}
			if sent != len(tools) {
				t.Errorf("%d of %d tools were sent", sent, len(tools))
			}
		})
	}
}

// schemas finds the schemas of tools in a request of any format.
func schemas(v any) (all []any) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			all = append(all, schemas(one)...)
		}
	case map[string]any:
		for key, one := range v {
			if key == "parameters" || key == "input_schema" || key == "parametersJsonSchema" {
				all = append(all, one)
			} else {
				all = append(all, schemas(one)...)
			}
		}
	}
	return all
}
