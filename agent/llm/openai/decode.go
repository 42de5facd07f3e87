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
	// done says that the terminal event, or an error, has come.
	done bool
}

type item struct {
	block int
	kind  llm.PartKind
}

func newDecoder(b *wire.Builder, c *wire.Call) *decoder {
	return &decoder{builder: b, call: c, items: map[int64]item{}}
}

func (d *decoder) event(union responses.ResponseStreamEventUnion) {
	if union.Type == "response.output_text.delta" { // nearly all events; AsAny would parse each again
		d.append(union.OutputIndex, llm.PartText, union.Delta)
		return
	}
	switch ev := union.AsAny().(type) {
	case responses.ResponseCreatedEvent:
		d.builder.SetResponseID(ev.Response.ID)
		d.builder.Start()
	case responses.ResponseOutputItemAddedEvent:
		d.added(ev.OutputIndex, ev.Item)
	case responses.ResponseRefusalDeltaEvent:
		d.append(ev.OutputIndex, llm.PartText, ev.Delta)
	case responses.ResponseReasoningSummaryPartAddedEvent:
		if i := d.block(ev.OutputIndex, llm.PartReasoning); d.builder.Len(i) > 0 {
			d.builder.Append(i, "\n\n")
		}
	case responses.ResponseReasoningSummaryTextDeltaEvent:
		d.append(ev.OutputIndex, llm.PartReasoning, ev.Delta)
	case responses.ResponseReasoningTextDeltaEvent:
		d.append(ev.OutputIndex, llm.PartReasoning, ev.Delta)
	case responses.ResponseFunctionCallArgumentsDeltaEvent:
		d.append(ev.OutputIndex, llm.PartToolCall, ev.Delta)
	case responses.ResponseOutputItemDoneEvent:
		d.itemDone(ev.OutputIndex, ev.Item)
	case responses.ResponseCompletedEvent:
		d.finish(ev.Response, llm.FinishStop)
	case responses.ResponseIncompleteEvent:
		d.finish(ev.Response, incomplete(ev.Response.IncompleteDetails.Reason))
	case responses.ResponseFailedEvent:
		d.fail(string(ev.Response.Error.Code), ev.Response.Error.Message)
	case responses.ResponseErrorEvent:
		d.fail(ev.Code, ev.Message)
	case responses.ResponseInProgressEvent, responses.ResponseQueuedEvent,
		responses.ResponseContentPartAddedEvent, responses.ResponseContentPartDoneEvent,
		responses.ResponseTextDoneEvent, responses.ResponseRefusalDoneEvent,
		responses.ResponseReasoningSummaryPartDoneEvent, responses.ResponseReasoningSummaryTextDoneEvent,
		responses.ResponseReasoningTextDoneEvent, responses.ResponseFunctionCallArgumentsDoneEvent:
		// The item's own end says it all again.
	default:
		d.builder.Provider(json.RawMessage(union.RawJSON()))
	}
}

// block returns the block of an output item; it opens one where the item was
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

func (d *decoder) added(index int64, it responses.ResponseOutputItemUnion) {
	switch it.Type {
	case "message":
		d.block(index, llm.PartText)
	case "reasoning":
		d.block(index, llm.PartReasoning)
	case "function_call":
		d.openCall(index, it.CallID, it.Name)
	}
}

func (d *decoder) openCall(index int64, wireID, name string) int {
	return d.open(index, llm.Part{Kind: llm.PartToolCall, Call: &llm.ToolCall{
		ID: wire.NewCallID(), WireID: wireID, Name: name,
	}})
}

// itemDone takes the item's final form, which is what the next request
// replays.
func (d *decoder) itemDone(index int64, it responses.ResponseOutputItemUnion) {
	raw := json.RawMessage(it.RawJSON())
	switch it := it.AsAny().(type) {
	case responses.ResponseOutputMessage:
		i := d.block(index, llm.PartText)
		d.builder.Replace(i, d.messageText(it))
		d.builder.Close(i, raw)
	case responses.ResponseReasoningItem:
		i := d.block(index, llm.PartReasoning)
		d.builder.Replace(i, reasoningText(it))
		d.builder.Reasoning(i).Encrypted = it.EncryptedContent
		d.builder.Close(i, raw)
	case responses.ResponseFunctionToolCall:
		if known, ok := d.items[index]; !ok || known.kind != llm.PartToolCall {
			d.openCall(index, it.CallID, it.Name)
		}
		i := d.block(index, llm.PartToolCall)
		call := d.builder.Call(i)
		call.WireID, call.Name = it.CallID, it.Name
		d.builder.Replace(i, it.Arguments)
		d.builder.Close(i, raw)
	default:
		d.builder.AddNative(raw)
	}
}

// messageText joins what a message says, and notes whether it is a refusal.
func (d *decoder) messageText(m responses.ResponseOutputMessage) string {
	var text strings.Builder
	for _, c := range m.Content {
		text.WriteString(c.Text + c.Refusal) // a part has either
		d.refusal += c.Refusal
	}
	return text.String()
}

func reasoningText(r responses.ResponseReasoningItem) string {
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

// usage makes the counts disjoint: input_tokens holds the cached ones too
// (LLM-29).
func usage(r responses.Response) llm.Usage {
	if !r.JSON.Usage.Valid() {
		return llm.Usage{}
	}
	in := r.Usage.InputTokensDetails
	return llm.Usage{
		Input:     max(0, r.Usage.InputTokens-in.CachedTokens-in.CacheWriteTokens),
		CacheRead: in.CachedTokens, CacheWrite: in.CacheWriteTokens,
		Output:    r.Usage.OutputTokens,
		Reasoning: r.Usage.OutputTokensDetails.ReasoningTokens,
		Known:     true,
	}
}

func (d *decoder) fail(code, message string) {
	d.done = true
	d.builder.Fail(d.call.Reported(code, message))
}
