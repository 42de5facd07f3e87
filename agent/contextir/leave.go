package contextir

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent/llm"
)

// This file takes out of a conversation what a provider will not take. The same
// conversation and arguments give the same result, so that a log can be folded
// again.

// cutTo is the length in bytes to which a text is cut at most.
const cutTo = 1000

// cutMark is more than the length of the line in the place of what was cut.
const cutMark = 200

// Cut shortens the longest texts, whoever wrote them, until about the given
// number of bytes is gone, and returns how many are. The beginning and the end of
// a text remain. Answers lose what only their provider understands.
func (c *Conversation) Cut(bytes int) int {
	most := c.level(bytes)
	gone := 0
	for i := range c.items {
		it := &c.items[i]
		if it.isLongerThan(most) {
			before := it.Bytes()
			it.Message = mapTexts(it.Message, func(text string) string { return middleless(text, most) })
			gone += before - it.Bytes()
			it.short = true
		}
	}
	if gone > 0 {
		c.DropNative()
	}
	return gone
}

// Cuttable returns the most that [Conversation.Cut] could remove.
func (c *Conversation) Cuttable() int {
	n := 0
	for _, length := range c.lengths() {
		n += max(0, length-cutTo-cutMark)
	}
	return n
}

// level returns the length to which texts have to be cut so that the given number
// of bytes is gone.
func (c *Conversation) level(bytes int) int {
	lengths := c.lengths()
	slices.SortFunc(lengths, func(a, b int) int { return cmp.Compare(b, a) })
	sum := 0
	for i, length := range lengths {
		sum += length
		most := (sum - bytes) / (i + 1)
		if i+1 == len(lengths) || most >= lengths[i+1] {
			return max(cutTo, most)
		}
	}
	return cutTo
}

// lengths returns the lengths of all texts.
func (c *Conversation) lengths() (all []int) {
	for i := range c.items {
		mapTexts(c.items[i].Message, func(text string) string {
			all = append(all, len(text))
			return text
		})
	}
	return all
}

func (it *Item) isLongerThan(most int) (longer bool) {
	mapTexts(it.Message, func(text string) string {
		longer = longer || len(text) > most
		return text
	})
	return longer
}

// mapTexts returns a message with other texts. Calls and reasoning stay.
func mapTexts(m llm.Message, change func(string) string) llm.Message {
	return mapParts(m, func(p llm.Part) llm.Part {
		if p.Kind == llm.PartText {
			p.Text = change(p.Text)
		}
		return p
	})
}

// mapParts returns a message with other parts, also inside of results.
func mapParts(m llm.Message, change func(llm.Part) llm.Part) llm.Message {
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		if p.Result == nil {
			m.Parts[i] = change(p)
			continue
		}
		r := *p.Result
		r.Parts = slices.Clone(r.Parts)
		for j := range r.Parts {
			r.Parts[j] = change(r.Parts[j])
		}
		m.Parts[i].Result = &r
	}
	return m
}

// middleless returns the beginning and the end of a text, about most bytes in all.
func middleless(text string, most int) string {
	if len(text) <= most {
		return text
	}
	from, to := most/2, len(text)-most/2
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return fmt.Sprintf("%s\n[%d bytes were taken out here, because the conversation was longer than the model can read.]\n%s", text[:from], to-from, text[to:])
}

// Attached counts the pictures and other attachments of all messages, and of those
// that no answer or summary has seen.
func (c *Conversation) Attached() (all, unread int) {
	answered := c.answered()
	for i, it := range c.items {
		n := attached(it.Message)
		all += n
		if i >= answered {
			unread += n
		}
	}
	return all, unread
}

// AttachedTo returns the attachments of the message with the given number, from 0,
// as a provider counts that joins neighbouring messages of one side: the first of
// them and the one after the last, counted in the whole conversation.
func (c *Conversation) AttachedTo(message int) (from, to int) {
	at, count := -1, 0
	var before llm.Role
	for _, m := range lower(c.items) {
		role := m.Role
		if role != llm.RoleAssistant {
			role = llm.RoleUser
		}
		if role != before {
			at++
			before = role
		}
		n := attached(m)
		if at == message && to == 0 {
			from = count
		}
		count += n
		if at == message {
			to = count
		}
	}
	return from, to
}

