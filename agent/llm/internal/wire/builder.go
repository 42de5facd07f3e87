package wire

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/oklog/ulid/v2"

	"atelier.dev/atelier/agent/llm"
)

// Builder yields the events of one answer and assembles the whole (LLM-30,
// LLM-31). It yields nothing after the consumer has left its loop.
type Builder struct {
	origin  llm.Origin
	call    *Call          // nil where there is none
	limits  *llm.RateLimit // of an answer without a call
	yield   func(llm.Event, error) bool
	blocks  []*block
	beyond  *block // the newest block that is not kept
	started bool
	sent    bool
	stopped bool
	size    size
	counted counted // so far
	// responseID is the provider's id of the answer, unchanged.
	responseID string
}

// counted are a provider's counts.
type counted struct {
	llm.Usage
	begun bool // they are from before the answer
}

// size is the size of the answer so far.
type size struct {
	bytes int // that are kept
	calls int
}

type block struct {
	part llm.Part
	text strings.Builder // text, reasoning text, or a call's arguments
	open bool
}

// NewBuilder returns a builder of an answer from origin.
func NewBuilder(origin llm.Origin, yield func(llm.Event, error) bool) *Builder {
	return &Builder{origin: origin, yield: yield}
}

// NewCallID returns an id for a tool call. Unlike a provider's, our ids never
// repeat (LLM-23).
func NewCallID() string { return "call_" + ulid.Make().String() }

// Follow adds information in the response's header to the answer.
func (b *Builder) Follow(call *Call) { b.call = call }

// Allow sets the rate limits if there is no call to follow.
func (b *Builder) Allow(limits *llm.RateLimit) { b.limits = limits }

// Stopped reports whether the consumer wants no more.
func (b *Builder) Stopped() bool { return b.stopped }

// Count replaces the provider's earlier counts. A failed answer is charged for
// as well.
func (b *Builder) Count(used llm.Usage) { b.counted = counted{believed(used), false} }

// CountBegin keeps the counts that are known before the answer. They hold for an
// answer that the user stops or that breaks off, with an estimate of its length.
func (b *Builder) CountBegin(used llm.Usage) { b.counted = counted{believed(used), true} }

// used returns the counts for an answer that failed.
func (b *Builder) used(class llm.Class) llm.Usage {
	const bytesPerToken = 4
	switch {
	case !b.counted.begun:
		return b.counted.Usage
	case !b.sent && class != llm.ClassAbort: // nothing is charged
		return llm.Usage{}
	}
	used := b.counted.Usage
	if used.Known {
		used.Output = max(used.Output, int64(b.size.bytes/bytesPerToken))
	}
	return used
}

// believed returns counts, or unknown ones if a number cannot be a count of tokens:
// the context would seem to be empty or full by it.
func believed(u llm.Usage) llm.Usage {
	for _, n := range [...]int64{u.Input, u.CacheRead, u.CacheWrite, u.CacheWriteLong, u.Output, u.Reasoning} {
		if n < 0 || n > maxTokens {
			return llm.Usage{Charged: u.Charged}
		}
	}
	return u
}

// Counted returns the provider's counts so far.
func (b *Builder) Counted() llm.Usage { return b.counted.Usage }

// Start yields the start event, once. Every other method calls it first.
func (b *Builder) Start() {
	if !b.started {
		b.started = true
		b.emit(llm.Event{Type: llm.EventStart})
	}
}

// SetResponseID keeps the provider's id of the answer.
func (b *Builder) SetResponseID(id string) {
	if id == "" || id == b.responseID {
		return
	}
	b.responseID = id
	if b.call != nil {
		id = b.call.ep.Redact(id)
	}
	b.origin.ResponseID = brief(id)
}

// Open begins a block and returns its index. part needs its Kind, and the
// identity of a call.
func (b *Builder) Open(part llm.Part) int {
	b.Start()
	if part.Call != nil {
		b.size.calls++
	}
	if !b.full() && len(b.blocks) >= maxBlocks {
		b.tooLarge(tooMany("parts", maxBlocks))
	}
	if b.full() || len(b.blocks) >= maxBlocks {
		// It stands for blocks of every kind, because they share an index.
		part.Call, part.Reasoning = cmp.Or(part.Call, &llm.ToolCall{}), cmp.Or(part.Reasoning, &llm.Reasoning{})
		b.beyond = &block{part: part, open: true}
		return beyond
	}
	if c := part.Call; c != nil {
		b.Keep(len(c.Name) + len(c.WireID))
	}
	b.blocks = append(b.blocks, &block{part: part, open: true})
	i := len(b.blocks) - 1
	ev := llm.Event{Type: startEvent(part.Kind), Index: i}
	if part.Kind == llm.PartToolCall {
		call := *part.Call // the consumer's copy must not change later
		ev.Part = &llm.Part{Kind: part.Kind, Call: &call}
	}
	b.emit(ev)
	return i
}

// beyond is the index of every block that is not kept.
const beyond = maxBlocks

// full reports whether the answer has so many calls that nothing more is kept.
// It is still read to its end, because its provider's counts are at the end.
func (b *Builder) full() bool { return b.size.calls > maxCalls }

func (b *Builder) block(i int) *block {
	if i == beyond {
		if b.call != nil {
			b.call.progress()
		}
		return b.beyond
	}
	return b.blocks[i]
}

// Append appends to an open block.
func (b *Builder) Append(i int, delta string) {
	bl := b.block(i)
	if i == beyond {
		return
	}
	if delta == "" || !bl.open || !b.Keep(len(delta)) {
		return
	}
	if bl.part.Kind == llm.PartToolCall && bl.text.Len()+len(delta) > maxArguments {
		b.tooLarge(tooLarge("a tool call", maxArguments))
		return
	}
	bl.text.WriteString(delta)
	b.emit(llm.Event{Type: deltaEvent(bl.part.Kind), Index: i, Delta: delta})
}

