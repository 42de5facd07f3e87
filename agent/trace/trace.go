// Package trace folds the log of a session into spans: its turns, and in them the requests to
// models, the calls of tools, what hooks took, and how long a person was waited for (COM-91).
package trace

import (
	"cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// SpanKind says what a span is about.
type SpanKind string

// The kinds of spans.
const (
	KindTurn    SpanKind = "turn"
	KindRequest SpanKind = "request" // to a model
	KindTool    SpanKind = "tool"
	KindServer  SpanKind = "mcp"  // a tool of an MCP server
	KindWait    SpanKind = "wait" // for a person
	KindHook    SpanKind = "hook"
	KindCompact SpanKind = "compaction"
)

// TimeSpan is a part of a session's time. Its times are Unix milliseconds.
type TimeSpan struct {
	ID     int      `json:"id"`
	Parent int      `json:"parent,omitempty"` // the span that it is a part of; 0 for a turn
	Kind   SpanKind `json:"kind"`
	Name   string   `json:"name,omitempty"` // the model, the tool or the hook
	Start  int64    `json:"start"`
	// End is 0 while the span lasts.
	End    int64 `json:"end,omitempty"`
	Failed bool  `json:"failed,omitempty"`
	// CallID is that of a tool's call, and Provider that of a request.
	CallID   string     `json:"call_id,omitempty"`
	Provider string     `json:"provider,omitempty"`
	Usage    *llm.Usage `json:"usage,omitempty"`
}

// maxSpans limits the spans that are kept.
const maxSpans = 5000

// Builder folds events, in their order. Its zero value is ready.
type Builder struct {
	// Done is called with every span that ended; nil if nobody is interested.
	Done func(TimeSpan)

	spans   []*TimeSpan
	next    int
	turn    *TimeSpan
	compact *TimeSpan
	calls   map[string]*TimeSpan // by the call's id
	waits   map[string]*TimeSpan // by the request's id
	since   int64                // when what the next request needs was there
}

// Of returns the spans of a log, or of its newest part.
func Of(events []agent.Event) []TimeSpan {
	var b Builder
	for _, ev := range events {
		b.Add(ev)
	}
	return b.Spans()
}

// Spans returns the newest spans, in the order of their begin.
func (b *Builder) Spans() []TimeSpan {
	out := make([]TimeSpan, 0, len(b.spans))
	for _, s := range b.spans {
		out = append(out, *s)
	}
	return out
}

// Turn returns the id of the turn that a span belongs to, while Done is called with it; 0 if it
// belongs to none.
func (b *Builder) Turn() int {
	if b.turn == nil {
		return 0
	}
	return b.turn.ID
}

// Add folds one event.
func (b *Builder) Add(ev agent.Event) {
	switch d := ev.Data.(type) {
	case agent.UserInput, agent.TurnContinued:
		b.begin(ev.At)
	case agent.SteeringInjected:
		b.since = ev.At
	case agent.TextEnd:
		failed := d.Finish.Reason == llm.FinishInterrupted || d.Finish.Reason == llm.FinishError
		usage := d.Usage
		b.request(ev.At, TimeSpan{Name: d.Model, Provider: d.Provider, Failed: failed, Usage: &usage})
	case agent.Retrying:
		b.request(ev.At, TimeSpan{Name: d.Model, Provider: d.Provider, Failed: true})
		b.since = ev.At + d.DelayMs
	case agent.ToolCallStart:
		b.open(&b.calls, d.CallID, b.add(TimeSpan{Kind: KindTool, Name: d.Tool, CallID: d.CallID, Start: ev.At}))
	case agent.ToolCallEnd:
		b.ended(ev.At, d)
	case agent.ApprovalRequest:
		b.open(&b.waits, d.ID, b.add(TimeSpan{Kind: KindWait, Name: d.Tool, CallID: d.CallID, Parent: b.of(d.CallID), Start: ev.At}))
	case agent.ApprovalAnswer:
		b.close(b.waits[d.ID], ev.At)
		delete(b.waits, d.ID)
	case agent.HookEnd:
		s := b.add(TimeSpan{Kind: KindHook, Name: d.Name, CallID: d.CallID, Parent: b.of(d.CallID), Start: ev.At - max(d.DurationMs, 0), Failed: d.Failed})
		b.close(s, ev.At)
	case agent.CompactionStart:
		b.compact = b.add(TimeSpan{Kind: KindCompact, Start: ev.At})
	case agent.CompactionEnd:
		b.close(b.compact, ev.At)
		b.compact, b.since = nil, ev.At
	case agent.ProcessingEnd:
		b.rest(ev.At, d.Reason != agent.EndDone && d.Reason != agent.EndStopped)
	}
}

// begin begins a turn. One that has no end broke off there.
func (b *Builder) begin(at int64) {
	if b.turn != nil {
		b.rest(at, true)
	}
	b.since = at
	b.turn = b.add(TimeSpan{Kind: KindTurn, Start: at})
}

// rest ends a turn, with everything that is open in it.
func (b *Builder) rest(at int64, failed bool) {
	for _, open := range []map[string]*TimeSpan{b.waits, b.calls} {
		for id, s := range open {
			s.Failed = true
			b.close(s, at)
			delete(open, id)
		}
	}
	b.close(b.compact, at)
	b.compact = nil
	if b.turn != nil {
		b.turn.Failed = failed
		b.close(b.turn, at)
		b.turn = nil
	}
}

// request adds a request, which began when what it needs was there: a log has only its end.
func (b *Builder) request(at int64, s TimeSpan) {
	s.Kind, s.Start = KindRequest, min(cmp.Or(b.since, at), at)
	b.close(b.add(s), at)
	b.since = at
}

func (b *Builder) ended(at int64, d agent.ToolCallEnd) {
	s := b.calls[d.CallID]
	delete(b.calls, d.CallID)
	b.since = at
	if s == nil { // its begin is not in this part of the log
		s = b.add(TimeSpan{Kind: KindTool, Name: d.Tool, CallID: d.CallID, Start: at - max(d.DurationMs, 0)})
	}
	s.Failed = d.IsError
	if d.Details != nil && d.Details.Server != nil {
		s.Kind = KindServer
	}
	b.close(s, at)
}

// of returns the span of a call, or else of the turn.
func (b *Builder) of(call string) int {
	if s := b.calls[call]; s != nil {
		return s.ID
	}
	return 0
}

func (b *Builder) add(s TimeSpan) *TimeSpan {
	b.next++
	s.ID = b.next
	if s.Parent == 0 && b.turn != nil {
		s.Parent = b.turn.ID
	}
	if len(b.spans) >= maxSpans {
		b.spans = append(b.spans[:0], b.spans[maxSpans/10:]...)
	}
	b.spans = append(b.spans, &s)
	return &s
}

func (b *Builder) open(in *map[string]*TimeSpan, id string, s *TimeSpan) {
	if *in == nil {
		*in = map[string]*TimeSpan{}
	}
	(*in)[id] = s
}

func (b *Builder) close(s *TimeSpan, at int64) {
	if s == nil || s.End != 0 {
		return
	}
	s.End = max(at, s.Start)
	if b.Done != nil {
		b.Done(*s)
	}
}
