package agent

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"atelier.dev/atelier/agent/llm"
)

// draft reads one streamed answer. It turns the model's deltas into events and
// remembers enough to keep the text of an answer that breaks off.
type draft struct {
	emit      func(Payload)
	now       func() time.Time
	tools     *Toolset
	blocks    []*block // text and reasoning, in the order in which they began
	text      int      // UTF-16 length of all text so far
	reasoning int
	calls     map[int]*callDraft
	answer    *llm.Answer
	failed    llm.Usage     // counted for an answer that broke off
	thought   time.Duration // spent on reasoning that has ended
	thinking  time.Time     // when the current reasoning began, else zero
}

// callDraft is a call while the model writes it.
type callDraft struct {
	CallDraft
	follow func(piece string) DraftedChanges // nil if the tool is not a [Drafter]
}

// block is a text or reasoning block while it grows.
type block struct {
	index int // in the stream
	kind  llm.PartKind
	text  strings.Builder
}

func (d *draft) add(ev llm.Event) {
	d.watch(ev.Type)
	switch ev.Type {
	case llm.EventStart:
		d.emit(TextStart{})
	case llm.EventTextDelta:
		d.emit(TextDelta{Text: ev.Delta, Offset: d.text})
		d.text += utf16Len(ev.Delta)
		d.block(ev.Index, llm.PartText).text.WriteString(ev.Delta)
	case llm.EventReasoningDelta:
		d.emit(ReasoningDelta{Text: ev.Delta, Offset: d.reasoning})
		d.reasoning += utf16Len(ev.Delta)
		d.block(ev.Index, llm.PartReasoning).text.WriteString(ev.Delta)
	case llm.EventToolCallStart:
		if ev.Part != nil && ev.Part.Call != nil {
			d.begin(ev.Index, *ev.Part.Call)
		}
	case llm.EventToolCallDelta:
		if c := d.calls[ev.Index]; c != nil {
			c.Bytes += len(ev.Delta)
			if c.follow != nil && protect(c.Tool, func() { c.Outline = c.follow(ev.Delta) }) != "" {
				c.follow = nil
			}
			d.emit(c.CallDraft)
		}
	case llm.EventFinish:
		d.answer = ev.Answer
	}
}

// watch measures how long the model thinks: from a delta of its reasoning to
// the next event of another type.
func (d *draft) watch(next llm.EventType) {
	switch thinks := next == llm.EventReasoningDelta; {
	case thinks && d.thinking.IsZero():
		d.thinking = d.now()
	case !thinks && !d.thinking.IsZero():
		d.thought += d.now().Sub(d.thinking)
		d.thinking = time.Time{}
	}
}

// begin starts to follow a call, unless there are already too many.
func (d *draft) begin(index int, call llm.ToolCall) {
	if len(d.calls) == maxCalls {
		return
	}
	if d.calls == nil {
		d.calls = map[int]*callDraft{}
	}
	c := &callDraft{CallDraft: CallDraft{CallID: call.ID, Tool: d.tools.Canonical(call.Name)}}
	if r, ok := d.tools.get(call.Name); ok {
		if drafter, ok := r.tool.(Drafter); ok {
			protect(c.Tool, func() { c.follow = drafter.Draft(call.Custom) })
		}
	}
	d.calls[index] = c
	d.emit(c.CallDraft)
}

// block returns the block with the given index in the stream.
func (d *draft) block(index int, kind llm.PartKind) *block {
	for _, b := range slices.Backward(d.blocks) {
		if b.index == index {
			return b
		}
	}
	b := &block{index: index, kind: kind}
	d.blocks = append(d.blocks, b)
	return b
}

// fault describes what is wrong with an answer whose stream ended normally; nil
// if nothing is.
func (d *draft) fault(provider string) error {
	if d.answer == nil {
		return &llm.Error{Class: llm.ClassTruncated, Provider: provider, Message: "the answer ended before it was complete", Retryable: true}
	}
	switch d.answer.Finish.Reason {
	case llm.FinishContextOverflow:
		return &llm.Error{Class: llm.ClassContextOverflow, Provider: provider, Message: "the conversation is longer than the model can read"}
	case llm.FinishBadToolCall:
		return &llm.Error{Class: llm.ClassServer, Provider: provider, Message: "the model called a tool in a form that cannot be read", Retryable: true}
	case llm.FinishContentFilter, llm.FinishRefusal:
		if f := d.answer.Finish; isSilent(d.answer.Message) {
			return &llm.Error{Class: llm.ClassContentFilter, Provider: provider, Message: cmp.Or(f.Detail, f.Raw)}
		}
	case llm.FinishError:
		return &llm.Error{Class: llm.ClassServer, Provider: provider, Message: "the provider ended the answer with an error", Retryable: true}
	}
	return nil
}

// isSilent reports whether a message has neither text nor calls.
func isSilent(m llm.Message) bool { return m.Text() == "" && len(m.Calls()) == 0 }

// isEmpty reports whether an answer without calls says nothing, although it ended
// like one that does.
func isEmpty(answer *llm.Answer) bool {
	if r := answer.Finish.Reason; r == llm.FinishPause || r == llm.FinishContentFilter || r == llm.FinishRefusal {
		return false
	}
	return !slices.ContainsFunc(answer.Message.Parts, func(p llm.Part) bool {
		return p.Kind == llm.PartMedia || p.Kind == llm.PartNative || p.Kind == llm.PartText && strings.TrimSpace(p.Text) != ""
	})
}

// askAgain asks a model that gave an empty answer once more.
func (t *turn) askAgain() bool {
	if t.emptied == t.rounds+1 {
		return false
	}
	t.emptied = t.rounds + 1
	t.emit(SteeringInjected{ByLoop: true, Text: "Your answer was empty. Go on with the task, or say in a sentence that it is done."})
	return true
}

// used returns what the provider counted for the answer.
func (d *draft) used() llm.Usage {
	if d.answer != nil {
		return d.answer.Usage
	}
	return d.failed
}

// begun reports whether anything of an answer had arrived.
func (d *draft) begun() bool { return len(d.blocks) > 0 || len(d.calls) > 0 }

// partial returns the usable part of a broken answer: its text. A provider
// cannot use reasoning without its signature or unfinished calls.
func (d *draft) partial() llm.Message {
	m := llm.Message{Role: llm.RoleAssistant}
	for _, b := range d.blocks {
		if b.kind == llm.PartText && b.text.Len() > 0 {
			m.Parts = append(m.Parts, llm.Part{Kind: llm.PartText, Text: b.text.String()})
		}
	}
	return m
}

// utf16Len returns the length of s as JavaScript counts it.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
