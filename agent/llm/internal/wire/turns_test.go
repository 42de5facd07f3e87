package wire_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// LLM-17 LLM-40 LLM-51: consecutive messages of one side are one turn, with
// results first. A longer conversation begins with the turns of a shorter one.
func TestTurns(t *testing.T) {
	t.Parallel()
	target := llm.Origin{Provider: "a"}
	call := llm.Message{Role: llm.RoleAssistant, Origin: &target, Parts: []llm.Part{{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "1", WireID: "w1"}}}}
	result := llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: "1"}}}}
	messages := []llm.Message{
		llm.Text(llm.RoleUser, "go"), llm.Text(llm.RoleDeveloper, "slowly"), {Role: llm.RoleAssistant, Parts: []llm.Part{}},
		llm.Text(llm.RoleAssistant, "I see."), call, llm.Text(llm.RoleUser, "wait"), result, llm.Text(llm.RoleUser, "stop"),
	}
	type turn = wire.Turn[string]
	lower := func(m llm.Message, ids *wire.IDs) (results, rest []string) {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				rest = append(rest, ids.Call(p.Call.ID))
			case p.Result != nil:
				results = append(results, ids.Result(p.Result))
			default:
				rest = append(rest, p.Text)
			}
		}
		return results, rest
	}
	first := turn{Rest: []string{"go", "slowly"}}
	second := turn{Assistant: true, Rest: []string{"I see.", "w1"}}
	for n, want := range map[int][]turn{
		0: nil,
		1: {{Rest: []string{"go"}}},
		3: {first},
		6: {first, second, {Rest: []string{"wait"}}},
		8: {first, second, {Results: []string{"w1"}, Rest: []string{"wait", "stop"}}},
	} {
		got := wire.Turns(target, messages[:n], lower)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d messages: %s", n, diff)
		}
		if n == 8 {
			if diff := cmp.Diff([]string{"w1", "wait", "stop"}, got[2].Items()); diff != "" {
				t.Error(diff)
			}
		}
	}
}
