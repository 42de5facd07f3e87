package feed

import (
	"cmp"
	"iter"
	"maps"
	"strings"
	"unicode/utf16"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/internal/text"
)

const (
	// outputTail is how much output of a running call or command is kept for
	// pages that open during it, in bytes.
	outputTail = 32 << 10
	// answerTail is the same for a streaming answer; up to twice as much may be
	// held for a while.
	answerTail = 64 << 10
	// longestPiece limits the text of one delta to a page, in bytes. Encoding
	// may make it six times as long.
	longestPiece = 8 << 10
)

// merged joins deltas that continue each other.
func merged(deltas []agent.Event) []agent.Event {
	var out []agent.Event
	for len(deltas) > 0 {
		n := 1
		for n < len(deltas) && continues(deltas[n-1].Data, deltas[n].Data) {
			n++
		}
		ev := deltas[0]
		ev.Data = join(deltas[:n])
		out, deltas = append(out, ev), deltas[n:]
	}
	return out
}

// continues reports whether next starts where last ended.
func continues(last, next agent.Payload) bool {
	switch n := next.(type) {
	case agent.TextDelta, agent.ReasoningDelta:
		return last.Kind() == next.Kind()
	case agent.CallDraft:
		l, ok := last.(agent.CallDraft)
		return ok && l.CallID == n.CallID
	case agent.ToolCallOutput:
		l, ok := last.(agent.ToolCallOutput)
		return ok && l.CallID == n.CallID
	case agent.LocalCommandOutput:
		l, ok := last.(agent.LocalCommandOutput)
		return ok && l.ID == n.ID
	case agent.TaskChange, agent.QueueChange, agent.HooksChange, agent.ServersChange, agent.SkillsChange, agent.RulesChange, agent.SessionsChange:
		return last == next
	}
	return false
}

// join makes one delta of deltas that continue each other.
func join(deltas []agent.Event) agent.Payload {
	var text strings.Builder
	for _, ev := range deltas {
		switch d := ev.Data.(type) {
		case agent.TextDelta:
			text.WriteString(d.Text)
		case agent.ReasoningDelta:
			text.WriteString(d.Text)
		case agent.ToolCallOutput:
			text.WriteString(d.Text)
		case agent.LocalCommandOutput:
			text.WriteString(d.Text)
		}
	}
	switch first := deltas[0].Data.(type) {
	case agent.TextDelta:
		return agent.TextDelta{Text: text.String(), Offset: first.Offset}
	case agent.ReasoningDelta:
		return agent.ReasoningDelta{Text: text.String(), Offset: first.Offset}
	case agent.ToolCallOutput:
		kept, offset := keepTail(text.String(), first.Offset)
		return agent.ToolCallOutput{CallID: first.CallID, Text: kept, Offset: offset}
	case agent.LocalCommandOutput:
		kept, offset := keepTail(text.String(), first.Offset)
		return agent.LocalCommandOutput{ID: first.ID, Text: kept, Offset: offset}
	}
	return deltas[len(deltas)-1].Data // the newest says it all
}

// pieces splits long texts, so that each piece fits an envelope in any
// encoding. A page would take a missing piece for a lost one, and read
// everything again.
func pieces(events []agent.Event) iter.Seq[agent.Event] {
	return func(yield func(agent.Event) bool) {
		for _, ev := range events {
			var rest string
			var offset int
			var piece func(text string, offset int) agent.Payload
			switch d := ev.Data.(type) {
			case agent.TextDelta:
				rest, offset = d.Text, d.Offset
				piece = func(text string, offset int) agent.Payload { return agent.TextDelta{Text: text, Offset: offset} }
			case agent.ReasoningDelta:
				rest, offset = d.Text, d.Offset
				piece = func(text string, offset int) agent.Payload { return agent.ReasoningDelta{Text: text, Offset: offset} }
			}
			for len(rest) > longestPiece {
				front := cmp.Or(text.Head(rest, longestPiece), rest[:longestPiece]) // the second if it is not valid text
				part := ev
				part.Data = piece(front, offset)
				if !yield(part) {
					return
				}
				rest, offset = rest[len(front):], offset+utf16Length(front)
				ev.Data = piece(rest, offset)
			}
			if !yield(ev) {
				return
			}
		}
	}
}

// streamed is content that is not in a durable event yet.
type streamed struct {
	text, reasoning growing
	outputs         map[string]OutputTail
}

// growing is the newest part of a text, which begins at offset.
type growing struct {
	text   strings.Builder
	offset int
}

// add appends text. The work depends only on its length, even if the beginning
// is dropped.
func (g *growing) add(next string) {
	g.text.WriteString(next)
	if g.text.Len() <= 2*answerTail {
		return
	}
	all := g.text.String()
	kept := text.Tail(all, answerTail)
	g.offset += utf16Length(all[:len(all)-len(kept)])
	g.text.Reset()
	g.text.WriteString(kept)
}

// draft returns the content in the form for a page.
func (d *streamed) draft() Draft {
	return Draft{
		Text: d.text.text.String(), TextOffset: d.text.offset,
		Reasoning: d.reasoning.text.String(), ReasoningOffset: d.reasoning.offset,
		Outputs: maps.Clone(d.outputs),
	}
}

func (d *streamed) apply(ev agent.Event) {
	switch p := ev.Data.(type) {
	case agent.TextStart, agent.TextEnd, agent.UserInput, agent.TurnContinued:
		d.text, d.reasoning = growing{}, growing{}
	case agent.TextDelta:
		d.text.add(p.Text)
	case agent.ReasoningDelta:
		d.reasoning.add(p.Text)
	case agent.ToolCallOutput:
		d.print(p.CallID, p.Text, p.Offset)
	case agent.ToolCallEnd:
		delete(d.outputs, p.CallID)
	case agent.LocalCommandOutput:
		d.print(p.ID, p.Text, p.Offset)
	case agent.LocalCommandEnd:
		delete(d.outputs, p.ID)
	case agent.ProcessingEnd:
		*d = streamed{}
	}
}

// print appends to the output of the call or command with the given id.
func (d *streamed) print(id, text string, offset int) {
	o, ok := d.outputs[id]
	if !ok {
		o.Offset = offset
	}
	o.Text, o.Offset = keepTail(o.Text+text, o.Offset)
	if d.outputs == nil {
		d.outputs = map[string]OutputTail{}
	}
	d.outputs[id] = o
}

// keepTail cuts a text that begins at offset to its newest part.
func keepTail(all string, offset int) (string, int) {
	if len(all) <= outputTail {
		return all, offset
	}
	kept := text.Tail(all, outputTail)
	return kept, offset + utf16Length(all[:len(all)-len(kept)])
}

// utf16Length returns the length of a text as a page counts it.
func utf16Length(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}
