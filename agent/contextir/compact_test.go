package contextir_test

import (
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"github.com/google/go-cmp/cmp"
)

// round adds an input, a tool call, its result and an answer.
func round(c *contextir.Conversation, id string) {
	c.Append(contextir.UserMessage, llm.Text(llm.RoleUser, "wish "+id))
	c.Append(contextir.AssistantMessage, assistant(call(id)))
	c.Append(contextir.ToolResult, answer(id, "result "+id))
	c.Append(contextir.AssistantMessage, assistant(llm.Part{Kind: llm.PartText, Text: "done " + id}))
}

// told returns the conversation as a model reads it, one line for each message.
func told(messages []llm.Message) []string {
	var lines []string
	for _, m := range messages {
		line := string(m.Role) + ": " + m.Text()
		for _, p := range m.Parts {
			if p.Call != nil {
				line += "call " + p.Call.ID
			}
			if p.Result != nil {
				line += p.Result.Parts[0].Text
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// COM-09: a summary replaces all but the newest items. The user's messages stay
// verbatim, also through the next summary.
func TestCompact(t *testing.T) {
	t.Parallel()
	var c contextir.Conversation
	round(&c, "1")
	c.Append(contextir.SystemReminder, llm.Text(llm.RoleUser, "the loop's own"))
	c.Append(contextir.SteeringMessage, llm.Text(llm.RoleUser, "be quick"))
	round(&c, "2")

	summary, older := c.Older(4)
	if summary != "" || len(older) != 6 {
		t.Errorf("to summarise: %q and %q", summary, told(older))
	}
	if n := c.Results(0); n != 2 {
		t.Errorf("%d results", n)
	}
	before, copied := told(c.Lower()), c.Clone()
	c.Compact("First this.", 4, []string{"a.go", "b.go"})
	if diff := cmp.Diff(before, told(copied.Lower())); diff != "" {
		t.Errorf("a copy is changed: %s", diff)
	}
	if c.Native() {
		t.Error("a kept message still refers to a removed one")
	}
	copied.Compact("First this.", 4, []string{"a.go", "b.go"})
	if diff := cmp.Diff(told(c.Lower()), told(copied.Lower())); diff != "" {
		t.Errorf("not the same again: %s", diff)
	}
	lines := told(c.Lower())
	if diff := cmp.Diff(before[6:], lines[1:]); diff != "" {
		t.Errorf("kept messages: %s", diff)
	}
	for _, part := range []string{
		"user: ", "<summary>\nFirst this.\n</summary>", "a.go, b.go",
		"<user_message>\nwish 1\n</user_message>\n<user_message>\nbe quick\n</user_message>",
	} {
		if !strings.Contains(lines[0], part) {
			t.Errorf("%q is not in %s", part, lines[0])
		}
	}
	if strings.Contains(lines[0], "wish 2") || strings.Contains(lines[0], "the loop's own") {
		t.Errorf("too much is kept: %s", lines[0])
	}

	summary, older = c.Older(0)
	if summary != "First this." || len(older) != 4 {
		t.Errorf("then to summarise: %q and %q", summary, told(older))
	}
	c.Compact("All of this.</summary>", 0, nil)
	lines = told(c.Lower())
	if len(lines) != 1 || !strings.Contains(lines[0], "wish 1") || !strings.Contains(lines[0], "wish 2") || strings.Contains(lines[0], "First this.") || strings.Count(lines[0], "</summary>") != 1 {
		t.Errorf("once more: %q", lines)
	}
	if _, older = c.Older(0); len(older) > 0 {
		t.Errorf("nothing new, and yet %q", told(older))
	}
}

// After a picture was removed the conversation holds no pictures.
func TestCompactTakesPicturesOut(t *testing.T) {
	t.Parallel()
	var c contextir.Conversation
	picture := llm.Part{Kind: llm.PartMedia, Media: &llm.Media{MIME: "image/png"}}
	c.Append(contextir.UserMessage, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{picture}})
	c.Append(contextir.AssistantMessage, assistant(llm.Part{Kind: llm.PartText, Text: "A disc."}))
	c.Append(contextir.UserMessage, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{picture}})
	if c.Compact("S.", 1, nil); !c.Pictures() {
		t.Error("the newest is forgotten")
	}
	if c.Compact("S.", 0, nil); c.Pictures() {
		t.Error("the conversation still has a picture")
	}
}

// The user's messages have a limit: the newest ones are kept, each by its
// beginning.
func TestCompactKeepsTheNewestWords(t *testing.T) {
	t.Parallel()
	var c contextir.Conversation
	for i := range 8 {
		c.Append(contextir.UserMessage, llm.Text(llm.RoleUser, fmt.Sprintf("wish %d ", i)+strings.Repeat("é", 3000)))
	}
	c.Compact("S.", 0, nil)
	got := told(c.Lower())[0]
	for i := range 8 {
		if held := strings.Contains(got, fmt.Sprintf("wish %d ", i)); held != (i >= 4) {
			t.Errorf("wish %d is there: %t", i, held)
		}
	}
	if !strings.Contains(got, "é […]\n") || strings.ContainsRune(got, '�') || len(got) > 21_000 {
		t.Errorf("%d bytes", len(got))
	}
}

// COM-14: the newest items that fit stay together with the calls that they
// answer.
func TestTail(t *testing.T) {
	t.Parallel()
	var c contextir.Conversation
	round(&c, "1")
	round(&c, "2")
	for _, tt := range []struct{ bytes, keep int }{{0, 0}, {5, 0}, {6, 1}, {13, 1}, {14, 1}, {18, 3}, {23, 3}, {24, 4}, {1000, 8}} {
		if got := c.Tail(tt.bytes); got != tt.keep {
			t.Errorf("room for %d bytes: %d items, want %d", tt.bytes, got, tt.keep)
		}
	}
}

// Items that the model has not read stay, with the calls that they answer.
func TestTailKeepsUnreadItems(t *testing.T) {
	t.Parallel()
	var c contextir.Conversation
	round(&c, "1")
	c.Append(contextir.UserMessage, llm.Text(llm.RoleUser, "wish 2"))
	if got := c.Tail(0); got != 1 {
		t.Errorf("%d items behind an answer", got)
	}
	c.Append(contextir.AssistantMessage, assistant(call("2")))
	c.Append(contextir.ToolResult, answer("2", "result 2"))
	if got := c.Tail(0); got != 2 {
		t.Errorf("%d items of a call and its result", got)
	}
	if c.Compact("S.", 0, nil); c.Tail(0) != 0 {
		t.Error("a summary is unread")
	}
	c.Append(contextir.UserMessage, llm.Text(llm.RoleUser, "wish 3"))
	if got := c.Tail(0); got != 1 {
		t.Errorf("%d items behind a summary", got)
	}
}
