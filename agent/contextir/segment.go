package contextir

import (
	"slices"

	"atelier.dev/atelier/agent/llm"
)

// SegmentName names a part of a context (COM-05).
type SegmentName string

// The segments, in the order in which models read them. Providers cache the header,
// because it stays the same.
const (
	SegmentHeader       SegmentName = "header"        // the system prompt, documents and tools
	SegmentSessionState SegmentName = "session_state" // what holds for this session only
	SegmentConversation SegmentName = "conversation"
)

// SegmentOf returns the segment of an item's type.
func SegmentOf(t ItemType) SegmentName {
	switch t {
	case SystemPrompt, Memory, ToolStrategy, SubagentStrategy, SkillStrategy:
		return SegmentHeader
	case SystemEnv, GitEnv, MCPTool:
		return SegmentSessionState
	}
	return SegmentConversation
}

// Segment is a part of a context as a list of items, which can be searched and
// changed without the conversation that it was taken from (COM-11).
type Segment struct {
	Name  SegmentName
	Items []Item
}

// Segment returns a copy of the conversation's items.
func (c *Conversation) Segment() Segment {
	return Segment{Name: SegmentConversation, Items: slices.Clone(c.items)}
}

// FindByType returns the items of a type, in order.
func (s *Segment) FindByType(t ItemType) (found []Item) {
	for _, it := range s.Items {
		if it.Type == t {
			found = append(found, it)
		}
	}
	return found
}

// FindOneByType returns the first item of a type; false if there is none.
func (s *Segment) FindOneByType(t ItemType) (Item, bool) {
	i := slices.IndexFunc(s.Items, func(it Item) bool { return it.Type == t })
	if i < 0 {
		return Item{}, false
	}
	return s.Items[i], true
}

// RemoveByType removes the items of a type, and returns them.
func (s *Segment) RemoveByType(t ItemType) []Item {
	removed := s.FindByType(t)
	s.Items = slices.DeleteFunc(s.Items, func(it Item) bool { return it.Type == t })
	return removed
}

// RemoveByID removes the item with an id, and returns it; false if there is none.
func (s *Segment) RemoveByID(id string) (Item, bool) {
	i := slices.IndexFunc(s.Items, func(it Item) bool { return it.ID() == id })
	if i < 0 {
		return Item{}, false
	}
	it := s.Items[i]
	s.Items = slices.Delete(s.Items, i, i+1)
	return it, true
}

// Tokens sums what count says of each item's message.
func (s *Segment) Tokens(count func(llm.Message) int) (total int) {
	for _, it := range s.Items {
		total += count(it.Message)
	}
	return total
}

// Lower returns the segment as messages in the form that providers insist on; see
// [Conversation.Lower].
func (s *Segment) Lower() []llm.Message { return lower(s.Items) }
