package contextir_test

import (
	"encoding/json"
	"testing"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"github.com/google/go-cmp/cmp"
)

func call(id string) llm.Part {
	return llm.Part{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: id, WireID: "w" + id, Name: "Look"}}
}

func assistant(parts ...llm.Part) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Parts: parts, Origin: &llm.Origin{Provider: "p"}}
}

func answer(id, text string) llm.Message {
	return llm.Message{Role: llm.RoleTool, Parts: []llm.Part{contextir.Answer(llm.ToolCall{ID: id, WireID: "w" + id, Name: "Look"}, text, false)}}
}

// COM-12, LLM-40, LOOP-06: every call is answered once, in the order of the
// calls and right after the message that made it. Results without a call and
// messages without content are left out.
func TestLower(t *testing.T) {
	t.Parallel()
	var c contextir.Conversation
	c.Append(contextir.UserMessage, llm.Text(llm.RoleUser, "go"))
	c.Append(contextir.AssistantMessage, assistant(call("1"), call("2"), call("3")))
	c.Append(contextir.ToolResult, answer("3", "three"))
	c.Append(contextir.ToolResult, answer("1", "one"))
	c.Append(contextir.ToolResult, answer("stray", "nobody asked"))
	c.Append(contextir.AssistantMessage, assistant())
	c.Append(contextir.SteeringMessage, llm.Text(llm.RoleUser, "only the header"))

	got := c.Lower()
	var roles []llm.Role
	for _, m := range got {
		roles = append(roles, m.Role)
	}
	if diff := cmp.Diff([]llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleTool, llm.RoleUser}, roles); diff != "" {
		t.Fatal(diff)
	}
	var answered []string
	for _, p := range got[2].Parts {
		answered = append(answered, p.Result.CallID)
	}
	if diff := cmp.Diff([]string{"1", "2", "3"}, answered); diff != "" {
		t.Error(diff)
	}
	if missing := got[2].Parts[1].Result; !missing.IsError || missing.WireID != "w2" {
		t.Errorf("the missing answer: %+v", missing)
	}
}

// An empty result gets a text, because some providers refuse an empty one.
func TestEmptyAnswer(t *testing.T) {
	t.Parallel()
	if got := contextir.Answer(llm.ToolCall{}, "", false).Result.Parts[0].Text; got == "" {
		t.Error("an empty text")
	}
}

// Data that only a provider understands can be removed.
func TestDropNative(t *testing.T) {
	t.Parallel()
	var c contextir.Conversation
	c.Append(contextir.AssistantMessage, assistant(llm.Part{Kind: llm.PartText, Text: "plain"}))
	if c.Native() {
		t.Error("plain text counts as native")
	}
	c.Append(contextir.AssistantMessage, assistant(llm.Part{Kind: llm.PartText, Text: "hi", Native: json.RawMessage(`{}`)}))
	if !c.Native() {
		t.Error("native bytes were not seen")
	}
	c.DropNative()
	if c.Native() || c.Lower()[1].Origin != nil || c.Lower()[1].Text() != "hi" {
		t.Errorf("after: %+v", c.Lower())
	}
}

// Lowering after each item or once at the end gives the same messages, and
// settled messages stay identical.
func TestLowerIsIncremental(t *testing.T) {
	t.Parallel()
	var each, once contextir.Conversation
	add := func(typ contextir.ItemType, m llm.Message) {
		each.Append(typ, m)
		once.Append(typ, m)
		each.Lower()
	}
	for _, id := range []string{"1", "2", "3"} {
		add(contextir.UserMessage, llm.Text(llm.RoleUser, "go "+id))
		add(contextir.AssistantMessage, assistant(call(id), call(id+"b")))
		add(contextir.ToolResult, answer(id+"b", "second"))
		add(contextir.SteeringMessage, llm.Text(llm.RoleUser, "and "+id))
		add(contextir.ToolResult, answer(id, "first"))
	}
	if diff := cmp.Diff(once.Lower(), each.Lower()); diff != "" {
		t.Error(diff)
	}
	first, again := each.Lower(), each.Lower()
	if &first[1].Parts[0] != &again[1].Parts[0] || &first[2].Parts[0] != &again[2].Parts[0] {
		t.Error("settled messages were lowered again")
	}
}

func BenchmarkLower(b *testing.B) {
	var c contextir.Conversation
	for range 500 {
		c.Append(contextir.AssistantMessage, assistant(call("1")))
		c.Append(contextir.ToolResult, answer("1", "one"))
	}
	for b.Loop() {
		c.Lower()
	}
}
