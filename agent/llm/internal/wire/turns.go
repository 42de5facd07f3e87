package wire

import (
	"iter"
	"slices"

	"atelier.dev/atelier/agent/llm"
)

// Turn is what one side said until the other spoke, for APIs with alternating
// turns: consecutive messages of one side are one turn.
type Turn struct {
	Assistant bool
	Items
}

// Names has an API's names for a turn's members and for the two sides.
type Names struct{ Content, User, Assistant string }

// Spoken are the turns of a conversation.
type Spoken struct {
	// Recent are the last turns, at least four if there are four. They belong to
	// the caller.
	Recent  []Turn
	earlier []writtenTurn
	text    [][]byte // of the earlier turns
	names   Names
}

// writtenTurn is a turn in a conversation's text.
type writtenTurn struct {
	Turn
	first int // its first message
	at    int // its place in the text
}

// Turns returns the turns of the conversation with the given key, for a request
// to target, like [Join]. A message without items adds to no turn.
func Turns[Item any](e *Encodings, names Names, key string, target llm.Origin, messages []llm.Message, encode func(llm.Message, *IDs) (results, rest []Item)) (Spoken, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, err := e.encode(key, target, messages, func(m llm.Message, ids *IDs) (items Items, err error) {
		results, rest := encode(m, ids)
		if items.Results, err = joined(results); err != nil {
			return Items{}, err
		}
		items.Rest, err = joined(rest)
		return items, err
	})
	if err != nil {
		return Spoken{}, err
	}
	turns, begins := c.grouped(messages)
	settled := max(0, len(turns)-recent)
	for i, turn := range turns[:settled] {
		c.write(turn, begins[i+1], names)
	}
	return Spoken{
		Recent: turns[settled:], earlier: slices.Clip(c.turns),
		text: slices.Clone(c.text.pieces), names: names,
	}, nil
}

// grouped returns the turns that are not in the text, and the index of the
// message with which each begins. A message without items belongs to the turn
// before it.
func (c *conversation) grouped(messages []llm.Message) (turns []Turn, begins []int) {
	from := c.written()
	for i, m := range c.items {
		if len(m.Results)+len(m.Rest) == 0 {
			continue
		}
		turn := Turn{messages[from+i].Role == llm.RoleAssistant, m}
		if last := len(turns) - 1; last >= 0 && turns[last].Assistant == turn.Assistant {
			turns[last].Results = beside(turns[last].Results, turn.Results)
			turns[last].Rest = beside(turns[last].Rest, turn.Rest)
			continue
		}
		turns, begins = append(turns, turn), append(begins, from+i)
	}
	return turns, begins
}

// write adds a turn to the text. The next one begins with the message end.
func (c *conversation) write(t Turn, end int, names Names) {
	written := c.written()
	for i := written; i < end; i++ {
		c.done[i].at = len(c.turns)
	}
	turn := writtenTurn{t, written, c.text.size}
	c.text.separate()
	c.text.add(names.open(t))
	turn.Results = c.text.add(t.Results) // instead of the messages' own bytes
	if t.divided() {
		c.text.add(comma)
	}
	turn.Rest = c.text.add(t.Rest)
	c.text.add(turnEnd)
	c.turns = append(c.turns, turn)
	c.drop(end - written)
}

// beside joins items without changing either argument. Either may be empty.
func beside(a, b []byte) []byte {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	default:
		return slices.Concat(a, []byte(","), b)
	}
}

// Backward yields the turns, the newest first, with their indexes.
func (s Spoken) Backward() iter.Seq2[int, Turn] {
	return func(yield func(int, Turn) bool) {
		for i, t := range slices.Backward(s.Recent) {
			if !yield(len(s.earlier)+i, t) {
				return
			}
		}
		for i, t := range slices.Backward(s.earlier) {
			if !yield(i, t.Turn) {
				return
			}
		}
	}
}

// Array encodes the turns as objects with a role and a list of items, in pieces
// like [Join].
func (s Spoken) Array() [][]byte {
	out := append(make([][]byte, 0, len(s.text)+6*len(s.Recent)+2), bracket)
	out = append(out, s.text...)
	for _, t := range s.Recent {
		out = append(separated(out), s.names.open(t), t.Results)
		if t.divided() {
			out = append(out, comma)
		}
		out = append(out, t.Rest, turnEnd)
	}
	return append(out, bracketEnd)
}

// open returns the beginning of a turn's object, up to its first item.
func (n Names) open(t Turn) []byte {
	role := n.User
	if t.Assistant {
		role = n.Assistant
	}
	return []byte(`{"role":"` + role + `","` + n.Content + `":[`)
}

// divided reports whether a comma belongs between a turn's results and the rest.
func (t Turn) divided() bool { return len(t.Results) > 0 && len(t.Rest) > 0 }

var turnEnd = []byte("]}")