func attached(m llm.Message) (n int) {
	mapParts(m, func(p llm.Part) llm.Part {
		if p.Kind == llm.PartMedia {
			n++
		}
		return p
	})
	return n
}

// Detach puts a line of text in the place of attachments, from one up to another
// in the order of the conversation.
func (c *Conversation) Detach(from, to int) {
	at := 0
	for i := range c.items {
		it := &c.items[i]
		n := attached(it.Message)
		if n == 0 {
			continue
		}
		if at < to && at+n > from {
			it.Message = mapParts(it.Message, func(p llm.Part) llm.Part {
				if p.Kind != llm.PartMedia {
					return p
				}
				if at++; at > from && at <= to {
					return llm.Part{Kind: llm.PartText, Text: fmt.Sprintf("[%s was left out: the provider refused it]", nameOf(p.Media))}
				}
				return p
			})
			continue
		}
		at += n
	}
	c.pictures = slices.ContainsFunc(c.items, func(it Item) bool { return pictured(it.Message.Parts) })
	c.unsettle()
}

func nameOf(m *llm.Media) string {
	kind := "an attachment"
	if m != nil && strings.HasPrefix(m.MIME, "image/") {
		kind = "a picture"
	}
	if m == nil {
		return kind
	}
	return cmp.Or(m.Name, kind)
}

const (
	refusedResult   = "[The result was left out: the provider refused it.]"
	refusedMessages = "[Messages were left out here: the provider refused them.]"
)

// Unread returns the index of the first item that no answer has seen, and whether
// there is anything from there on but the newest message of the user.
func (c *Conversation) Unread() (from int, other bool) {
	from = c.answered()
	left := len(c.items) - from
	if c.prompt() >= from {
		left--
	}
	return from, left > 0
}

// prompt returns the index of the newest message of the user; -1 if there is none.
func (c *Conversation) prompt() int {
	for i, it := range slices.Backward(c.items) {
		if it.Type == UserMessage || it.Type == SteeringMessage {
			return i
		}
	}
	return -1
}

// answered returns the number of items up to the newest answer in which something
// is, or the newest summary.
func (c *Conversation) answered() int {
	for i, it := range slices.Backward(c.items) {
		if it.Type == CompactionSummary || it.Type == AssistantMessage && len(it.Message.Parts) > 0 {
			return i + 1
		}
	}
	return 0
}

// Exchange returns where the exchange begins that the item with the given index
// belongs to or follows: the newest message of the user before it, or 0.
func (c *Conversation) Exchange(before int) int {
	for i := min(before, len(c.items)) - 1; i > 0; i-- {
		if c.items[i].Type == UserMessage {
			return i
		}
	}
	return 0
}

// LeaveOut puts a line of text in the place of the items from an index on, but for
// the newest message of the user. Of the result of a call that stays, the text alone
// is left out.
func (c *Conversation) LeaveOut(from int) {
	from = min(from, len(c.items)) // a damaged log may have lost items
	called := map[string]bool{}
	for _, it := range c.items[:from] {
		for _, call := range it.Message.Calls() {
			called[call.ID] = true
		}
	}
	kept := slices.Clone(c.items[:from])
	var prompt []Item
	gone := false
	for i, it := range c.items[from:] {
		switch {
		case from+i == c.prompt():
			prompt = append(prompt, it)
		case it.Type == ToolResult && called[it.Message.Parts[0].Result.CallID]:
			it.Message = withoutResult(it.Message)
			kept = append(kept, it)
		default:
			gone = true
		}
	}
	if gone {
		kept = append(kept, Item{Type: SystemReminder, Message: llm.Text(llm.RoleUser, refusedMessages)})
	}
	c.items = append(kept, prompt...)
	c.pictures = slices.ContainsFunc(c.items, func(it Item) bool { return pictured(it.Message.Parts) })
	c.unsettle()
}

func withoutResult(m llm.Message) llm.Message {
	r := *m.Parts[0].Result
	r.Parts = []llm.Part{{Kind: llm.PartText, Text: refusedResult}}
	m.Parts = []llm.Part{{Kind: llm.PartToolResult, Result: &r}}
	return m
}
