package anthropic

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// decoder turns the events of one message into neutral ones.
type decoder struct {
	builder *wire.Builder
	blocks  map[int64]*block // open blocks, by the provider's index
	usage   llm.Usage
	stop    sdk.StopReason
	detail  string
	// done says that the terminal event has arrived.
	done bool
}

// block is a content block that is being streamed.
type block struct {
	kind  llm.PartKind
	index int // of the builder's block, for all kinds but native
	// begun is the block as it was announced.
	begun     json.RawMessage
	signature strings.Builder
	input     strings.Builder // of a native block
}

func newDecoder(b *wire.Builder) *decoder {
	return &decoder{builder: b, blocks: map[int64]*block{}}
}

// event takes an event. It reads the union's fields, because its typed variants
// would decode every event once more.
func (d *decoder) event(ev sdk.MessageStreamEventUnion) {
	switch ev.Type {
	case "message_start":
		d.builder.SetResponseID(ev.Message.ID)
		d.builder.Start()
		d.begin(ev.Message.Usage)
	case "content_block_start":
		d.open(ev.Index, ev.ContentBlock)
	case "content_block_delta":
		d.delta(ev)
	case "content_block_stop":
		d.close(ev.Index)
	case "message_delta":
		// There may be several of these events, and not all of them repeat the reason.
		d.stop = cmp.Or(ev.Delta.StopReason, d.stop)
		d.detail = cmp.Or(ev.Delta.StopDetails.Explanation, string(ev.Delta.StopDetails.Category), d.detail)
		d.count(ev.Usage)
	case "message_stop":
		d.finish()
	case "ping":
	default:
		d.builder.Provider(json.RawMessage(ev.RawJSON()))
	}
}

// begin takes the counts that are known before the first token.
func (d *decoder) begin(u sdk.Usage) {
	d.usage = llm.Usage{
		Input: u.InputTokens, CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens,
		CacheWriteLong: u.CacheCreation.Ephemeral1hInputTokens,
		Output:         u.OutputTokens, Reasoning: u.OutputTokensDetails.ThinkingTokens,
		Known: u.JSON.InputTokens.Valid() || u.JSON.OutputTokens.Valid(),
	}
	d.builder.CountBegin(d.used())
}

// count takes later counts. They are totals and replace earlier ones; missing
// counts stay (LLM-29).
func (d *decoder) count(u sdk.MessageDeltaUsage) {
	set := func(valid bool, to *int64, value int64) {
		if valid {
			*to, d.usage.Known = value, true
		}
	}
	set(u.JSON.InputTokens.Valid(), &d.usage.Input, u.InputTokens)
	set(u.JSON.CacheReadInputTokens.Valid(), &d.usage.CacheRead, u.CacheReadInputTokens)
	set(u.JSON.CacheCreationInputTokens.Valid(), &d.usage.CacheWrite, u.CacheCreationInputTokens)
	set(u.JSON.OutputTokens.Valid(), &d.usage.Output, u.OutputTokens)
	set(u.JSON.OutputTokensDetails.Valid(), &d.usage.Reasoning, u.OutputTokensDetails.ThinkingTokens)
	d.builder.Count(d.used()) // it includes the output only now
}

// used returns the counts. A total may have been corrected after its part.
func (d *decoder) used() llm.Usage {
	used := d.usage
	used.CacheWriteLong = min(used.CacheWriteLong, used.CacheWrite)
	return used
}

func (d *decoder) open(at int64, content sdk.ContentBlockStartEventContentBlockUnion) {
	d.close(at) // one that was never closed
	b := &block{begun: json.RawMessage(content.RawJSON())}
	b.signature.WriteString(content.Signature)
	d.blocks[at] = b
	switch content.Type {
	case "text":
		b.kind = llm.PartText
		b.index = d.builder.Open(llm.Part{Kind: b.kind})
		d.builder.Append(b.index, content.Text)
	case "thinking", "redacted_thinking":
		b.kind = llm.PartReasoning
		b.index = d.builder.Open(llm.Part{Kind: b.kind, Reasoning: &llm.Reasoning{Encrypted: content.Data}})
		d.builder.Append(b.index, content.Thinking)
	case "tool_use":
		b.kind = llm.PartToolCall
		b.index = d.builder.Open(llm.Part{Kind: b.kind, Call: &llm.ToolCall{
			ID: wire.NewCallID(), WireID: content.ID, Name: content.Name,
		}})
		if input := field(b.begun, "input"); string(input) != "{}" {
			d.builder.Append(b.index, string(input)) // most stream it instead
		}
	default:
		b.kind = llm.PartNative
	}
}

