package llm_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
)

// LLM-21, LLM-23, LLM-24, LLM-28: every kind of content survives storage
// unchanged, including arguments that are not JSON, proofs, and a provider's
// own data.
func TestContentSurvivesStorage(t *testing.T) {
	t.Parallel()
	m := llm.Message{
		Role:   llm.RoleAssistant,
		Origin: &llm.Origin{Provider: "p", API: "messages", Model: "m", BaseURL: "https://x.example", ResponseID: "r1"},
		Parts: []llm.Part{
			{Kind: llm.PartText, Text: "<&> 你好", Native: json.RawMessage(`{"type":"text"}`)},
			{Kind: llm.PartMedia, Media: &llm.Media{MIME: "image/png", Name: "a.png", Data: []byte{0x89, 0, 0xff}}},
			{Kind: llm.PartMedia, Media: &llm.Media{MIME: "audio/wav", URL: "https://x.example/a.wav"}},
			{Kind: llm.PartMedia, Media: &llm.Media{MIME: "application/pdf", Data: []byte("%PDF")}},
			{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "hm", Signature: "s=="}},
			{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Encrypted: "e=="}}, // redacted
			{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "call_1", WireID: "w1", Name: "Look", Arguments: json.RawMessage(`{"n":9007199254740993, broken`)}},
			{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "call_2", Name: "Patch", Arguments: json.RawMessage("+\"a\"\n"), Custom: true}},
			{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: "call_1", WireID: "w1", Name: "Look", IsError: true, Parts: []llm.Part{
				{Kind: llm.PartText, Text: "no"}, {Kind: llm.PartMedia, Media: &llm.Media{MIME: "image/gif", Data: []byte("GIF89a")}},
			}}},
			{Kind: llm.PartNative, Native: json.RawMessage(`{"type":"web_search_call","id":"ws_1"}`)},
			{Kind: "hologram", Text: "of a kind that is not known yet"},
		},
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var got llm.Message
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, got); diff != "" {
		t.Error(diff)
	}
}

// LOOP-175: a freeform call can be given to a tool that takes JSON, and a JSON
// call to one that takes text.
func TestFreeformCallsInBothForms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, arguments string
		custom          bool
		input, text     string
	}{
		{"text", "+<a> \"b\"\n", true, `{"input":"+<a> \"b\"\n"}`, "+<a> \"b\"\n"},
		{"text that looks like JSON", `{"input":"x"}`, true, `{"input":"{\"input\":\"x\"}"}`, `{"input":"x"}`},
		{"nothing", "", true, `{"input":""}`, ""},
		{"JSON", `{ "input": "a\nb" }`, false, `{ "input": "a\nb" }`, "a\nb"},
		{"other JSON", `{"path":"x"}`, false, `{"path":"x"}`, `{"path":"x"}`},
		{"broken JSON", `{"input":"x`, false, `{"input":"x`, `{"input":"x`},
	} {
		c := llm.ToolCall{Arguments: json.RawMessage(tt.arguments), Custom: tt.custom}
		if got := string(c.Input()); got != tt.input {
			t.Errorf("%s: input %s, want %s", tt.name, got, tt.input)
		}
		if got := c.FreeformText(); got != tt.text {
			t.Errorf("%s: text %s, want %s", tt.name, got, tt.text)
		}
	}
}
