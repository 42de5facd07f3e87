package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"atelier.dev/atelier/agent/llm"
)

// Encodings keeps the encoded messages of recent conversations. Each request of
// a conversation repeats everything before it. Encoded messages are only joined
// again, so that the five-hundredth request costs the same as the first. It is
// safe for concurrent use; the zero value is ready to use.
//
// Two messages are the same if they share the same slice of parts and the same
// pointer to their origin, because messages never change once they were sent.
type Encodings struct {
	// EchoCallIDs sends call ids back to their origin in any form: some models
	// number their calls in them, and some gateways keep a reasoning signature
	// there. Otherwise an id has at most 64 letters, digits, _ and -.
	EchoCallIDs bool

	mu     sync.Mutex
	recent []*conversation // newest last
	tools  []encodedTools  // newest last
}

// maxConversations limits the conversations that are kept.
const maxConversations = 8

type conversation struct {
	key    string
	target llm.Origin
	done   []encoded
	ids    *IDs // of the calls in done; nil if done is empty
}

type encoded struct {
	parts  *llm.Part
	count  int
	origin *llm.Origin
	calls  int // in the conversation up to here
	Items
}

// Items are a message's items in an API: JSON values separated by commas. There
// may be none.
type Items struct {
	// Results are items that an API requires first in a turn.
	Results []byte
	Rest    []byte
}

// Join returns the items of all messages of the conversation with the given
// key, as a JSON array for a request to target. The array is in pieces, which
// [Call.Add] accepts, because it is long: only the socket needs it as a whole.
// encode turns one message into its items; ids are those of the calls so far. A
// conversation with an empty key is not kept.
func Join[Item any](e *Encodings, key string, target llm.Origin, messages []llm.Message, encode func(llm.Message, *IDs) []Item) ([][]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all, err := e.encode(key, target, messages, func(m llm.Message, ids *IDs) (Items, error) {
		rest, err := joined(encode(m, ids))
		return Items{Rest: rest}, err
	})
	if err != nil {
		return nil, err
	}
	out := append(make([][]byte, 0, 2*len(all)+1), bracket)
	for _, m := range all {
		if len(m.Rest) > 0 {
			out = append(separated(out), m.Rest)
		}
	}
	return append(out, bracketEnd), nil
}

var (
	bracket    = []byte("[")
	bracketEnd = []byte("]")
	comma      = []byte(",")
)

// separated adds a comma to an array that has items.
func separated(array [][]byte) [][]byte {
	if len(array) == 1 {
		return array
	}
	return append(array, comma)
}

// encode returns the encoded messages. The list, but not what it contains, is
// valid only while its caller holds the mutex.
func (e *Encodings) encode(key string, target llm.Origin, messages []llm.Message, encode func(llm.Message, *IDs) (Items, error)) ([]encoded, error) {
	target.ResponseID = ""
	c := e.find(key, target)
	known := c.known(messages)
	if c.ids == nil {
		c.ids = newIDs(target, e.EchoCallIDs)
	}
	if known < len(c.done) { // the newest message is often created again
		c.done = c.done[:known]
		calls := 0
		if known > 0 {
			calls = c.done[known-1].calls
		}
		c.ids.cut(calls)
	}
	for _, m := range messages[known:] {
		c.ids.add(m)
		items, err := encode(m, c.ids)
		if err != nil {
			return nil, fmt.Errorf("encode message: %w", err)
		}
		c.done = append(c.done, encoded{first(m), len(m.Parts), m.Origin, len(c.ids.log), items})
	}
	return c.done, nil
}

// find returns the conversation, moved to the newest place, or a new one.
func (e *Encodings) find(key string, target llm.Origin) *conversation {
	for i, c := range e.recent {
		if c.key == key && key != "" {
			e.recent = append(append(e.recent[:i:i], e.recent[i+1:]...), c)
			if c.target != target {
				c.target, c.done, c.ids = target, nil, nil
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
