package wire

import (
	"slices"

	"atelier.dev/atelier/agent/llm"
)

// Turn is what one side said until the other spoke, for APIs with alternating
// turns: consecutive messages of one side are one turn.
type Turn struct {
	Assistant bool
	Items
}

// Turns returns the turns of the conversation with the given key, for a request
// to target, like [Join]. A message without items belongs to no turn.
func Turns[Item any](e *Encodings, key string, target llm.Origin, messages []llm.Message, encode func(llm.Message, *IDs) (results, rest []Item)) ([]Turn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all, err := e.encode(key, target, messages, func(m llm.Message, ids *IDs) (items Items, err error) {
		results, rest := encode(m, ids)
		if items.Results, err = joined(results); err != nil {
			return Items{}, err
		}
		items.Rest, err = joined(rest)
		return items, err
	})
	if err != nil {
		return nil, err
	}
	turns := make([]Turn, 0, len(all))
	for i, m := range all {
		if len(m.Results)+len(m.Rest) == 0 {
			continue
		}
		turn := Turn{messages[i].Role == llm.RoleAssistant, m.Items}
		if last := len(turns) - 1; last >= 0 && turns[last].Assistant == turn.Assistant {
			turns[last].Results = beside(turns[last].Results, turn.Results)
			turns[last].Rest = beside(turns[last].Rest, turn.Rest)
			continue
		}
		turns = append(turns, turn)
	}
	return turns, nil
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

// Names has an API's names for a turn's members and for the two sides.
type Names struct{ Content, User, Assistant string }

// Array encodes turns as objects with a role and a list of items, in pieces
// like [Join].
func (n Names) Array(turns []Turn) [][]byte {
	open := func(role string) []byte {
		return []byte(`{"role":"` + role + `","` + n.Content + `":[`)
	}
	user, assistant := open(n.User), open(n.Assistant)
	out := append(make([][]byte, 0, 6*len(turns)+1), bracket)
	for _, t := range turns {
		out = separated(out)
		if t.Assistant {
			out = append(out, assistant)
		} else {
			out = append(out, user)
		}
		out = append(out, t.Results)
		if len(t.Results) > 0 && len(t.Rest) > 0 {
			out = append(out, comma)
		}
		out = append(out, t.Rest, turnEnd)
	}
	return append(out, bracketEnd)
}

var turnEnd = []byte("]}")
