package wire_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// LLM-17 LLM-40 LLM-51: consecutive messages of one side are one turn, with
// results first. Messages that were sent before are reused from memory, and no
// turn changes them.
func TestTurns(t *testing.T) {
	t.Parallel()
	target := llm.Origin{Provider: "a"}
	call := llm.Message{Role: llm.RoleAssistant, Origin: &target, Parts: []llm.Part{{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "1", WireID: "w1"}}}}
	result := llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: "1"}}}}
	messages := []llm.Message{
		llm.Text(llm.RoleUser, "go"), llm.Text(llm.RoleDeveloper, "slowly"), {Role: llm.RoleAssistant, Parts: []llm.Part{}},
		llm.Text(llm.RoleAssistant, "I see."), call, llm.Text(llm.RoleUser, "wait"), result, llm.Text(llm.RoleUser, "stop"),
	}
	want := []string{
		`{"role":"user","parts":["go","slowly"]}`,
		`{"role":"model","parts":["I see.","w1"]}`,
		`{"role":"user","parts":["w1","wait","stop"]}`,
	}
	var e wire.Encodings
	encoded := 0
	array := func(messages []llm.Message) string {
		t.Helper()
		turns, err := wire.Turns(&e, "s", target, messages, func(m llm.Message, ids *wire.IDs) (results, rest []string) {
			encoded++
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
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(bytes.Join(wire.Names{Content: "parts", User: "user", Assistant: "model"}.Array(turns), nil))
	}
	// The result is new, whereas its call and the text since then are known.
	for _, tt := range []struct {
		messages, encoded int
		want              string
	}{
		{0, 0, "[]"},
		{1, 1, `[{"role":"user","parts":["go"]}]`},
		{6, 5, "[" + want[0] + "," + want[1] + `,{"role":"user","parts":["wait"]}]`},
		{8, 2, "[" + want[0] + "," + want[1] + "," + want[2] + "]"},
		{8, 0, "[" + want[0] + "," + want[1] + "," + want[2] + "]"},
		{2, 0, "[" + want[0] + "]"},
	} {
		encoded = 0
		if diff := cmp.Diff(tt.want, array(messages[:tt.messages])); diff != "" || encoded != tt.encoded {
			t.Errorf("%d messages: %d encoded, want %d %s", tt.messages, encoded, tt.encoded, diff)
		}
	}
}
