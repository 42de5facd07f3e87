package contextir

import (
	"slices"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// ItemType is the type of an item (COM-06, COM-07, COM-08, COM-09).
type ItemType string

// The types of the items of a conversation.
const (
	UserMessage      ItemType = "user_message"
	SteeringMessage  ItemType = "steering_message"
	AssistantMessage ItemType = "assistant_message"
	ToolResult       ItemType = "tool_result"
	LocalCommand     ItemType = "local_command" // a command that the user ran, with its output
	// SystemReminder is a message that the loop adds on its own.
	SystemReminder ItemType = "system_reminder"
	// CompactionSummary replaces removed items.
	CompactionSummary ItemType = "compaction_summary"
)

// The types of what stands before a conversation.
const (
	SystemPrompt     ItemType = "system_prompt"
	Memory           ItemType = "memory" // a document of instructions
	SystemEnv        ItemType = "system_env"
	GitEnv           ItemType = "git_env"
	ToolStrategy     ItemType = "tool_strategy" // the definition of a tool
	SubagentStrategy ItemType = "subagent_strategy"
	SkillStrategy    ItemType = "skill_strategy"
	MCPTool          ItemType = "mcp_tool"
)

// Priority returns how long items of the type stay: those with the lowest number
// are compacted first, and those from [Lasting] on never.
func (t ItemType) Priority() int {
	switch t {
	case SystemPrompt, Memory, SystemEnv, GitEnv:
		return 100
	case SubagentStrategy:
		return 95
	case MCPTool:
		return 94
	case ToolStrategy:
		return 93
	case SkillStrategy:
		return 90
	case CompactionSummary:
		return Lasting
	case SystemReminder:
		return 70
	case UserMessage, SteeringMessage:
		return 50
	case AssistantMessage:
		return 30
	}
	return 10
}

// Compacts reports whether items of the type are ever compacted by rules.
func (t ItemType) Compacts() bool {
	switch t {
	case UserMessage, SteeringMessage, AssistantMessage, ToolResult, LocalCommand, SystemReminder:
		return true
	}
	return false
}

// Lasting is the lowest priority of what is never compacted.
const Lasting = 80

// Item is one entry of a conversation.
type Item struct {
	Type    ItemType
	Message llm.Message
	// Turn is the turn that it was created in; 0 before the first.
	Turn int
	// Pinned items stay through compactions.
	Pinned bool
	number int          // among the items of its type and turn, from 1
	whole  *llm.Message // the message of a dropped item
	short  bool         // a part of it was removed
	file   string       // that has the whole text; empty without one
}

// Dropped reports whether a person took the item out. Its message is a line that
// says so.
func (it *Item) Dropped() bool { return it.whole != nil }

// Shortened reports whether a part of the item was removed to make room.
func (it *Item) Shortened() bool { return it.short }

// File returns the file that has the whole text of a shortened item (COM-10, COM-20); empty
// if there is none.
func (it *Item) File() string { return it.file }

// IsError reports whether the item is the result of a call that failed.
func (it *Item) IsError() bool {
	return it.Type == ToolResult && slices.ContainsFunc(it.Message.Parts, func(p llm.Part) bool { return p.Result != nil && p.Result.IsError })
}

// Priority is [ItemType.Priority]. Pinned items last.
func (it *Item) Priority() int {
	if it.Pinned {
		return max(Lasting, it.Type.Priority())
	}
	return it.Type.Priority()
}

// Bytes estimates the size of the item.
func (it *Item) Bytes() int { return Bytes(it.Message) }

// ID names the item in its conversation. It stays the same however often a log is
// folded, also where a compaction is taken back.
func (it *Item) ID() string {
	return string(it.Type) + ":" + strconv.Itoa(it.Turn) + ":" + strconv.Itoa(it.number)
}

// Mark is what a person decides about an item.
type Mark string

// The marks.
const (
	MarkPin     Mark = "pin"     // it stays through compactions
	MarkUnpin   Mark = "unpin"   // it is compacted like others
	MarkDrop    Mark = "drop"    // models are not shown it any more
	MarkRestore Mark = "restore" // models are shown it again
)

// CanMark reports whether a person may pin or drop items of the type.
func (t ItemType) CanMark() bool {
	switch t {
	case UserMessage, SteeringMessage, AssistantMessage, ToolResult, LocalCommand:
		return true
	}
	return false
}

const (
	droppedMessage = "[The user took this message out of the conversation.]"
	droppedResult  = "[The user took this result out of the conversation.]"
)

// Mark marks the items with the given ids, and returns how many it found. A dropped
// answer takes its calls and their results with it, and returns with them. An item
// that is pinned is not dropped any more, and one that is dropped not pinned.
func (c *Conversation) Mark(mark Mark, ids ...string) (found int) {
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	var at []int
	for i := range c.items {
		if it := &c.items[i]; it.Type.CanMark() && wanted[it.ID()] {
			at = append(at, i)
		}
	}
	changed := false
	for _, i := range at {
		isDropped := c.items[i].Dropped()
		c.mark(mark, i)
		changed = changed || isDropped != c.items[i].Dropped()
	}
	if changed {
		c.DropNative() // a provider's reasoning is bound to what it had read
	}
	return len(at)
}

func (c *Conversation) mark(mark Mark, i int) {
	it := &c.items[i]
	switch mark {
	case MarkPin:
		c.restore(i)
		it.Pinned = true
	case MarkUnpin:
		it.Pinned = false
	case MarkDrop:
		for _, j := range c.resultsOf(i) {
			c.items[j].drop()
		}
		it.drop()
	case MarkRestore:
		c.restore(i)
	}
}

// restore brings a dropped item back, with all that it cannot be without.
func (c *Conversation) restore(i int) {
	it := &c.items[i]
	if !it.Dropped() {
		return
	}
	it.restore()
	if it.Type == AssistantMessage {
		for _, j := range c.resultsOf(i) {
			c.items[j].restore()
		}
	}
	if it.Type == ToolResult {
		if j := c.callerOf(i); j >= 0 && c.items[j].Dropped() {
			c.items[j].restore()
		}
	}
}

// resultsOf returns the indexes of the results of an answer's calls.
func (c *Conversation) resultsOf(i int) (at []int) {
	calls := map[string]bool{}
	for _, call := range c.items[i].original().Calls() {
		calls[call.ID] = true
	}
	for j := i + 1; j < len(c.items) && len(at) < len(calls); j++ {
		if it := &c.items[j]; it.Type == ToolResult && calls[it.callID()] {
			at = append(at, j)
		}
	}
	return at
}

// callerOf returns the index of the answer with the call of a result; -1 if there is
// none.
func (c *Conversation) callerOf(i int) int {
	id := c.items[i].callID()
	for j := i - 1; j >= 0; j-- {
		if slices.ContainsFunc(c.items[j].original().Calls(), func(call llm.ToolCall) bool { return call.ID == id }) {
			return j
		}
	}
	return -1
}

// callID returns the id of the call that a result answers; empty for other items.
func (it *Item) callID() string {
	if it.Type == ToolResult && len(it.Message.Parts) > 0 && it.Message.Parts[0].Result != nil {
		return it.Message.Parts[0].Result.CallID
	}
	return ""
}

// original returns the message, also of a dropped item.
func (it *Item) original() llm.Message {
	if it.whole != nil {
		return *it.whole
	}
	return it.Message
}

func (it *Item) drop() {
	if it.Dropped() {
		return
	}
	it.Pinned = false
	whole := it.Message
	it.whole = &whole
	if it.Type != ToolResult {
		it.Message = llm.Text(whole.Role, droppedMessage)
		return
	}
	r := *whole.Parts[0].Result
	r.Parts = []llm.Part{{Kind: llm.PartText, Text: droppedResult}}
	it.Message = llm.Message{Role: whole.Role, Parts: []llm.Part{{Kind: llm.PartToolResult, Result: &r}}}
}

func (it *Item) restore() {
	if it.Dropped() {
		it.Message, it.whole = *it.whole, nil
		it.Message.Origin = nil
	}
}

// pinned returns the pinned items of those given. A pinned result comes with its
// call, and a pinned answer without calls whose result is not pinned.
func pinned(items []Item) (kept []Item) {
	calls := map[string]bool{}
	for i := range items {
		if items[i].Pinned && items[i].Type == ToolResult {
			calls[items[i].callID()] = true
		}
	}
	for _, it := range items {
		if it.Type != AssistantMessage {
			if it.Pinned {
				kept = append(kept, it)
			}
			continue
		}
		isDropped := it.Dropped()
		it.Message.Parts = slices.DeleteFunc(slices.Clone(it.Message.Parts), func(p llm.Part) bool {
			if p.Call != nil {
				return !calls[p.Call.ID]
			}
			return !it.Pinned || isDropped || p.Kind != llm.PartText && p.Kind != llm.PartMedia
		})
		if len(it.Message.Parts) > 0 {
			kept = append(kept, it)
		}
	}
	return kept
}

// Text returns the text of an item, of an answer with its calls and of a result with
// what it says.
func (it *Item) Text() string {
	var b strings.Builder
	for _, p := range it.original().Parts {
		writePart(&b, p)
	}
	return b.String()
}

func writePart(b *strings.Builder, p llm.Part) {
	line := p.Text
	switch {
	case p.Kind == llm.PartMedia:
		line = "[" + nameOf(p.Media) + "]"
	case p.Call != nil:
		line = p.Call.Name + " " + string(p.Call.Arguments)
	case p.Reasoning != nil:
		return
	case p.Result != nil:
		for _, said := range p.Result.Parts {
			writePart(b, said)
		}
		return
	}
	if line != "" && b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(line)
}
