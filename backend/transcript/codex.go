package transcript

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// codexLine is a line of a rollout of Codex. In older files the payload is the line
// itself.
type codexLine struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

// codexItem has the members of all items that are read.
type codexItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Summary json.RawMessage `json:"summary"`
	ID      string          `json:"id"`
	codexCall
	// Message is that of a compaction.
	Message string `json:"message"`
	CWD     string `json:"cwd"`
	Model   string `json:"model"`
	Info    struct {
		Last *codexUsage `json:"last_token_usage"`
	} `json:"info"`
}

// codexCall is a call or its result.
type codexCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     string          `json:"input"`
	CallID    string          `json:"call_id"`
	Output    json.RawMessage `json:"output"`
	Action    struct {
		Command []string `json:"command"`
	} `json:"action"`
}

type codexUsage struct {
	Input     int64 `json:"input_tokens"`
	Cached    int64 `json:"cached_input_tokens"`
	Output    int64 `json:"output_tokens"`
	Reasoning int64 `json:"reasoning_output_tokens"`
}

// readCodex reads a rollout of Codex.
func readCodex(ctx context.Context, file io.ReadSeeker, size int64, b *builder) error {
	for raw, err := range lines(ctx, io.LimitReader(file, size)) {
		if err != nil {
			return err
		}
		if len(raw) == 0 && raw != nil {
			continue
		}
		if b.codexLine(raw); b.stopped {
			return nil
		}
	}
	return nil
}

// codexLine adds a line.
func (b *builder) codexLine(raw []byte) {
	var line codexLine
	var item codexItem
	if raw == nil || json.Unmarshal(raw, &line) != nil {
		b.found.Skipped++
		return
	}
	kind, payload := line.Type, line.Payload
	if payload == nil { // an older file
		kind, payload = "response_item", raw
		if line.Type == "" {
			kind = "session_meta"
		}
	}
	if json.Unmarshal(payload, &item) != nil {
		b.found.Skipped++
		return
	}
	b.whenText(line.Timestamp)
	switch kind {
	case "session_meta":
		b.found.ID, b.found.Folder = cmp.Or(b.found.ID, item.ID), cmp.Or(b.found.Folder, item.CWD)
	case "turn_context":
		b.model = cmp.Or(clean(item.Model), b.model)
		b.found.Folder = cmp.Or(b.found.Folder, item.CWD)
	case "compacted":
		b.compacted(item.Message)
	case "event_msg":
		b.codexEvent(item)
	case "response_item":
		b.codexItem(item)
	default:
		b.found.Skipped++
	}
	if b.answer != nil {
		b.answer.provider, b.answer.model = "openai", b.model
	}
}

// codexEvent adds what the items do not say.
func (b *builder) codexEvent(e codexItem) {
	switch e.Type {
	case "token_count":
		if u := e.Info.Last; u != nil && b.answer != nil {
			cached := natural(u.Cached)
			b.answer.usage = llm.Usage{
				Input: max(natural(u.Input)-cached, 0), CacheRead: cached,
				Output: natural(u.Output), Reasoning: natural(u.Reasoning), Known: true,
			}
			b.settle()
		}
	case "turn_aborted":
		b.turn.interrupted = true
		b.end()
	}
}

// codexItem adds an item of the conversation.
func (b *builder) codexItem(it codexItem) {
	switch it.Type {
	case "message":
		b.codexMessage(it)
	case "reasoning":
		text := codexText(it.Summary)
		if text == "" {
			text = codexText(it.Content)
		}
		b.reasoning("", text)
	case "function_call":
		var text string
		arguments := it.Arguments
		if json.Unmarshal(arguments, &text) == nil {
			arguments = json.RawMessage(text)
		}
		b.call("", llm.ToolCall{ID: it.CallID, Name: it.Name, Arguments: arguments})
	case "custom_tool_call":
		b.call("", llm.ToolCall{ID: it.CallID, Name: it.Name, Arguments: json.RawMessage(it.Input), Custom: true})
	case "local_shell_call":
		arguments, err := json.Marshal(map[string][]string{"command": it.Action.Command})
		if err != nil {
			b.found.Skipped++
			return
		}
		b.call("", llm.ToolCall{ID: cmp.Or(it.CallID, it.ID), Name: "local_shell", Arguments: arguments})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		output, failed := b.codexOutput(it.Output)
		b.result(it.CallID, output, failed)
	case "web_search_call", "ghost_snapshot", "compaction", "compaction_summary":
	default:
		b.found.Skipped++
	}
}

func (b *builder) codexMessage(it codexItem) {
	blocks, ok := blocksOf(it.Content)
	if !ok {
		b.found.Skipped++
		return
	}
	if it.Role == "assistant" {
		for _, p := range blocks {
			b.text("", p.Text)
		}
		return
	}
	if it.Role != "user" {
		return // instructions for another program
	}
	var texts []string
	for _, p := range blocks {
		switch {
		case p.Type == "input_image":
			texts = append(texts, b.picture())
		case !codexNote(p.Text):
			texts = append(texts, p.Text)
		}
	}
	b.input(strings.Join(texts, "\n\n"))
}

// codexNote reports whether a text is not the user's, but what Codex tells the model of
// the surroundings.
func codexNote(text string) bool {
	text = strings.TrimSpace(text)
	for _, mark := range []string{"<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<permissions instructions>", "<turn_aborted>", "<INSTRUCTIONS>"} {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	return false
}

// codexText joins the texts of a list of parts.
func codexText(parts json.RawMessage) string {
	blocks, _ := blocksOf(parts)
	var texts []string
	for _, p := range blocks {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// codexOutput returns a result, which is a text, an object around one, a text that is
// such an object, or a list of parts.
func (b *builder) codexOutput(output json.RawMessage) (text string, failed bool) {
	var wrapped struct {
		Content  string `json:"content"`
		Output   string `json:"output"`
		Success  *bool  `json:"success"`
		Metadata struct {
			Exit int `json:"exit_code"`
		} `json:"metadata"`
	}
	if json.Unmarshal(output, &text) == nil {
		if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &wrapped) != nil || wrapped.Output == "" {
			return text, false
		}
		return wrapped.Output, wrapped.Metadata.Exit != 0
	}
	if json.Unmarshal(output, &wrapped) == nil {
		return cmp.Or(wrapped.Content, wrapped.Output), wrapped.Success != nil && !*wrapped.Success
	}
	return b.resultText(output), false
}
