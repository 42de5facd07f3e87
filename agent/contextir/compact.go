package contextir

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent/llm"
)

const (
	// wordsKept limits how many bytes of the user's messages stay verbatim in a
	// summary, the newest first; wordsEach limits one message.
	wordsKept = 20_000
	wordsEach = 5_000
)

// Older returns what [Conversation.Compact] would remove: the existing summary
// and the messages since.
func (c *Conversation) Older(keep int) (summary string, messages []llm.Message) {
	older := c.items[:len(c.items)-keep]
	if len(older) > 0 && older[0].Type == CompactionSummary {
		summary, older = c.summary, older[1:]
	}
	return summary, lower(older)
}

// Words returns the user's messages from before the existing summary, as far as
// they are kept.
func (c *Conversation) Words() []string { return c.words }

// Results counts the tool results that Compact would remove.
func (c *Conversation) Results(keep int) int {
	n := 0
	for _, it := range c.items[:len(c.items)-keep] {
		if it.Type == ToolResult {
			n++
		}
	}
	return n
}

// Tail returns how many of the newest items fit in the given number of bytes.
// It keeps every item that the model has not read, and never separates a call
// from its result.
func (c *Conversation) Tail(bytes int) int {
	read := c.read()
	keep := len(c.items) - len(read)
	if n := len(read); n > 0 && keep > 0 && len(read[n-1].Message.Calls()) > 0 {
		keep++
	}
	for i := len(c.items) - 1; i >= 0; i-- {
		if bytes -= c.items[i].Bytes(); bytes < 0 {
			break
		}
		if c.items[i].Type != ToolResult {
			keep = max(keep, len(c.items)-i)
		}
	}
	return keep
}

// Bytes estimates the size of the conversation.
func (c *Conversation) Bytes() int {
	n := 0
	for i := range c.items {
		n += c.items[i].Bytes()
	}
	return n
}

// Compact replaces all items except the newest keep items by a summary (COM-09,
// OAS-109). The user's messages stay verbatim within a limit, through any
// number of summaries. Pinned items stay behind the summary, a pinned result with
// its call. Changed files are named, the newest last. Data that only
// a provider understands is removed from the remaining items, because it is
// bound to earlier messages. The same conversation and arguments give the same
// result, so that a log can be folded again.
func (c *Conversation) Compact(summary string, keep int, files []string) {
	c.CompactWithin(summary, keep, files, 0)
}

// CompactWithin is [Conversation.Compact] with at most words bytes of the user's messages, if
// that is less than the usual limit; 0 means that limit.
func (c *Conversation) CompactWithin(summary string, keep int, files []string, words int) {
	keep = min(keep, len(c.items)) // a damaged log may have lost items
	older := c.items[:len(c.items)-keep]
	for _, it := range older {
		if (it.Type == UserMessage || it.Type == SteeringMessage) && !it.Pinned && !it.Dropped() {
			c.words = append(c.words, it.Message.Text())
		}
	}
	c.words = newest(c.words, min(cmp.Or(words, wordsKept), wordsKept))
	c.summary = summary
	item := c.item(CompactionSummary, llm.Text(llm.RoleUser, standIn(summary, files, c.words)))
	c.items = slices.Concat([]Item{item}, pinned(older), c.items[len(older):])
	c.pictures = slices.ContainsFunc(c.items, func(it Item) bool { return pictured(it.Message.Parts) })
	c.DropNative()
}

// Clone returns an independent copy of the conversation.
func (c *Conversation) Clone() *Conversation {
	d := *c
	d.items, d.words, d.lowered, d.created = slices.Clone(c.items), slices.Clone(c.words), slices.Clip(c.lowered), maps.Clone(c.created)
	return &d
}

// newest returns the newest texts that fit the limit in bytes, each cut to its share.
func newest(texts []string, room int) []string {
	for i, text := range slices.Backward(texts) {
		texts[i] = head(text, wordsEach)
		if room -= len(texts[i]); room < 0 {
			return slices.Clone(texts[i+1:])
		}
	}
	return texts
}

// head returns the beginning of a text: whole characters of at most most bytes.
func head(text string, most int) string {
	const more = " […]"
	if len(text) <= most {
		return text
	}
	cut := most - len(more)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + more
}

// standIn returns the message that replaces removed items. The summary cannot
// pose as the user's words, because it cannot contain its own end mark.
func standIn(summary string, files, words []string) string {
	var b strings.Builder
	summary = strings.ReplaceAll(summary, "</summary>", `<\/summary>`)
	fmt.Fprintf(&b, "The conversation up to here was taken out to make room. This stands in for it.\n\n<summary>\n%s\n</summary>\n", summary)
	if len(files) > 0 {
		fmt.Fprintf(&b, "\nFiles that were changed, the newest last: %s\n", strings.Join(files, ", "))
	}
	if len(words) > 0 {
		b.WriteString("\nWhat the user wrote, word for word, the oldest first:\n")
		for _, text := range words {
			fmt.Fprintf(&b, "<user_message>\n%s\n</user_message>\n", text)
		}
	}
	b.WriteString("\nGo on from where this leaves off. Read a file again before you rely on what was in it.")
	return b.String()
}

// Bytes estimates the size of a message.
func Bytes(m llm.Message) int { return partsBytes(m.Parts) }

func partsBytes(parts []llm.Part) int {
	n := 0
	for _, p := range parts {
		switch {
		case p.Kind == llm.PartMedia:
			n += mediaBytes
		case p.Call != nil:
			n += len(p.Call.Name) + len(p.Call.Arguments)
		case p.Result != nil:
			n += partsBytes(p.Result.Parts)
		case p.Reasoning != nil:
			n += len(p.Reasoning.Text)
		default:
			n += len(p.Text)
		}
	}
	return n
}
