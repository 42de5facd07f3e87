package feed

import (
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend/internal/text"
)

// displayLimit is how much of one text a page is sent unasked, in bytes. The
// rest is read by conversation.event when someone wants to see it.
const displayLimit = 16 << 10

// ForDisplay returns the event as a page is sent it: without what only
// providers need, and with long texts cut. What a person decides about is
// never cut.
func ForDisplay(ev agent.Event) agent.Event {
	switch d := ev.Data.(type) {
	case agent.UserInput:
		if len(d.Text) > displayLimit {
			d.Size, d.Text = int64(len(d.Text)), middleCut(d.Text)
			ev.Data = d
		}
	case agent.Briefing:
		if len(d.System) > displayLimit {
			d.Size, d.System = int64(len(d.System)), middleCut(d.System)
			ev.Data = d
		}
	case agent.BriefingUpdate:
		if len(d.Text) > displayLimit {
			d.Size, d.Text = int64(len(d.Text)), middleCut(d.Text)
			ev.Data = d
		}
	case agent.TextEnd:
		d.Message = displayMessage(d.Message)
		ev.Data = d
	case agent.LocalCommandEnd:
		d.ModelOutput = nil
		if len(d.Output) > displayLimit {
			d.Size, d.Output = int64(len(d.Output)), middleCut(d.Output)
		}
		ev.Data = d
	case agent.ToolCallEnd:
		d.ModelOutput = nil
		d.Media = slices.Clone(d.Media)
		for i := range d.Media {
			d.Media[i].Data = nil
		}
		if len(d.Output) > displayLimit {
			d.Size, d.Output = int64(len(d.Output)), middleCut(d.Output)
		}
		ev.Data = d
	}
	return ev
}

func displayMessage(m llm.Message) llm.Message {
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		p.Native = nil
		if p.Reasoning != nil {
			p.Reasoning = &llm.Reasoning{Text: p.Reasoning.Text}
		}
		if p.Call != nil { // its arguments come with tool_call_start
			p.Call = &llm.ToolCall{ID: p.Call.ID, Name: p.Call.Name}
		}
		m.Parts[i] = p
	}
	return m
}

// middleCut keeps the beginning and the end of a text.
func middleCut(s string) string {
	return text.Head(s, displayLimit/2) + "\n…\n" + text.Tail(s, displayLimit/2)
}
