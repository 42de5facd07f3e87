package wire

import "atelier.dev/atelier/agent/llm"

// Turn is what one side said until the other spoke, for APIs with alternating
// turns: consecutive messages of one side are one turn.
type Turn[Item any] struct {
	Assistant bool
	Results   []Item // of tools; an API requires them before the rest
	Rest      []Item
}

// Items returns all items of a turn.
func (t Turn[Item]) Items() []Item {
	return append(t.Results[:len(t.Results):len(t.Results)], t.Rest...)
}

// Turns returns the turns of a request to target. lower turns one message into its
// items; ids are those of the calls so far. A message without items adds to no turn.
func Turns[Item any](target llm.Origin, messages []llm.Message, lower func(llm.Message, *IDs) (results, rest []Item)) []Turn[Item] {
	var turns []Turn[Item]
	ids := NewIDs(target, false)
	for _, m := range messages {
		ids.Add(m)
		results, rest := lower(m, ids)
		if len(results)+len(rest) == 0 {
			continue
		}
		assistant := m.Role == llm.RoleAssistant
		if last := len(turns) - 1; last < 0 || turns[last].Assistant != assistant {
			turns = append(turns, Turn[Item]{Assistant: assistant})
		}
		last := &turns[len(turns)-1]
		last.Results, last.Rest = append(last.Results, results...), append(last.Rest, rest...)
	}
	return turns
}
