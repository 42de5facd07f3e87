package wire

import (
	"encoding/json"
	"strings"

	"github.com/oklog/ulid/v2"

	"atelier.dev/atelier/agent/llm"
)

// Builder yields the events of one answer while it assembles the whole of it
// (LLM-30, LLM-31). Nothing is yielded after the consumer has broken out of
// its loop.
type Builder struct {
	origin  llm.Origin
	call    *Call          // nil where there is none
	limits  *llm.RateLimit // of an answer without a call
	yield   func(llm.Event, error) bool
	blocks  []*block
	beyond  *block // that is not kept: the newest after the last call that is
	started bool
	sent    bool
	stopped bool
	size    size
	counted llm.Usage // so far
	// responseID is the provider's name for the answer, as it came.
	responseID string
}

// size is how large the answer is so far.
type size struct {
	bytes int // that are kept
	calls int
}

type block struct {
	part llm.Part
	text strings.Builder // text, reasoning text, or a call's arguments
	open bool
}

// NewBuilder returns a builder of an answer of origin's.
func NewBuilder(origin llm.Origin, yield func(llm.Event, error) bool) *Builder {
	return &Builder{origin: origin, yield: yield}
}

// NewCallID returns an id for a tool call: ours, unlike the provider's, is
// never given twice (LLM-23).
func NewCallID() string { return "call_" + ulid.Make().String() }

// Follow makes what call's response says beside the answer part of it.
func (b *Builder) Follow(call *Call) { b.call = call }

// Allow says what is left of the allowance where no call tells.
func (b *Builder) Allow(limits *llm.RateLimit) { b.limits = limits }

// Stopped says that the consumer wants no more.
func (b *Builder) Stopped() bool { return b.stopped }

// Count takes what the provider has counted so far, in the place of what it had
// counted before. An answer that fails is charged for as well.
func (b *Builder) Count(used llm.Usage) { b.counted = used }

// Counted is what the provider has counted so far.
func (b *Builder) Counted() llm.Usage { return b.counted }

// Start yields the start event, once. Every other method does so first.
func (b *Builder) Start() {
	if !b.started {
		b.started = true
		b.emit(llm.Event{Type: llm.EventStart})
	}
}

// SetResponseID keeps the provider's name for the answer.
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

// Open begins a block and returns its index. Of part, Kind is needed, and a
// call's identity.
func (b *Builder) Open(part llm.Part) int {
	b.Start()
	if part.Call != nil {
		b.size.calls++
	}
	if b.full() {
		b.beyond = &block{part: part, open: true}
		return beyond
	}
	if c := part.Call; c != nil {
		b.Keep(len(c.Name) + len(c.WireID))
	}
	if len(b.blocks) >= maxBlocks {
		b.tooLarge(tooMany("parts", maxBlocks))
	}
	b.blocks = append(b.blocks, &block{part: part, open: true})
	i := len(b.blocks) - 1
	ev := llm.Event{Type: startEvent(part.Kind), Index: i}
	if part.Kind == llm.PartToolCall {
		call := *part.Call // what the consumer holds does not change later
		ev.Part = &llm.Part{Kind: part.Kind, Call: &call}
	}
	b.emit(ev)
	return i
}

// beyond is the index of every block that is not kept.
const beyond = maxBlocks

// full reports whether nothing more of the answer is kept: it has more calls than
// make sense. What its provider still counts is, so it is read to its end.
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

// Append grows an open block.
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

// Len is the number of bytes in a block so far.
func (b *Builder) Len(i int) int { return b.block(i).text.Len() }

// Text is the text of a block so far.
func (b *Builder) Text(i int) string { return b.block(i).text.String() }

// Call returns the call of a tool call block, to be completed while it is
// open.
func (b *Builder) Call(i int) *llm.ToolCall { return b.block(i).part.Call }

// Reasoning returns the reasoning of a block, to be completed while it is
// open.
func (b *Builder) Reasoning(i int) *llm.Reasoning { return b.block(i).part.Reasoning }

// Replace sets the whole text of an open block where the provider repeats it
// at the end and some of it never came as a delta.
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

// Close ends a block. Native is what the provider wants back, or nil.
func (b *Builder) Close(i int, native json.RawMessage) {
	bl := b.block(i)
	if i == beyond || !bl.open {
		return
	}
	bl.open = false
	if b.Keep(len(native)) {
		bl.part.Native = native
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

// arguments are what the model sent; nothing at all means an empty object.
func arguments(s string) json.RawMessage {
	if NoArguments(s) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(s)
}

// NoArguments reports whether a call's arguments are nothing at all, which a
// provider may refuse to read again.
func NoArguments(s string) bool {
	trimmed := strings.TrimSpace(s)
	return trimmed == "" || trimmed == "null"
}

// AddNative keeps an item that only the provider understands.
func (b *Builder) AddNative(raw json.RawMessage) {
	if b.full() || !b.Keep(len(raw)) {
		return
	}
	if len(b.blocks) >= maxBlocks {
		b.tooLarge(tooMany("parts", maxBlocks))
		return
	}
	b.blocks = append(b.blocks, &block{part: llm.Part{Kind: llm.PartNative, Native: raw}})
	b.Provider(raw)
}

// Provider yields what the neutral vocabulary has no word for.
func (b *Builder) Provider(raw json.RawMessage) {
	b.Start()
	b.emit(llm.Event{Type: llm.EventProvider, Raw: raw})
}

// HasCalls says whether the answer asks for tools.
func (b *Builder) HasCalls() bool {
	for _, bl := range b.blocks {
		if bl.part.Kind == llm.PartToolCall {
			return true
		}
	}
	return false
}

// Finish closes what is open and yields the finish event.
func (b *Builder) Finish(usage llm.Usage, finish llm.Finish) {
	b.Start()
	origin := b.origin // the message outlives the builder, and must not keep it and its call alive
	m := llm.Message{Role: llm.RoleAssistant, Origin: &origin}
	for i, bl := range b.blocks {
		b.Close(i, nil)
		m.Parts = append(m.Parts, bl.part)
	}
	answer := &llm.Answer{Message: m, Usage: usage, Finish: finish, RateLimit: b.limits, LeftOut: max(0, b.size.calls-maxCalls)}
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
	err.Sent, err.Usage = b.sent, b.counted
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
