package contextir_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"github.com/google/go-cmp/cmp"
)

// Old outputs make room, the oldest first and no more than requested. Messages
// stay, and so do outputs that the model has not read.
func TestElide(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 2000) // of two bytes
	build := func() *contextir.Conversation {
		c := &contextir.Conversation{}
		c.Append(contextir.UserMessage, llm.Text(llm.RoleUser, long))
		for _, id := range []string{"1", "2", "3"} {
			c.Append(contextir.AssistantMessage, assistant(call(id), call(id+"s")))
			c.Append(contextir.ToolResult, answer(id, long))
			c.Append(contextir.ToolResult, answer(id+"s", "short"))
		}
		c.Lower()
		return c
	}
	for _, tt := range []struct {
		bytes, gone int
		shortened   string
	}{{0, 0, ""}, {1, 3500, "1"}, {3500, 3500, "1"}, {3501, 7000, "12"}, {1 << 30, 7000, "12"}} {
		c := build()
		if got := c.Elide(tt.bytes); got != tt.gone {
			t.Errorf("Elide(%d) = %d, want %d", tt.bytes, got, tt.gone)
		}
		shortened := ""
		for _, m := range c.Lower() {
			if m.Role == llm.RoleUser && m.Text() != long {
				t.Error("the user's message was changed")
			}
			for _, p := range m.Parts {
				if p.Result == nil {
					continue
				}
				text := p.Result.Parts[0].Text
				if !utf8.ValidString(text) {
					t.Errorf("a character was split: %q", text)
				}
				if strings.Contains(text, "taken out") {
					shortened += p.Result.CallID
				}
			}
		}
		if shortened != tt.shortened {
			t.Errorf("Elide(%d) shortened %q, want %q", tt.bytes, shortened, tt.shortened)
		}
		again := build()
		again.Elide(tt.bytes)
		if diff := cmp.Diff(c.Lower(), again.Lower()); diff != "" {
			t.Errorf("not the same twice: %s", diff)
		}
		if n := c.Elide(1 << 30); n != 7000-tt.gone {
			t.Errorf("%d bytes were removed twice", n)
		}
	}
}

// COM-14: the requested number of newest results stay whole, read or not.
func TestElidable(t *testing.T) {
	t.Parallel()
	var c contextir.Conversation
	for _, id := range []string{"1", "2", "3"} {
		c.Append(contextir.AssistantMessage, assistant(call(id)))
		c.Append(contextir.ToolResult, answer(id, strings.Repeat("x", 2500)))
	}
	for _, tt := range []struct{ keep, bytes, results int }{{0, 4000, 2}, {1, 4000, 2}, {2, 2000, 1}, {3, 0, 0}, {5, 0, 0}} {
		bytes, results := c.Elidable(tt.keep)
		if bytes != tt.bytes || results != tt.results {
			t.Errorf("with %d kept: %d bytes of %d results", tt.keep, bytes, results)
		}
	}
	bytes, _ := c.Elidable(2)
	c.Elide(bytes)
	for i, m := range c.Lower() {
		if m.Role == llm.RoleTool && strings.Contains(m.Parts[0].Result.Parts[0].Text, "taken out") != (i == 1) {
			t.Errorf("message %d", i)
		}
	}
}

// A picture can be removed too, and leaves a word in its place.
func TestElidePicture(t *testing.T) {
	t.Parallel()
	var c contextir.Conversation
	c.Append(contextir.AssistantMessage, assistant(call("1")))
	shown := answer("1", "here")
	shown.Parts[0].Result.Parts = append(shown.Parts[0].Result.Parts, llm.Part{Kind: llm.PartMedia, Media: &llm.Media{MIME: "image/png"}})
	c.Append(contextir.ToolResult, shown)
	c.Append(contextir.AssistantMessage, assistant(llm.Part{Kind: llm.PartText, Text: "nice"}))
	if c.Elide(1) == 0 {
		t.Fatal("nothing was removed")
	}
	parts := c.Lower()[1].Parts[0].Result.Parts
	if len(parts) != 2 || parts[0].Text != "here" || parts[1].Media != nil || parts[1].Text == "" {
		t.Errorf("%+v", parts)
	}
}

// The output of a user's command is shortened like a tool's, once the model has
// read it.
func TestElideLocalCommand(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 2000)
	var c contextir.Conversation
	c.Append(contextir.LocalCommand, llm.Text(llm.RoleUser, long))
	if c.Elide(1) != 0 {
		t.Error("it was removed before it was read")
	}
	c.Append(contextir.AssistantMessage, assistant(llm.Part{Kind: llm.PartText, Text: "I see."}))
	if gone := c.Elide(1); gone != 3500 || c.Lower()[0].Text() == long {
		t.Errorf("%d bytes were removed", gone)
	}
}
