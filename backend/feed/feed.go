package feed

import (
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
)

const (
	// feedInterval is how long deltas are gathered before they are sent.
	// Painting more often would double a page's work without a visible
	// difference.
	feedInterval = 33 * time.Millisecond
	// envelopeLimit limits one envelope, in bytes. A larger durable event is
	// left out: the envelope's seq tells the page that it is behind, and it
	// reads the event.
	envelopeLimit = 60 << 10
)

// Feed carries events to the pages that watch. It gathers deltas of a session
// and sends them together; a durable event is sent at once, after them. For
// pages that open in between, it keeps everything streamed since the last
// durable event. It is safe for concurrent use.
type Feed struct {
	mu       sync.Mutex
	watchers map[int]func([]byte)
	next     int
	sessions map[string]*stream
}

// stream is the feed's state of one session.
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
// watch must not block or call back into the feed.
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

// Publish sends one event. A durable one must have been stored.
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
		if len(f.watchers) == 0 { // later pages are given the draft
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

// Draft returns what a session has streamed but not stored.
func (f *Feed) Draft(session string) Draft {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[session]
	if s == nil {
		return Draft{}
	}
	return s.draft.draft()
}

// Forget drops the state of a deleted session.
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

// send sends the gathered deltas, followed by more.
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
	for ev := range pieces(events) {
		raw, err := json.Marshal(ForDisplay(ev))
		if err != nil {
			slog.Error("could not encode an event", "session", session, "kind", ev.Kind(), "err", err)
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
		slog.Error("could not encode an envelope", "session", session, "err", err)
		return
	}
	for _, watch := range f.watchers {
		watch(b)
	}
}

// Draft is streamed content that is not in a durable event yet. Of very long
// text and reasoning it has only the newest part; the offsets say where that
// begins, in UTF-16 code units.
type Draft struct {
	Text            string `json:"text,omitempty"`
	TextOffset      int    `json:"text_offset,omitempty"`
	Reasoning       string `json:"reasoning,omitempty"`
	ReasoningOffset int    `json:"reasoning_offset,omitempty"`
	// Outputs holds the newest output of running calls and user's commands, by
	// id.
	Outputs map[string]OutputTail `json:"outputs,omitempty"`
}

// OutputTail is the newest output of a running call or command. Offset is where
// it begins, in UTF-16 code units; earlier output is shown when the call ends.
type OutputTail struct {
	Text   string `json:"text"`
	Offset int    `json:"offset"`
}

// Envelope carries live events of one session. Seq is the session's last
// durable event when the envelope was sent. A page that is behind Seq after
// applying Events reads the missing events.
type Envelope struct {
	Session string        `json:"session"`
	Seq     int64         `json:"seq"`
	Events  []agent.Event `json:"events,omitempty"`
}