// field returns a field of an object, or nil.
func field(object json.RawMessage, name string) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return nil
	}
	return fields[name]
}

func (d *decoder) delta(ev sdk.MessageStreamEventUnion) {
	b := d.blocks[ev.Index]
	switch {
	case b == nil:
		d.builder.Provider(json.RawMessage(ev.RawJSON()))
	case ev.Delta.Type == "text_delta" && b.kind == llm.PartText:
		d.builder.Append(b.index, ev.Delta.Text)
	case ev.Delta.Type == "thinking_delta" && b.kind == llm.PartReasoning:
		d.builder.Append(b.index, ev.Delta.Thinking)
	case ev.Delta.Type == "signature_delta":
		if d.builder.Keep(len(ev.Delta.Signature)) {
			b.signature.WriteString(ev.Delta.Signature)
		}
	case ev.Delta.Type == "input_json_delta" && b.kind == llm.PartToolCall:
		d.builder.Append(b.index, ev.Delta.PartialJSON)
	case ev.Delta.Type == "input_json_delta":
		if d.builder.Keep(len(ev.Delta.PartialJSON)) {
			b.input.WriteString(ev.Delta.PartialJSON)
		}
	default:
		d.builder.Provider(json.RawMessage(ev.RawJSON()))
	}
}

// close ends a block. Thinking keeps the form in which it must be sent back,
// and so does a block without a neutral form (LLM-28).
func (d *decoder) close(at int64) {
	b := d.blocks[at]
	if b == nil {
		return
	}
	delete(d.blocks, at)
	switch b.kind {
	case llm.PartReasoning:
		d.builder.Reasoning(b.index).Signature = b.signature.String()
		d.builder.Close(b.index, d.thought(b))
	case llm.PartNative:
		native := b.begun
		if input := b.input.String(); json.Valid([]byte(input)) {
			native = with(native, map[string]any{"input": json.RawMessage(input)})
		}
		d.builder.AddNative(native)
	default:
		d.builder.Close(b.index, nil)
	}
}

// thought returns a thinking block in the form in which it is sent back. A
// block without a signature would be refused, so it is not sent back.
func (d *decoder) thought(b *block) json.RawMessage {
	switch {
	case d.builder.Reasoning(b.index).Encrypted != "":
		return b.begun
	case b.signature.Len() == 0:
		return nil
	default:
		return with(b.begun, map[string]any{"thinking": d.builder.Text(b.index), "signature": b.signature.String()})
	}
}

// with returns an object with some of its fields set.
func with(object json.RawMessage, set map[string]any) json.RawMessage {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(object, &fields) != nil {
		return object
	}
	for name, value := range set {
		fields[name] = wire.JSON(value)
	}
	return wire.JSON(fields)
}

func (d *decoder) finish() {
	reason := finishReason(d.stop)
	if reason == llm.FinishStop && d.builder.HasCalls() {
		reason = llm.FinishToolCalls
	}
	for _, at := range slices.Sorted(maps.Keys(d.blocks)) {
		d.close(at)
	}
	d.builder.Finish(d.used(), llm.Finish{Reason: reason, Raw: string(d.stop), Detail: d.detail})
	d.done = true
}

// finishReason maps the stop reason of a message (LLM-27).
func finishReason(stop sdk.StopReason) llm.FinishReason {
	switch stop {
	case sdk.StopReasonEndTurn, sdk.StopReasonStopSequence:
		return llm.FinishStop
	case sdk.StopReasonToolUse:
		return llm.FinishToolCalls
	case sdk.StopReasonMaxTokens:
		return llm.FinishLength
	case sdk.StopReasonRefusal:
		return llm.FinishRefusal
	case sdk.StopReasonPauseTurn:
		return llm.FinishPause
	case sdk.StopReasonModelContextWindowExceeded:
		return llm.FinishContextOverflow
	default:
		return llm.FinishOther
	}
}