// Len returns the number of bytes in a block so far.
func (b *Builder) Len(i int) int { return b.block(i).text.Len() }

// Text returns the text of a block so far.
func (b *Builder) Text(i int) string { return b.block(i).text.String() }

// Call returns the call of a tool call block, to be completed while it is open.
func (b *Builder) Call(i int) *llm.ToolCall { return b.block(i).part.Call }

// Reasoning returns the reasoning of a block, to be completed while it is open.
func (b *Builder) Reasoning(i int) *llm.Reasoning { return b.block(i).part.Reasoning }

// Replace sets the whole text of an open block if the provider repeats it at
// the end and part of it never came as a delta.
func (b *Builder) Replace(i int, text string) {
	if i == beyond || text == "" || text == b.blocks[i].text.String() {
		return
	}
	if rest, ok := strings.CutPrefix(text, b.blocks[i].text.String()); ok {
		b.Append(i, rest)
		return
	}
	if b.Keep(len(text)) {
		b.blocks[i].text.Reset()
		b.blocks[i].text.WriteString(text)
	}
}

// Close ends a block. native is what the provider wants back, or nil.
func (b *Builder) Close(i int, native json.RawMessage) {
	bl := b.block(i)
	if i == beyond || !bl.open {
		return
	}
	bl.open = false
	if b.Keep(len(native)) {
		bl.part.Native = readable(native)
	}
	switch bl.part.Kind {
	case llm.PartText:
		bl.part.Text = bl.text.String()
	case llm.PartReasoning:
		bl.part.Reasoning.Text = bl.text.String()
	case llm.PartToolCall:
		if text := bl.text.String(); bl.part.Call.Custom {
			bl.part.Call.Arguments = json.RawMessage(text)
		} else {
			bl.part.Call.Arguments = arguments(text)
		}
	}
	whole := bl.part
	b.emit(llm.Event{Type: endEvent(bl.part.Kind), Index: i, Part: &whole})
}

// arguments returns the arguments that the model sent; an empty text means an
// empty object.
func arguments(s string) json.RawMessage {
	if NoArguments(s) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(s)
}

// NoArguments reports whether a call has no arguments at all, which a provider
// may refuse when it is sent back.
func NoArguments(s string) bool {
	trimmed := strings.TrimSpace(s)
	return trimmed == "" || trimmed == "null"
}

// AddNative keeps an item that only the provider understands.
func (b *Builder) AddNative(raw json.RawMessage) {
	if b.full() || !b.Keep(len(raw)) {
		return
	}
	raw = readable(raw)
	if len(b.blocks) >= maxBlocks {
		b.tooLarge(tooMany("parts", maxBlocks))
		return
	}
	b.blocks = append(b.blocks, &block{part: llm.Part{Kind: llm.PartNative, Native: raw}})
	b.Provider(raw)
}

// Provider yields data without a neutral equivalent.
func (b *Builder) Provider(raw json.RawMessage) {
	b.Start()
	b.emit(llm.Event{Type: llm.EventProvider, Raw: raw})
}

// HasCalls reports whether the answer has tool calls.
func (b *Builder) HasCalls() bool {
	for _, bl := range b.blocks {
		if bl.part.Kind == llm.PartToolCall {
			return true
		}
	}
	return false
}

// Finish closes open blocks and yields the finish event.
func (b *Builder) Finish(usage llm.Usage, finish llm.Finish) {
	b.Start()
	origin := b.origin // the message outlives the builder, and must not keep it and its call alive
	m := llm.Message{Role: llm.RoleAssistant, Origin: &origin}
	for i, bl := range b.blocks {
		b.Close(i, nil)
		m.Parts = append(m.Parts, bl.part)
	}
	answer := &llm.Answer{Message: m, Usage: believed(usage), Finish: finish, RateLimit: b.limits, LeftOut: max(0, b.size.calls-maxCalls)}
	if b.call != nil {
		answer.RateLimit = b.call.limits
	}
	b.emit(llm.Event{Type: llm.EventFinish, Answer: answer})
}

// Fail ends the answer with an error.
func (b *Builder) Fail(err *llm.Error) {
	if b.stopped {
		return
	}
	err.Sent, err.Usage = b.sent, b.used(err.Class)
	b.stopped = true
	b.yield(llm.Event{}, err)
}

func (b *Builder) emit(ev llm.Event) {
	if b.stopped {
		return
	}
	if b.call != nil && ev.Type != llm.EventProvider {
		b.call.progress()
	}
	switch ev.Type {
	case llm.EventTextDelta, llm.EventReasoningDelta, llm.EventToolCallStart, llm.EventToolCallDelta:
		b.sent = true
	}
	b.stopped = !b.yield(ev, nil)
}

func startEvent(k llm.PartKind) llm.EventType {
	return pick(k, llm.EventTextStart, llm.EventReasoningStart, llm.EventToolCallStart)
}

func deltaEvent(k llm.PartKind) llm.EventType {
	return pick(k, llm.EventTextDelta, llm.EventReasoningDelta, llm.EventToolCallDelta)
}

func endEvent(k llm.PartKind) llm.EventType {
	return pick(k, llm.EventTextEnd, llm.EventReasoningEnd, llm.EventToolCallEnd)
}

func pick(k llm.PartKind, text, reasoning, call llm.EventType) llm.EventType {
	switch k {
	case llm.PartReasoning:
		return reasoning
	case llm.PartToolCall:
		return call
	default:
		return text
	}
}
