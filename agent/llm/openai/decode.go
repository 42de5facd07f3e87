package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// decoder turns the events of one response into neutral ones. Each output
// item becomes one block.
type decoder struct {
	builder *wire.Builder
	call    *wire.Call
	items   map[int64]item // by output index
	refusal string
	// done says that the terminal event, or an error, has arrived.
	done bool
}

type item struct {
	block int
	kind  llm.PartKind
}

func newDecoder(b *wire.Builder, c *wire.Call) *decoder {
	return &decoder{builder: b, call: c, items: map[int64]item{}}
}

// event has the fields of an event that are read; each kind has some of them.
type event struct {
	Type        string          `json:"type"`
	OutputIndex int64           `json:"output_index"`
	Delta       string          `json:"delta"`
	Item        json.RawMessage `json:"item"`
	Response    response        `json:"response"`
	Error       json.RawMessage `json:"error"`
}

func (d *decoder) event(raw json.RawMessage) {
	var ev event
	if err := wire.Unmarshal(raw, &ev); err != nil {
		d.fail(d.call.Error(fmt.Errorf("read an event: %w", err)))
		return
	}
	switch ev.Type {
	case "response.created":
		d.builder.SetResponseID(ev.Response.ID)
		d.builder.Start()
	case "response.output_item.added":
		d.added(ev.OutputIndex, ev.Item)
	case "response.output_text.delta", "response.refusal.delta":
		d.append(ev.OutputIndex, llm.PartText, ev.Delta)
	case "response.reasoning_summary_part.added":
		if i := d.block(ev.OutputIndex, llm.PartReasoning); d.builder.Len(i) > 0 {
			d.builder.Append(i, "\n\n")
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		d.append(ev.OutputIndex, llm.PartReasoning, ev.Delta)
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		d.append(ev.OutputIndex, llm.PartToolCall, ev.Delta)
	case "response.output_item.done":
		d.itemDone(ev.OutputIndex, ev.Item)
	case "response.completed":
		d.finish(ev.Response, llm.FinishStop)
	case "response.incomplete":
		d.finish(ev.Response, incomplete(ev.Response.Incomplete.Reason))
	case "response.failed":
		d.builder.Count(ev.Response.Usage.neutral())
		d.fail(d.call.Reported(ev.Response.Error.Code, ev.Response.Error.Message))
	case "error":
		d.fail(d.call.ReportedBody(raw))
	case "response.in_progress", "response.queued", "response.content_part.added", "response.content_part.done",
		"response.output_text.done", "response.refusal.done", "response.reasoning_summary_part.done",
		"response.reasoning_summary_text.done", "response.reasoning_text.done", "response.function_call_arguments.done",
		"response.custom_tool_call_input.done":
		// The item's own end repeats all of it.
	default:
		if wire.Present(ev.Error) {
			d.fail(d.call.ReportedBody(raw))
			return
		}
		d.builder.Provider(raw)
	}
}

// block returns the block of an output item, and opens one if the item was
// never announced.
func (d *decoder) block(index int64, kind llm.PartKind) int {
	if it, ok := d.items[index]; ok && it.kind == kind {
		return it.block
	}
	part := llm.Part{Kind: kind}
	switch kind {
	case llm.PartReasoning:
		part.Reasoning = &llm.Reasoning{}
	case llm.PartToolCall:
		part.Call = &llm.ToolCall{ID: wire.NewCallID()}
	}
	return d.open(index, part)
}

func (d *decoder) open(index int64, part llm.Part) int {
	i := d.builder.Open(part)
	d.items[index] = item{i, part.Kind}
	return i
}

func (d *decoder) append(index int64, kind llm.PartKind, delta string) {
	d.builder.Append(d.block(index, kind), delta)
}

// outputItem has the fields of an item that are read.
type outputItem struct {
	Type string `json:"type"`
	// Of a message and of reasoning; a part of a message has one of them.
	Content []struct {
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	// Of reasoning.
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
	Encrypted string `json:"encrypted_content"`
	// Of a call; it has one of the last two.
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Input     string `json:"input"`
}

// The kinds of item that are tool calls.
const (
	functionCall = "function_call"
	customCall   = "custom_tool_call"
)

func newItem(raw json.RawMessage) outputItem {
	var it outputItem
	_ = wire.Unmarshal(raw, &it) // it was already decoded as part of an event
	return it
}

func (d *decoder) added(index int64, raw json.RawMessage) {
	switch it := newItem(raw); it.Type {
	case "message":
		d.block(index, llm.PartText)
	case "reasoning":
		d.block(index, llm.PartReasoning)
	case functionCall, customCall:
		d.openCall(index, it)
	}
}

func (d *decoder) openCall(index int64, it outputItem) {
	d.open(index, llm.Part{Kind: llm.PartToolCall, Call: &llm.ToolCall{
		ID: wire.NewCallID(), WireID: it.CallID, Name: it.Name, Custom: it.Type == customCall,
	}})
}

// itemDone takes the item's final form, which the next request sends back.
func (d *decoder) itemDone(index int64, raw json.RawMessage) {
	switch it := newItem(raw); it.Type {
	case "message":
		i := d.block(index, llm.PartText)
		d.builder.Replace(i, d.messageText(it))
		d.builder.Close(i, raw)
	case "reasoning":
		i := d.block(index, llm.PartReasoning)
		d.builder.Replace(i, reasoningText(it))
		d.builder.Reasoning(i).Encrypted = it.Encrypted
		d.builder.Close(i, raw)
	case functionCall, customCall:
		if known, ok := d.items[index]; !ok || known.kind != llm.PartToolCall {
			d.openCall(index, it)
		}
		i := d.block(index, llm.PartToolCall)
		call := d.builder.Call(i)
		call.WireID, call.Name, call.Custom = it.CallID, it.Name, it.Type == customCall
		d.builder.Replace(i, it.Arguments+it.Input)
		if it.CallID == "" || !call.Custom && wire.NoArguments(it.Arguments) {
			raw = nil // it would be refused in the form in which it came
		}
		d.builder.Close(i, raw)
	default:
		d.builder.AddNative(raw)
	}
}

// messageText joins the text of a message, and notes whether it is a refusal.
func (d *decoder) messageText(m outputItem) string {
	var text strings.Builder
	for _, c := range m.Content {
		text.WriteString(c.Text + c.Refusal)
		d.refusal += c.Refusal
	}
	return text.String()
}

func reasoningText(r outputItem) string {
	var parts []string
	for _, s := range r.Summary {
		parts = append(parts, s.Text)
	}
	if len(parts) > 0 {
		return strings.Join(parts, "\n\n")
	}
	for _, c := range r.Content {
		parts = append(parts, c.Text)
	}
	return strings.Join(parts, "")
}

// incomplete maps the reason of an incomplete response (LLM-27).
func incomplete(reason string) llm.FinishReason {
	switch reason {
	case "max_output_tokens":
		return llm.FinishLength
	case "content_filter":
		return llm.FinishContentFilter
	default:
		return llm.FinishOther
	}
}

// response has the fields of the whole answer that are read.
type response struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Usage *usage `json:"usage"`
}

type usage struct {
	Input     int64 `json:"input_tokens"`
	InDetails struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Output     int64 `json:"output_tokens"`
	OutDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// neutral makes the counts disjoint: input_tokens includes the cached ones
// (LLM-29).
func (u *usage) neutral() llm.Usage {
	if u == nil {
		return llm.Usage{}
	}
	return llm.Usage{
		Input:     max(0, u.Input-u.InDetails.Cached-u.InDetails.Written),
		CacheRead: u.InDetails.Cached, CacheWrite: u.InDetails.Written,
		Output: u.Output, Reasoning: u.OutDetails.Reasoning, Known: true,
	}
}

func (d *decoder) finish(r response, reason llm.FinishReason) {
	finish := llm.Finish{Reason: reason, Raw: r.Status}
	if why := r.Incomplete.Reason; why != "" {
		finish.Raw = why
	}
	if reason == llm.FinishStop {
		switch {
		case d.builder.HasCalls():
			finish.Reason = llm.FinishToolCalls
		case d.refusal != "":
			finish.Reason, finish.Detail = llm.FinishRefusal, d.refusal
		}
	}
	d.builder.SetResponseID(r.ID)
	d.builder.Finish(r.Usage.neutral(), finish)
	d.done = true
}

func (d *decoder) fail(err *llm.Error) {
	d.done = true
	d.builder.Fail(err)
}
