package contextir

import (
	"iter"
	"slices"

	"atelier.dev/atelier/agent/llm"
)

// Conversation is the ordered items of one session. The zero value is empty and
// ready to use. It is not safe for concurrent use.
type Conversation struct {
	items []Item
	// lowered is the list that Lower returned last; its callers may still read
	// it. The first settled messages are those of items[:from], whose calls have
	// all been answered. They never change, so that a request costs the same in a
	// long conversation as in a short one.
	lowered  []llm.Message
	settled  int
	from     int
	pictures bool
	// summary and words are what [Conversation.Compact] kept of the items that
	// it removed.
	summary string
	words   []string
	// turn is the current one, and created counts its items by their type.
	turn    int
	created map[ItemType]int
}

// Begin says that later items belong to a turn. Turns have ascending numbers.
func (c *Conversation) Begin(turn int) {
	if turn != c.turn {
		c.turn, c.created = turn, nil
	}
}

// Append appends an item.
func (c *Conversation) Append(t ItemType, m llm.Message) {
	c.items = append(c.items, c.item(t, m))
	c.pictures = c.pictures || pictured(m.Parts)
}

// Withdraw removes the newest message of the user that no answer follows, and
// returns its size in bytes; 0 if there is none.
func (c *Conversation) Withdraw() int {
	for i, it := range slices.Backward(c.items) {
		switch it.Type {
		case AssistantMessage:
			return 0
		case UserMessage:
			c.items = slices.Delete(slices.Clone(c.items), i, i+1)
			c.unsettle()
			return Bytes(it.Message)
		}
	}
	return 0
}

// item returns a new item of the current turn.
func (c *Conversation) item(t ItemType, m llm.Message) Item {
	if c.created == nil {
		c.created = map[ItemType]int{}
	}
	c.created[t]++
	return Item{Type: t, Message: m, Turn: c.turn, number: c.created[t]}
}

// Newest returns the type of the newest item; empty if there is none.
func (c *Conversation) Newest() ItemType {
	if len(c.items) == 0 {
		return ""
	}
	return c.items[len(c.items)-1].Type
}

// Len returns the number of items.
func (c *Conversation) Len() int { return len(c.items) }

// Since returns the messages of the items from index n on, unchanged.
func (c *Conversation) Since(n int) []llm.Message {
	var out []llm.Message
	for _, it := range c.items[min(n, len(c.items)):] {
		out = append(out, it.Message)
	}
	return out
}

// Items returns the items in order.
func (c *Conversation) Items() iter.Seq[Item] { return slices.Values(c.items) }

// Backward returns the items from the newest on. The caller must not change them.
func (c *Conversation) Backward() iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		for i := len(c.items) - 1; i >= 0 && yield(&c.items[i]); i-- {
		}
	}
}

// Pictures reports whether any message may hold a picture.
func (c *Conversation) Pictures() bool { return c.pictures }

func pictured(parts []llm.Part) bool {
	return slices.ContainsFunc(parts, func(p llm.Part) bool {
		return p.Kind == llm.PartMedia || p.Result != nil && pictured(p.Result.Parts)
	})
}

// Native reports whether any message holds data that only its provider
// understands.
func (c *Conversation) Native() bool {
	return slices.ContainsFunc(c.items, func(it Item) bool {
		return it.Message.Origin != nil && slices.ContainsFunc(it.Message.Parts, func(p llm.Part) bool {
			return p.Native != nil || p.Reasoning != nil
		})
	})
}

// DropNative removes the origin of every message so far, so that each is
// lowered from its text and calls alone.
func (c *Conversation) DropNative() {
	for i := range c.items {
		c.items[i].Message.Origin = nil
	}
	c.unsettle()
}

// unsettle makes Lower start again, because items have changed.
func (c *Conversation) unsettle() { c.lowered, c.settled, c.from = nil, 0, 0 }

// interruptedText answers a call without a result, because every provider
// refuses a history with an unanswered call.
const interruptedText = "This call was interrupted before it gave a result. Whether it had any effect is unknown."

// Lower returns the messages to send, in the form that providers insist on:
// every call is answered exactly once, right after the message that made it and
// in the order of the calls. Results without a call and assistant messages
// without content are left out (LOOP-12, COM-12, LLM-40). The caller must not
// change the messages.
func (c *Conversation) Lower() []llm.Message {
	for last := len(c.items) - 1; last > c.from; last-- {
		if c.items[last].Type == AssistantMessage { // later items cannot answer earlier calls
			c.settled = c.place(c.settled, lower(c.items[c.from:last]))
			c.from = last
			break
		}
	}
	return slices.Clip(c.lowered[:c.place(c.settled, lower(c.items[c.from:]))])
}

// place makes messages those from index n on in the lowered list, and returns
// the index after them. The list grows in place, beyond the end of every list
// that Lower has returned; it is copied only if a message in it has changed.
func (c *Conversation) place(n int, messages []llm.Message) int {
	for _, m := range messages {
		if n == len(c.lowered) || !same(c.lowered[n], m) {
			if n < len(c.lowered) {
				c.lowered = slices.Clip(c.lowered[:n])
			}
			c.lowered = append(c.lowered, m)
		}
		n++
	}
	return n
}

// same reports whether two lowered messages of the same items are alike.
func same(a, b llm.Message) bool {
	if a.Role != b.Role || a.Origin != b.Origin || len(a.Parts) != len(b.Parts) {
		return false
	}
	if len(a.Parts) == 0 || &a.Parts[0] == &b.Parts[0] {
		return true
	}
	return a.Role == llm.RoleTool && slices.EqualFunc(a.Parts, b.Parts, func(p, q llm.Part) bool { // collected each time
		return p.Result != nil && p.Result == q.Result
	})
}

func lower(items []Item) []llm.Message {
	results := map[string]llm.Part{}
	for _, it := range items {
		if it.Type == ToolResult {
			for _, p := range it.Message.Parts {
				results[p.Result.CallID] = p
			}
		}
	}
	out := make([]llm.Message, 0, len(items))
	for _, it := range items {
		switch it.Type {
		case ToolResult: // placed with its call
		case AssistantMessage:
			if len(it.Message.Parts) == 0 {
				continue
			}
			out = append(out, it.Message)
			if answers := answersTo(it.Message.Calls(), results); len(answers) > 0 {
				out = append(out, llm.Message{Role: llm.RoleTool, Parts: answers})
			}
		default:
			out = append(out, it.Message)
		}
	}
	return out
}

func answersTo(calls []llm.ToolCall, results map[string]llm.Part) []llm.Part {
	var parts []llm.Part
	for _, call := range calls {
		p, ok := results[call.ID]
		if !ok {
			p = Answer(call, interruptedText, true)
		}
		parts = append(parts, p)
	}
	return parts
}

// Answer returns the part that answers a call with text.
func Answer(call llm.ToolCall, text string, isError bool) llm.Part {
	if text == "" {
		text = "(no output)" // some providers refuse an empty result
	}
	return llm.Part{Kind: llm.PartToolResult, Result: &llm.ToolResult{
		CallID: call.ID, WireID: call.WireID, Name: call.Name, IsError: isError,
		Parts: []llm.Part{{Kind: llm.PartText, Text: text}},
	}}
}
