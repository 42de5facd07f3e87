package transcript

import (
	"encoding/json"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// block is one part of a message in the form of Anthropic's API, in which Claude
// Code and the Open Agent SDK keep theirs.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// blocksOf returns the parts of a message's content, which may be a text; false if
// it is neither.
func blocksOf(content json.RawMessage) ([]block, bool) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []block{{Type: "text", Text: text}}, len(content) > 0
	}
	var raw []json.RawMessage
	if json.Unmarshal(content, &raw) != nil {
		return nil, false
	}
	out := make([]block, 0, len(raw))
	for _, r := range raw {
		var one block
		if json.Unmarshal(r, &one) != nil {
			one = block{}
		}
		out = append(out, one)
	}
	return out, true
}

// answers adds the parts of an answer.
func (b *builder) answers(id string, blocks []block) {
	for _, p := range blocks {
		switch p.Type {
		case "text":
			b.text(id, p.Text)
		case "thinking":
			b.reasoning(id, p.Thinking)
		case "redacted_thinking":
		case "tool_use", "server_tool_use":
			b.call(id, llm.ToolCall{ID: p.ID, Name: p.Name, Arguments: p.Input})
		default:
			b.found.Skipped++
		}
	}
}

// says adds the parts of a user's message: results of calls, and then an input.
func (b *builder) says(blocks []block) {
	var texts []string
	for _, p := range blocks {
		switch p.Type {
		case "text":
			texts = append(texts, p.Text)
		case "image", "document":
			texts = append(texts, b.picture())
		case "tool_result":
			b.result(p.ToolUseID, b.resultText(p.Content), p.IsError)
		default:
			b.found.Skipped++
		}
	}
	b.input(strings.Join(texts, "\n\n"))
}

// resultText returns the text of a result, which is a text or has parts.
func (b *builder) resultText(content json.RawMessage) string {
	if len(content) == 0 || string(content) == "null" {
		return ""
	}
	blocks, ok := blocksOf(content)
	if !ok {
		return string(content)
	}
	var texts []string
	for _, p := range blocks {
		switch {
		case p.Type == "image" || p.Type == "input_image":
			texts = append(texts, b.picture())
		case p.Text != "":
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
