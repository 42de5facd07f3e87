package contextir_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
)

// A call that a provider may refuse is sent as text in the same place. A call
// with an odd id changes nothing but the id. A copy stays as it is.
func TestCleanCalls(t *testing.T) {
	t.Parallel()
	made := func(id, wire, name, arguments string) llm.Part {
		return llm.Part{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: id, WireID: wire, Name: name, Arguments: json.RawMessage(arguments)}}
	}
	var c contextir.Conversation
	c.Append(contextir.UserMessage, llm.Text(llm.RoleUser, "go"))
	c.Append(contextir.AssistantMessage, assistant(made("1", "w1", "Look", `{}`), made("2", "w2", "Look", `{"a`), made("3", "a:b", "Look", `{}`), made("4", "", "a.b", `{}`), made("5", strings.Repeat("w", 65), "Look", `{}`)))
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		c.Append(contextir.ToolResult, answer(id, "result "+id))
	}
	before := c.Clone()
	if !c.Malformed() {
		t.Fatal("nothing is found")
	}
	c.CleanCalls()
	if c.Malformed() || !before.Malformed() {
		t.Errorf("malformed: %v; before: %v", c.Malformed(), before.Malformed())
	}
	got := c.Lower()
	var parts []string
	for _, p := range got[1].Parts {
		if p.Call != nil {
			parts = append(parts, p.Call.ID+" "+p.Call.WireID)
		} else {
			parts = append(parts, p.Text)
		}
	}
	if diff := cmp.Diff([]string{"1 w1", `[A call of the tool "Look" with {"a]`, "3 ", `[A call of the tool "a.b" with {}]`, "5 "}, parts); diff != "" {
		t.Error(diff)
	}
	want := []string{"user: go", "assistant: " + parts[1] + parts[3] + "call 1call 3call 5", "tool: result 1result 3result 5",
		"user: [What the call of the tool \"Look\" gave back]\nresult 2", "user: [What the call of the tool \"Look\" gave back]\nresult 4"}
	if diff := cmp.Diff(want, told(got)); diff != "" {
		t.Error(diff)
	}
}
