package agent

import (
	"context"
	"iter"
	"reflect"
	"slices"
	"sync"

	"atelier.dev/atelier/agent/llm"
)

// Verb says when a queued message is delivered.
type Verb string

// The verbs.
const (
	// Steer reaches the model after the running tools (LOOP-14).
	Steer Verb = "steer"
	// FollowUp becomes the next input once the model is done (LOOP-15).
	FollowUp Verb = "follow_up"
)

// Queued is a message that a user wrote during a turn.
type Queued struct {
	ID   string `json:"id"`
	Verb Verb   `json:"verb"`
	Text string `json:"text"`
	// The others are those of the [UserInput] that it becomes. A message with a skill is
	// always a follow-up.
	Typed string      `json:"typed,omitempty"`
	Skill *SkillUse   `json:"skill,omitempty"`
	From  string      `json:"from,omitempty"`
	Media []llm.Media `json:"media,omitempty"`
}

// Queue holds the messages of a session that wait for delivery, in order. All
// methods are safe from any goroutine. Methods that change a message report
// false if it was already delivered.
type Queue struct {
	mu    sync.Mutex
	items []Queued
}

// Items returns the waiting messages.
func (q *Queue) Items() []Queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.items)
}

// Set replaces all messages, for a session that is reopened.
func (q *Queue) Set(items []Queued) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = slices.Clone(items)
}

// Add appends a message.
func (q *Queue) Add(m Queued) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, m)
}

// Edit changes a message's verb and text.
func (q *Queue) Edit(m Queued) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.index(m.ID)
	if i >= 0 {
		q.items[i] = m
	}
	return i >= 0
}

// Remove removes a message.
func (q *Queue) Remove(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.index(id)
	if i >= 0 {
		q.items = slices.Delete(q.items, i, i+1)
	}
	return i >= 0
}

// Move moves a message to an index from 0.
func (q *Queue) Move(id string, to int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.index(id)
	if i < 0 {
		return false
	}
	m := q.items[i]
	q.items = slices.Delete(q.items, i, i+1)
	q.items = slices.Insert(q.items, max(0, min(to, len(q.items))), m)
	return true
}

func (q *Queue) index(id string) int {
	return slices.IndexFunc(q.items, func(m Queued) bool { return m.ID == id })
}

// Has reports whether a message with the verb waits.
func (q *Queue) Has(v Verb) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.items, func(m Queued) bool { return m.Verb == v })
}

// steering returns the first steering message.
func (q *Queue) steering() (Queued, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.items, func(m Queued) bool { return m.Verb == Steer })
	if i < 0 {
		return Queued{}, false
	}
	return q.items[i], true
}

// take removes a message that is still as it was.
func (q *Queue) take(m Queued) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.items, func(it Queued) bool { return reflect.DeepEqual(it, m) })
	if i >= 0 {
		q.items = slices.Delete(q.items, i, i+1)
	}
	return i >= 0
}

// takeInput removes and returns the message that becomes the next input: one that
// was to steer the turn that has ended, or else the first follow-up.
func (q *Queue) takeInput() (Queued, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return Queued{}, false
	}
	i := max(0, slices.IndexFunc(q.items, func(m Queued) bool { return m.Verb == Steer }))
	m := q.items[i]
	q.items = slices.Delete(q.items, i, i+1)
	return m, true
}

// attached returns a queued message with what the host attaches to it.
func (t *turn) attached(m Queued) Queued {
	attach := t.session.cfg.Attach
	if attach == nil || m.ID == "" || m.Typed != "" || m.Skill != nil || m.From != "" {
		return m
	}
	more, media := attach(t.ctx, m.Text)
	if more != "" {
		m.Text, m.Typed, m.Media = m.Text+more, m.Text, media
	}
	return m
}

// HasNews reports whether there are news (see [Config]) that the model was not told. It is safe for
// concurrent use.
func (s *Session) HasNews() bool { return s.cfg.News != nil && s.cfg.News.Waits() }

// RunNews continues the conversation with the news, without an input. It yields nothing if there
// are none, or if the newest turn did not end by itself: then they wait for the next input.
func (s *Session) RunNews(ctx context.Context) iter.Seq2[Event, error] {
	return s.asking(ctx, func(t *turn) {
		if s.HasNews() && s.transcript.Follows() && !s.isOpen() {
			t.emit(TurnContinued{})
			t.toRest(t.loop())
		}
	})
}

// tellNews tells the model what has come since its last round.
func tellNews(t *turn) {
	if t.session.HasNews() {
		for _, text := range t.session.cfg.News.Take() {
			t.emit(SteeringInjected{ByLoop: true, Text: text})
		}
	}
	if remind := t.session.cfg.Remind; remind != nil {
		for _, text := range remind(&t.session.transcript.conversation) {
			t.emit(SteeringInjected{ByLoop: true, Text: text})
		}
	}
}
