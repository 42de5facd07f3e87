// Package feed carries what happens in sessions to the pages that watch: few
// envelopes, small ones, and never more than a page can paint.
package feed

import (
	"encoding/json"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend/internal/text"
)

const (
	// feedInterval is how long deltas gather before they leave: painting
	// more often costs a page twice the work for nothing seen.
	feedInterval = 33 * time.Millisecond
	// envelopeLimit is the most that leaves at once, in bytes. A durable
	// event that is larger is left out: the page sees from the envelope's
	// seq that it is behind, and reads it.
	envelopeLimit = 60 << 10
	// outputTail is how much of a running call's or command's output is kept for
	// pages that open meanwhile, in bytes.
	outputTail = 32 << 10
)

// Feed carries events to the pages that watch. Deltas of one session gather
// and leave together; a durable event leaves at once, after them. It keeps
// what has been streamed since the last durable event, for pages that open in
// between. It is safe for concurrent use.
type Feed struct {
	mu       sync.Mutex
	watchers map[int]func([]byte)
	next     int
	sessions map[string]*stream
}

// stream is what the feed knows of one session.
type stream struct {
	seq     int64
	waiting []agent.Event // deltas that have not left
	timer   *time.Timer   // set while deltas wait
	draft   streamed
}

func New() *Feed {
	return &Feed{watchers: map[int]func([]byte){}, sessions: map[string]*stream{}}
}

// Subscribe calls watch with every envelope, as JSON, until cancel is called.
// Watch must not block and must not call back into the feed.
func (f *Feed) Subscribe(watch func([]byte)) (cancel func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	id := f.next
	f.watchers[id] = watch
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watchers, id)
	}
}

// Publish takes one event. A durable one must have been stored.
func (f *Feed) Publish(ev agent.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[ev.Session]
	if s == nil {
		s = &stream{}
		f.sessions[ev.Session] = s
	}
	s.draft.apply(ev)
	if !ev.Durable() {
		if len(f.watchers) == 0 { // whoever comes later is given the draft
			return
		}
		s.waiting = append(s.waiting, ev)
		if s.timer == nil {
			s.timer = time.AfterFunc(feedInterval, func() { f.flush(ev.Session) })
		}
		return
	}
	s.seq = max(s.seq, ev.Seq)
	f.send(ev.Session, s, ev)
}

// Draft returns what has been streamed of a session and not been stored.
func (f *Feed) Draft(session string) Draft {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[session]
	if s == nil {
		return Draft{}
	}
	return Draft{
		Text: s.draft.text.String(), Reasoning: s.draft.reasoning.String(),
		Outputs: maps.Clone(s.draft.outputs),
	}
}

// Forget drops what is kept of a deleted session.
func (f *Feed) Forget(session string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sessions, session)
}

func (f *Feed) flush(session string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sessions[session]; s != nil {
		f.send(session, s)
	}
}

// send lets the gathered deltas leave, and then more.
func (f *Feed) send(session string, s *stream, more ...agent.Event) {
	events := append(merged(s.waiting), more...)
	s.waiting = nil
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if len(f.watchers) == 0 {
		return
	}
	var batch []json.RawMessage
	size := 0
	leave := func() {
		f.broadcast(session, s.seq, batch)
		batch, size = nil, 0
	}
	for _, ev := range events {
		raw, err := json.Marshal(ForDisplay(ev))
		if err != nil {
			slog.Error("encode event", "session", session, "kind", ev.Kind(), "err", err)
			continue
		}
		if len(raw) > envelopeLimit {
			continue
		}
		if size+len(raw) > envelopeLimit {
			leave()
		}
		batch, size = append(batch, raw), size+len(raw)
	}
	leave()
}

func (f *Feed) broadcast(session string, seq int64, events []json.RawMessage) {
	b, err := json.Marshal(struct {
		Session string            `json:"session"`
		Seq     int64             `json:"seq"`
		Events  []json.RawMessage `json:"events,omitempty"`
	}{session, seq, events})
	if err != nil {
		slog.Error("encode envelope", "session", session, "err", err)
		return
	}
	for _, watch := range f.watchers {
		watch(b)
	}
}

// merged joins the deltas that continue each other.
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

// continues reports whether next goes on where last ended.
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
	case agent.TaskChange:
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

// streamed is what no durable event holds yet, as it grows.
type streamed struct {
	text, reasoning strings.Builder
	outputs         map[string]OutputTail
}

func (d *streamed) apply(ev agent.Event) {
	switch p := ev.Data.(type) {
	case agent.TextStart, agent.TextEnd, agent.UserInput, agent.TurnContinued:
		d.text.Reset()
		d.reasoning.Reset()
	case agent.TextDelta:
		d.text.WriteString(p.Text)
	case agent.ReasoningDelta:
		d.reasoning.WriteString(p.Text)
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

// print adds to the output of what has the given id.
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

// keepTail cuts a text that begins at offset to the newest part.
func keepTail(all string, offset int) (string, int) {
	if len(all) <= outputTail {
		return all, offset
	}
	kept := text.Tail(all, outputTail)
	for _, r := range all[:len(all)-len(kept)] {
		offset += utf16.RuneLen(r)
	}
	return kept, offset
}

// Draft is streamed content that no durable event holds yet.
type Draft struct {
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	// Outputs holds the newest output of the calls and the user's commands that
	// run, by id.
	Outputs map[string]OutputTail `json:"outputs,omitempty"`
}

// OutputTail is the newest part of the output of a call or a command that runs.
// Offset is where it begins, in UTF-16 code units: what was printed before is not
// shown until that ends.
type OutputTail struct {
	Text   string `json:"text"`
	Offset int    `json:"offset"`
}

// Envelope carries live events of one session. Seq is the session's last
// durable event when the envelope left: a page that is behind it after
// applying Events re-reads from where it stands.
type Envelope struct {
	Session string        `json:"session"`
	Seq     int64         `json:"seq"`
	Events  []agent.Event `json:"events,omitempty"`
}
