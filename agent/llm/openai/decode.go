package openai

import (
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3/responses"

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

func (d *decoder) event(ev responses.ResponseStreamEventUnion) {
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
		d.finish(ev.Response, incomplete(ev.Response.IncompleteDetails.Reason))
	case "response.failed":
		d.builder.Count(usage(ev.Response))
		d.fail(d.call.Reported(string(ev.Response.Error.Code), ev.Response.Error.Message))
	case "error":
		d.fail(d.call.ReportedBody([]byte(ev.RawJSON())))
	case "response.in_progress", "response.queued", "response.content_part.added", "response.content_part.done",
		"response.output_text.done", "response.refusal.done", "response.reasoning_summary_part.done",
		"response.reasoning_summary_text.done", "response.reasoning_text.done", "response.function_call_arguments.done",
		"response.custom_tool_call_input.done":
		// The item's own end repeats all of it.
	default:
		d.builder.Provider(json.RawMessage(ev.RawJSON()))
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

// The kinds of item that are tool calls.
const (
	functionCall = "function_call"
	customCall   = "custom_tool_call"
)

func (d *decoder) added(index int64, it responses.ResponseOutputItemUnion) {
	switch it.Type {
	case "message":
		d.block(index, llm.PartText)
	case "reasoning":
		d.block(index, llm.PartReasoning)
	case functionCall, customCall:
		d.openCall(index, it)
	}
}

func (d *decoder) openCall(index int64, it responses.ResponseOutputItemUnion) {
	d.open(index, llm.Part{Kind: llm.PartToolCall, Call: &llm.ToolCall{
		ID: wire.NewCallID(), WireID: it.CallID, Name: it.Name, Custom: it.Type == customCall,
	}})
}

// itemDone takes the item's final form, which the next request sends back.
func (d *decoder) itemDone(index int64, it responses.ResponseOutputItemUnion) {
	raw := json.RawMessage(it.RawJSON())
	switch it.Type {
	case "message":
		i := d.block(index, llm.PartText)
		d.builder.Replace(i, d.messageText(it))
		d.builder.Close(i, raw)
	case "reasoning":
		i := d.block(index, llm.PartReasoning)
		d.builder.Replace(i, reasoningText(it))
		d.builder.Reasoning(i).Encrypted = it.EncryptedContent
		d.builder.Close(i, raw)
	case functionCall, customCall:
		if known, ok := d.items[index]; !ok || known.kind != llm.PartToolCall {
			d.openCall(index, it)
		}
		i := d.block(index, llm.PartToolCall)
		call := d.builder.Call(i)
		call.WireID, call.Name, call.Custom = it.CallID, it.Name, it.Type == customCall
		d.builder.Replace(i, it.Arguments.OfString+it.Input)
		if it.CallID == "" || !call.Custom && wire.NoArguments(it.Arguments.OfString) {
			raw = nil // it would be refused in the form in which it came
		}
		d.builder.Close(i, raw)
	default:
		d.builder.AddNative(raw)
	}
}

// messageText joins the text of a message, and notes whether it is a refusal.
func (d *decoder) messageText(m responses.ResponseOutputItemUnion) string {
	var text strings.Builder
	for _, c := range m.Content {
		text.WriteString(c.Text + c.Refusal)
		d.refusal += c.Refusal
	}
	return text.String()
}

func reasoningText(r responses.ResponseOutputItemUnion) string {
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

// usage makes the counts disjoint: input_tokens includes the cached ones (LLM-29).
func usage(r responses.Response) llm.Usage {
	if !r.JSON.Usage.Valid() {
		return llm.Usage{}
	}
	u, in := r.Usage, r.Usage.InputTokensDetails
	return llm.Usage{
		Input:     max(0, u.InputTokens-in.CachedTokens-in.CacheWriteTokens),
		CacheRead: in.CachedTokens, CacheWrite: in.CacheWriteTokens,
		Output: u.OutputTokens, Reasoning: u.OutputTokensDetails.ReasoningTokens, Known: true,
	}
}

func (d *decoder) finish(r responses.Response, reason llm.FinishReason) {
	finish := llm.Finish{Reason: reason, Raw: string(r.Status)}
	if why := r.IncompleteDetails.Reason; why != "" {
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
	d.builder.Finish(usage(r), finish)
	d.done = true
}

func (d *decoder) fail(err *llm.Error) {
	d.done = true
	d.builder.Fail(err)
}
