package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// chunk has the fields of a chunk that are read. P is a part: as it was sent
// if it is to be sent back, and otherwise decoded, which is quicker.
type chunk[P part | json.RawMessage] struct {
	ResponseID string `json:"responseId"`
	Candidates []struct {
		Content struct {
			Parts []P `json:"parts"`
		} `json:"content"`
		FinishReason  string `json:"finishReason"`
		FinishMessage string `json:"finishMessage"`
		// Grounding names the pages that Gemini's own search found.
		Grounding json.RawMessage `json:"groundingMetadata"`
	} `json:"candidates"`
	Feedback struct {
		Reason  string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *usage          `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

// errSent means that a chunk with a success status contains an error.
var errSent = errors.New("the server sent an error")

// part has the fields of a part that are read. A part with neither text nor a
// call is kept unchanged.
type part struct {
	Text      *string       `json:"text,omitempty"`
	Thought   bool          `json:"thought,omitempty"`
	Signature string        `json:"thoughtSignature,omitempty"`
	Call      *functionCall `json:"functionCall,omitempty"`
}

// kind is what the text of a part is.
func (p part) kind() llm.PartKind {
	if p.Thought {
		return llm.PartReasoning
	}
	return llm.PartText
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type usage struct {
	Prompt   int64 `json:"promptTokenCount"`
	ToolUse  int64 `json:"toolUsePromptTokenCount"`
	Cached   int64 `json:"cachedContentTokenCount"`
	Answer   int64 `json:"candidatesTokenCount"`
	Thoughts int64 `json:"thoughtsTokenCount"`
}

// neutral makes the counts disjoint: the prompt includes cached tokens, the
// answer does not include thoughts (LLM-29).
func (u *usage) neutral() llm.Usage {
	return llm.Usage{
		Input: max(0, u.Prompt+u.ToolUse-u.Cached), CacheRead: u.Cached,
		Output: u.Answer + u.Thoughts, Reasoning: u.Thoughts, Known: true,
	}
}

// none stands for no open block.
const none = -1

// decoder turns the chunks of one answer into neutral events.
type decoder struct {
	builder *wire.Builder
	open    int // text or reasoning that may continue, or none
	kind    llm.PartKind
	// reason and detail say why the answer ended, once it has ended.
	reason, detail string
	blocked        bool // before it began
	ended          bool
}

func (d *decoder) chunk(raw json.RawMessage) error {
	var text chunk[part]
	if json.Unmarshal(raw, &text) == nil && isText(text) {
		return take(d, raw, text, d.text)
	}
	var c chunk[json.RawMessage]
	if err := wire.Unmarshal(raw, &c); err != nil {
		return fmt.Errorf("read a chunk: %w", err)
	}
	return take(d, raw, c, d.part)
}

// isText reports whether a chunk has only parts that nothing is kept of but
// their text.
func isText(c chunk[part]) bool {
	return len(c.Candidates) > 0 && !slices.ContainsFunc(c.Candidates[0].Content.Parts, func(p part) bool {
		return p.Text == nil || p.Signature != "" || p.Call != nil
	})
}

// take takes a chunk, and passes its parts on.
func take[P part | json.RawMessage](d *decoder, raw json.RawMessage, c chunk[P], next func(P)) error {
	if c.Usage != nil {
		d.builder.Count(c.Usage.neutral()) // totals: the last counts are valid
	}
	if wire.Present(c.Error) {
		return errSent
	}
	d.builder.SetResponseID(c.ResponseID)
	d.builder.Start()
	if c.Feedback.Reason != "" {
		d.reason, d.detail, d.blocked, d.ended = c.Feedback.Reason, c.Feedback.Message, true, true
	}
	if len(c.Candidates) == 0 {
		if c.Usage == nil && c.Feedback.Reason == "" {
			d.builder.Provider(raw)
		}
		return nil
	}
	answer := c.Candidates[0]
	for _, p := range answer.Content.Parts {
		next(p)
	}
	if wire.Present(answer.Grounding) {
		grounding, err := json.Marshal(map[string]json.RawMessage{"groundingMetadata": answer.Grounding})
		if err != nil {
			return err
		}
		d.builder.Provider(grounding)
	}
	if answer.FinishReason != "" {
		d.reason, d.detail, d.ended = answer.FinishReason, answer.FinishMessage, true
	}
	return nil
}

// part takes a part. Texts of consecutive parts make up one block, but a part
// with a signature must be sent back unchanged (LLM-28).
func (d *decoder) part(raw json.RawMessage) {
	var p part
	if json.Unmarshal(raw, &p) != nil {
		// A field of another type would be refused when it is sent back.
		if raw = wire.JSON(p); p.Text == nil && p.Call == nil {
			return
		}
	}
	switch {
	case p.Call != nil:
		d.close()
		d.call(p.Call, raw)
	case p.Text == nil, *p.Text == "" && p.Signature != "":
		d.close()
		d.builder.AddNative(raw)
	case p.Signature != "":
		d.close()
		d.grow(p.kind(), *p.Text)
		if p.Thought {
			d.builder.Reasoning(d.open).Signature = p.Signature
		}
		d.builder.Close(d.open, raw)
		d.open = none
	default:
		d.text(p)
	}
}

// text takes a part of which only its text matters.
func (d *decoder) text(p part) {
	if *p.Text != "" {
		d.grow(p.kind(), *p.Text)
	}
}

// call takes a call, which always arrives complete. Its id, if it has one, and
// its signature are sent back with it.
func (d *decoder) call(c *functionCall, raw json.RawMessage) {
	i := d.builder.Open(llm.Part{Kind: llm.PartToolCall, Call: &llm.ToolCall{
		ID: wire.NewCallID(), WireID: c.ID, Name: c.Name,
	}})
	if string(c.Args) == "null" {
		raw = withoutArgs(raw)
	} else {
		d.builder.Append(i, string(c.Args))
	}
	d.builder.Close(i, raw)
}

// withoutArgs returns a part with a call whose arguments are null, in the form
// that the API accepts, including its signature.
func withoutArgs(part json.RawMessage) json.RawMessage {
	var members, call map[string]json.RawMessage
	if json.Unmarshal(part, &members) != nil || json.Unmarshal(members["functionCall"], &call) != nil {
		return part
	}
	delete(call, "args")
	members["functionCall"] = wire.JSON(call)
	return wire.JSON(members)
}

// grow appends to the open block, or to a new one of another kind.
func (d *decoder) grow(kind llm.PartKind, text string) {
	if d.open != none && d.kind != kind {
		d.close()
	}
	if d.open == none {
		p := llm.Part{Kind: kind}
		if kind == llm.PartReasoning {
			p.Reasoning = &llm.Reasoning{}
		}
		d.open, d.kind = d.builder.Open(p), kind
	}
	d.builder.Append(d.open, text)
}

func (d *decoder) close() {
	if d.open != none {
		d.builder.Close(d.open, nil)
		d.open = none
	}
}

func (d *decoder) finish() {
	d.close()
	reason := finishReason(d.reason)
	switch {
	case d.blocked:
		reason = llm.FinishContentFilter
	case reason == llm.FinishStop && d.builder.HasCalls():
		reason = llm.FinishToolCalls
	}
	d.builder.Finish(d.builder.Counted(), llm.Finish{Reason: reason, Raw: d.reason, Detail: d.detail})
}

// finishReason maps the end of an answer (LLM-27).
func finishReason(reason string) llm.FinishReason {
	switch reason {
	case "STOP":
		return llm.FinishStop
	case "MAX_TOKENS":
		return llm.FinishLength
	case "SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "RECITATION":
		return llm.FinishContentFilter
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
		return llm.FinishBadToolCall
	case "OTHER":
		return llm.FinishError
	default:
		return llm.FinishOther
	}
}
