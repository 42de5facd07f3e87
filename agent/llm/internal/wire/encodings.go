package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"atelier.dev/atelier/agent/llm"
)

// Encodings keeps the encoded form of the messages of recent conversations.
// Each request of a conversation repeats all that came before: what was
// encoded once is only joined again, so that the five-hundredth request costs
// what the first did. It is safe for concurrent use; the zero value is ready.
//
// A message counts as the same when its parts are the very same slice and its
// origin the very same pointer: messages never change once they were sent.
type Encodings struct {
	mu     sync.Mutex
	recent []*conversation // newest last
}

// maxConversations is how many conversations are kept at a time.
const maxConversations = 8

type conversation struct {
	key    string
	target llm.Origin
	done   []encoded
}

type encoded struct {
	parts  *llm.Part
	count  int
	origin *llm.Origin
	items  []byte // JSON values joined by commas; empty where a message has none
}

// Join returns the items of all messages of the conversation that key names,
// as a JSON array for a request to target. encode turns one message into its
// items; ids are those of its call and result. An empty key is not kept.
func Join[Item any](e *Encodings, key string, target llm.Origin, messages []llm.Message, encode func(llm.Message, IDs) []Item) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	target.ResponseID = ""
	c := e.find(key, target)
	known := c.known(messages)
	c.done = c.done[:known]
	ids := NewIDs(messages[max(0, known-1):], target) // a result stands right behind its call
	for _, m := range messages[known:] {
		raw, err := joined(encode(m, ids))
		if err != nil {
			return nil, fmt.Errorf("encode message: %w", err)
		}
		c.done = append(c.done, encoded{parts: first(m), count: len(m.Parts), origin: m.Origin, items: raw})
	}
	return c.array(), nil
}

// find returns the conversation, moved to the newest place, or a new one.
func (e *Encodings) find(key string, target llm.Origin) *conversation {
	for i, c := range e.recent {
		if c.key == key && key != "" {
			e.recent = append(append(e.recent[:i:i], e.recent[i+1:]...), c)
			if c.target != target {
				c.target, c.done = target, nil
			}
			return c
		}
	}
	c := &conversation{key: key, target: target}
	if key != "" {
		e.recent = append(e.recent, c)
		e.recent = e.recent[max(0, len(e.recent)-maxConversations):]
	}
	return c
}

// known counts the leading messages that were encoded before.
func (c *conversation) known(messages []llm.Message) int {
	n := min(len(messages), len(c.done))
	for i, d := range c.done[:n] {
		if m := messages[i]; d.parts != first(m) || d.count != len(m.Parts) || d.origin != m.Origin {
			return i
		}
	}
	return n
}

func (c *conversation) array() []byte {
	size := 2
	for _, d := range c.done {
		size += len(d.items) + 1
	}
	out := append(make([]byte, 0, size), '[')
	for _, d := range c.done {
		if len(d.items) > 0 {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, d.items...)
		}
	}
	return append(out, ']')
}

func first(m llm.Message) *llm.Part {
	if len(m.Parts) == 0 {
		return nil
	}
	return &m.Parts[0]
}

// joined encodes items with commas between them, as [JSON] does.
func joined[Item any](items []Item) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for i, item := range items {
		if i > 0 {
			buf.Truncate(buf.Len() - 1) // the line's end
			buf.WriteByte(',')
		}
		if err := enc.Encode(item); err != nil {
			return nil, err
		}
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// Body puts a member into an encoded object.
func Body(object []byte, name string, value []byte) []byte {
	out := make([]byte, 0, len(object)+len(name)+len(value)+5)
	out = append(out, object[:len(object)-1]...)
	if len(object) > 2 {
		out = append(out, ',')
	}
	out = append(append(append(out, '"'), name...), `":`...)
	return append(append(out, value...), '}')
}
