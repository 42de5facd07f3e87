package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// LOOP-29, LOOP-175, LLM-28: a freeform tool is sent as a custom one, with its
// grammar if it has one. The model's call is sent back unchanged, and the
// result in the same form.
func TestFreeformTool(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Calls: []llmtest.Call{llmtest.Custom("Patch", "+a\n")}}, llmtest.Round{}, llmtest.Round{})
	schema := json.RawMessage(`{"type":"object","properties":{"input":{"type":"string"}}}`)
	req := llm.Request{
		CacheKey: "s", Messages: []llm.Message{llm.Text(llm.RoleUser, "go")},
		Tools: []llm.ToolSpec{
			{Name: "Patch", Description: "Patches.", Schema: schema, Freeform: &llm.Freeform{Grammar: "start: LF"}},
			{Name: "Say", Description: "Says.", Schema: schema, Freeform: &llm.Freeform{}},
		},
		Options: llm.Options{ToolChoice: llm.ToolChoice{Mode: llm.ToolNamed, Tool: "Patch"}},
	}
	_, answer := stream(t, server, req)
	if diff := cmp.Diff([]string{
		`{"name":"Patch","description":"Patches.","format":{"definition":"start: LF","syntax":"lark","type":"grammar"},"type":"custom"}`,
		`{"name":"Say","description":"Says.","format":{"type":"text"},"type":"custom"}`,
		`{"name":"Patch","type":"custom"}`,
	}, wireTools(t, server)); diff != "" {
		t.Error(diff)
	}

	call := answer.Message.Calls()[0]
	req.Options = llm.Options{}
	req.Messages = append(req.Messages, answer.Message, llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{
		Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: call.ID, WireID: call.WireID, Name: call.Name, Parts: []llm.Part{
			{Kind: llm.PartText, Text: "Done."}, {Kind: llm.PartMedia, Media: &llm.Media{MIME: "image/png", Name: "a.png"}},
		}},
	}}})
	stream(t, server, req)
	if diff := cmp.Diff([]string{
		`{"content":"go","role":"user"}`,
		`{"call_id":"wire_1_0","id":"ctc_wire_1_0","input":"+a\n","name":"Patch","status":"completed","type":"custom_tool_call"}`,
		`{"call_id":"wire_1_0","output":"Done.\n[a.png (image/png) was left out: it cannot be sent to this model]","type":"custom_tool_call_output"}`,
	}, inputs(sent(t, server))); diff != "" {
		t.Error(diff)
	}

	req.Tools[0].Freeform = nil // a model that only knows functions
	stream(t, server, req)
	if diff := cmp.Diff([]string{
		`{"content":"go","role":"user"}`,
		`{"arguments":"{\"input\":\"+a\\n\"}","call_id":"wire_1_0","name":"Patch","type":"function_call"}`,
		`{"output":[{"text":"Done.","type":"input_text"},{"image_url":"data:image/png;base64,","type":"input_image"}],"call_id":"wire_1_0","type":"function_call_output"}`,
	}, inputs(sent(t, server))); diff != "" {
		t.Error(diff)
	}
}

// wireTools returns the tools and the tool choice of the last request.
func wireTools(t *testing.T, s *llmtest.Server) []string {
	t.Helper()
	requests := s.Requests()
	var r struct {
		Tools  []json.RawMessage `json:"tools"`
		Choice json.RawMessage   `json:"tool_choice"`
	}
	if err := json.Unmarshal(requests[len(requests)-1].Body, &r); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, raw := range append(r.Tools, r.Choice) {
		out = append(out, string(raw))
	}
	return out
}
