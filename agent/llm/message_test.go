package llm_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
)

// LLM-21, LLM-23, LLM-24, LLM-28: every kind of content survives storage as it
// came: also arguments that are no JSON, proofs, and what only a provider
// understands.
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
