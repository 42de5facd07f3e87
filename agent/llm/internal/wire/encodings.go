package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
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
	// JoinUsers makes one message of neighbouring messages of the user, and of a
	// tool's results and what the user says after them, for servers that insist on
	// alternating roles.
	JoinUsers bool

	mu     sync.Mutex
	recent []*conversation // newest last
	tools  []encodedTools  // newest last
}

// maxConversations limits the conversations that are kept.
const maxConversations = 8

// recent is how many messages, or turns, at the end of a conversation are not
// in its text yet. They may change still: the newest message is often created
// again, and caches are marked in the newest turns.
const recent = 4

type conversation struct {
	key    string
	target llm.Origin
	done   []encoded
	ids    *IDs // of the calls in done; nil if done is empty
	// text has the first messages or turns, with commas between them, and items
	// has the other messages. A request that was a list of thousands of small
	// pieces would cost more with each turn.
	text  text
	items []Items
	turns []writtenTurn // in text; see [Turns]
	// joined are the messages that [Encodings.JoinUsers] made, by their first part.
	joined map[*llm.Part]joinedMessage
}

// joinedMessage is a message made of several, which begin with the given parts.
type joinedMessage struct {
	llm.Message
	of []*llm.Part
}

type encoded struct {
	parts  *llm.Part
	count  int
	origin *llm.Origin
	calls  int // in the conversation up to here
	// at is where the message begins in the text, or the index of its turn. It
	// is set for messages in the text.
	at int
}

// written counts the messages in the text.
func (c *conversation) written() int { return len(c.done) - len(c.items) }

// drop removes the first n messages from those that are not in the text.
func (c *conversation) drop(n int) { c.items = slices.Delete(c.items, 0, n) }

// cut forgets all messages but the first n, or fewer than n because the last
// turn left may go on and must not be in the text, and returns their number.
func (c *conversation) cut(n int) int {
	written := c.written()
	c.items = c.items[:max(0, n-written)]
	switch {
	case len(c.turns) > 0 && n <= written:
		last := c.done[max(0, n-1)].at
		n = c.turns[last].first
		c.text.cut(c.turns[last].at)
		c.turns = slices.Clip(c.turns[:last])
	case n < written:
		c.text.cut(c.done[n].at)
	}
	c.done = c.done[:n]
	calls := 0
	if n > 0 {
		calls = c.done[n-1].calls
	}
	c.ids.cut(calls)
	return n
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
	c, err := e.encode(key, target, messages, func(m llm.Message, ids *IDs) (Items, error) {
		rest, err := joined(encode(m, ids))
		return Items{Rest: rest}, err
	})
	if err != nil {
		return nil, err
	}
	settled := max(0, len(c.items)-recent)
	from := c.written()
	for i, m := range c.items[:settled] {
		c.done[from+i].at = c.text.size
		if len(m.Rest) > 0 {
			c.text.separate()
			c.text.add(m.Rest)
		}
	}
	c.drop(settled)
	out := append(make([][]byte, 0, len(c.text.pieces)+2*recent+2), bracket)
	out = append(out, c.text.pieces...)
	for _, m := range c.items {
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

// encode returns the conversation with its messages encoded. It is valid only
// while its caller holds the mutex.
func (e *Encodings) encode(key string, target llm.Origin, messages []llm.Message, encode func(llm.Message, *IDs) (Items, error)) (*conversation, error) {
	target.ResponseID = ""
	c := e.find(key, target)
	if c.ids == nil {
		c.ids = newIDs(target, e.EchoCallIDs)
	}
	if e.JoinUsers {
		messages = c.joinUsers(messages)
	}
	known := c.known(messages)
	if known < len(c.done) {
		known = c.cut(known)
	}
	for _, m := range messages[known:] {
		c.ids.add(m)
		items, err := encode(m, c.ids)
		if err != nil {
			// The ids already have the message's calls.
			*c = conversation{key: c.key, target: c.target}
			return nil, fmt.Errorf("encode message: %w", err)
		}
		c.done = append(c.done, encoded{parts: first(m), count: len(m.Parts), origin: m.Origin, calls: len(c.ids.log)})
		c.items = append(c.items, items)
	}
	return c, nil
}

// joinUsers returns messages of which no two of the user follow each other. What
// was joined before is the same message again.
func (c *conversation) joinUsers(messages []llm.Message) []llm.Message {
	before := c.joined
	c.joined = map[*llm.Part]joinedMessage{}
	out := make([]llm.Message, 0, len(messages))
	for i := 0; i < len(messages); {
		of := []*llm.Part{first(messages[i])}
		end := i + 1
		if messages[i].Role == llm.RoleUser || messages[i].Role == llm.RoleTool {
			for ; end < len(messages) && messages[end].Role == llm.RoleUser; end++ {
				of = append(of, first(messages[end]))
			}
		}
		m := messages[i]
		if len(of) > 1 {
			joined, known := before[of[0]]
			if !known || !slices.Equal(joined.of, of) {
				joined = joinedMessage{join(messages[i:end]), of}
			}
			c.joined[of[0]] = joined
			m = joined.Message
		}
		out = append(out, m)
		i = end
	}
	return out
}

// join makes one message of several. Their texts become paragraphs.
func join(messages []llm.Message) llm.Message {
	m := messages[0]
	m.Parts = slices.Clone(m.Parts)
	for _, next := range messages[1:] {
		for i, p := range next.Parts {
			if last := len(m.Parts) - 1; i == 0 && p.Kind == llm.PartText && last >= 0 && m.Parts[last].Kind == llm.PartText {
				p.Text = "\n\n" + p.Text
			}
			m.Parts = append(m.Parts, p)
		}
	}
	return m
}

// find returns the conversation, moved to the newest place, or a new one.
func (e *Encodings) find(key string, target llm.Origin) *conversation {
	for i, c := range e.recent {
		if c.key == key && key != "" {
			e.recent = append(append(e.recent[:i:i], e.recent[i+1:]...), c)
			if c.target != target {
				*c = conversation{key: key, target: target}
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
