package contextir_test

import (
	"encoding/json"
	"fmt"
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

// A list that was returned may still be read, so later items, late results and
// changes of the conversation leave it alone.
func TestLoweredListsStay(t *testing.T) {
	t.Parallel()
	type list struct {
		got  []llm.Message
		want string
	}
	var lists []list
	var c contextir.Conversation
	lowered := func(c *contextir.Conversation) []llm.Message {
		got := c.Lower()
		lists = append(lists, list{got, fmt.Sprintf("%+v", told(got))})
		return got
	}
	for i := range 50 {
		id := fmt.Sprint(i)
		for _, step := range []func(){
			func() { c.Append(contextir.AssistantMessage, assistant(call(id), call(id+"b"))) },
			func() { c.Append(contextir.ToolResult, answer(id+"b", "second")) },
			func() { c.Append(contextir.SteeringMessage, llm.Text(llm.RoleUser, "and "+id)) },
			func() { c.Append(contextir.ToolResult, answer(id, "first")) },
		} {
			step()
			got := lowered(&c)
			_ = append(got, llm.Text(llm.RoleUser, "the caller's own")) // is not in the conversation
		}
		copied := c.Clone()
		copied.Append(contextir.UserMessage, llm.Text(llm.RoleUser, "only in the copy"))
		lowered(copied)
		if i%10 == 9 {
			c.DropNative()
		}
	}
	for i, l := range lists {
		if got := fmt.Sprintf("%+v", told(l.got)); got != l.want {
			t.Fatalf("list %d has become\n%s\nand was\n%s", i, got, l.want)
		}
	}
}

// Once its calls are answered, a round is lowered in place, and its messages
// stay the same when the next one follows.
func TestAnsweredRoundsAreNotCopied(t *testing.T) {
	t.Parallel()
	var c contextir.Conversation
	var last []llm.Message
	copies := 0
	for i := range 200 {
		id := fmt.Sprint(i)
		c.Append(contextir.AssistantMessage, assistant(call(id)))
		c.Append(contextir.ToolResult, answer(id, "found"))
		got := c.Lower()
		for j := range last {
			if &got[j].Parts[0] != &last[j].Parts[0] {
				t.Fatalf("round %d: message %d was lowered again", i, j)
			}
		}
		if len(last) > 0 && &got[0] != &last[0] {
			copies++
		}
		last = got
	}
	if copies > 20 {
		t.Errorf("the list was copied %d times in 200 rounds", copies)
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
