package team

import (
	"fmt"
	"sync"
	"time"
)

// Mailbox keeps messages by the name of their reader, as the Open Agent SDK does (OAS-515). The
// zero Mailbox is empty. It is safe for concurrent use.
type Mailbox struct {
	mu  sync.Mutex
	box map[string][]Message
}

// Send puts a message into a mailbox, which it creates if there is none. [ErrUnread] says
// that it is full.
func (b *Mailbox) Send(m Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.put(m)
}

func (b *Mailbox) put(m Message) error {
	if len(b.box[m.To]) >= MaxUnread {
		return ErrUnread
	}
	if b.box == nil {
		b.box = map[string][]Message{}
	}
	if m.At == 0 {
		m.At = time.Now().UnixMilli()
	}
	b.box[m.To] = append(b.box[m.To], m)
	return nil
}

// Broadcast puts a message into every mailbox that is there, also the sender's. A full one is
// passed over. It returns how many got it.
func (b *Mailbox) Broadcast(m Message) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range b.box {
		m.To = name
		if b.put(m) == nil {
			n++
		}
	}
	return n
}

// Read returns the messages of a mailbox and empties it. The mailbox stays.
func (b *Mailbox) Read(agent string) []Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	read := b.box[agent]
	if read != nil {
		b.box[agent] = []Message{}
	}
	return read
}

// Entry is an agent that works.
type Entry struct{ ID, Name, Type string }

// Registry knows the agents that work by their ids and names (OAS-514). The zero Registry is
// empty. It is safe for concurrent use.
type Registry struct {
	mu     sync.Mutex
	byID   map[string]Entry
	byName map[string]string
}

// Register adds an agent. [ErrNameTaken] says that another one has its name, in which upper
// case counts.
func (r *Registry) Register(e Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id, taken := r.byName[e.Name]; taken && id != e.ID {
		return fmt.Errorf("%w: %q", ErrNameTaken, e.Name)
	}
	if r.byID == nil {
		r.byID, r.byName = map[string]Entry{}, map[string]string{}
	}
	delete(r.byName, r.byID[e.ID].Name)
	r.byID[e.ID], r.byName[e.Name] = e, e.ID
	return nil
}

// ByName returns the agent of a name.
func (r *Registry) ByName(name string) (Entry, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.byID[r.byName[name]]
	return e, ok
}

// Unregister removes an agent, whose name is free from then on.
func (r *Registry) Unregister(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byName, r.byID[id].Name)
	delete(r.byID, id)
}
