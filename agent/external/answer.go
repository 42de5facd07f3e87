package external

import (
	"encoding/json"
	"strings"

	"github.com/oklog/ulid/v2"

	"atelier.dev/atelier/agent/llm"
)

// answer yields the events of one answer, and assembles it.
type answer struct {
	origin  llm.Origin
	yield   func(llm.Event, error) bool
	parts   []llm.Part
	text    strings.Builder // of the block that is open
	open    llm.PartKind    // empty if none is
	begun   bool
	stopped bool
	bytes   int
}

// maxAnswer limits what is kept of one answer, in bytes.
const maxAnswer = 8 << 20

func (b *answer) emit(ev llm.Event) {
	if !b.begun {
		b.begun = true
		b.stopped = !b.yield(llm.Event{Type: llm.EventStart}, nil)
	}
	if !b.stopped {
		b.stopped = !b.yield(ev, nil)
	}
}

// add appends text of a kind. It reports false if the answer is too long.
func (b *answer) add(kind llm.PartKind, delta string) bool {
	if delta == "" {
		return true
	}
	if b.bytes += len(delta); b.bytes > maxAnswer {
		return false
	}
	start, grow := llm.EventTextStart, llm.EventTextDelta
	if kind == llm.PartReasoning {
		start, grow = llm.EventReasoningStart, llm.EventReasoningDelta
	}
	if b.open != kind {
		b.close()
		b.open = kind
		b.emit(llm.Event{Type: start, Index: len(b.parts)})
	}
	b.text.WriteString(delta)
	b.emit(llm.Event{Type: grow, Index: len(b.parts), Delta: delta})
	return true
}

func (b *answer) close() {
	if b.open == "" {
		return
	}
	part, end := llm.Part{Kind: b.open, Text: b.text.String()}, llm.EventTextEnd
	if b.open == llm.PartReasoning {
		part = llm.Part{Kind: b.open, Reasoning: &llm.Reasoning{Text: b.text.String()}}
		end = llm.EventReasoningEnd
	}
	b.finishPart(end, part)
	b.text.Reset()
	b.open = ""
}

func (b *answer) finishPart(end llm.EventType, part llm.Part) {
	whole := part
	b.emit(llm.Event{Type: end, Index: len(b.parts), Part: &whole})
	b.parts = append(b.parts, part)
}

// call adds a call.
func (b *answer) call(c llm.ToolCall) {
	b.close()
	named := llm.ToolCall{ID: c.ID, Name: c.Name}
	b.emit(llm.Event{Type: llm.EventToolCallStart, Index: len(b.parts), Part: &llm.Part{Kind: llm.PartToolCall, Call: &named}})
	b.emit(llm.Event{Type: llm.EventToolCallDelta, Index: len(b.parts), Delta: string(c.Arguments)})
	b.finishPart(llm.EventToolCallEnd, llm.Part{Kind: llm.PartToolCall, Call: &c})
}

func (b *answer) finish(usage llm.Usage, finish llm.Finish) {
	b.close()
	origin := b.origin
	b.emit(llm.Event{Type: llm.EventFinish, Answer: &llm.Answer{
		Message: llm.Message{Role: llm.RoleAssistant, Parts: b.parts, Origin: &origin}, Usage: usage, Finish: finish,
	}})
}

func (b *answer) fail(err *llm.Error) {
	if !b.stopped {
		b.stopped = true
		err.Sent = b.bytes > 0
		b.yield(llm.Event{}, err)
	}
}

// newCall returns a call of one of our tools. The arguments are ours, so they can be encoded.
func newCall(tool string, input any) llm.ToolCall {
	raw, err := json.Marshal(input)
	if err != nil {
		raw = []byte("{}")
	}
	return llm.ToolCall{ID: "call_" + ulid.Make().String(), Name: tool, Arguments: raw}
}
