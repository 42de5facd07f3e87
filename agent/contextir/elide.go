package contextir

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"atelier.dev/atelier/agent/llm"
)

const (
	// elideFrom is the length in bytes from which an old output is worth
	// shortening, and elideTo what is left of it.
	elideFrom = 2000
	elideTo   = 500
	// mediaBytes is what a picture counts as.
	mediaBytes = 6000
)

// Elide shortens outputs of tools and commands, the oldest first, until about so
// many bytes are gone, and returns how many were. What was given back since the
// newest answer stays whole: the model has not read it yet. The same conversation
// and number give the same result, so that a log can be folded again.
func (c *Conversation) Elide(bytes int) int {
	gone := 0
	old := c.read()
	for i := range old {
		if gone >= bytes {
			break
		}
		gone += old[i].elide()
	}
	if gone > 0 {
		c.settled, c.from = nil, 0
	}
	return gone
}

// Elidable is the most that [Conversation.Elide] could take out, and of how
// many results, where so many of the newest results stay whole (COM-14). To be
// asked for no more than this keeps them so.
func (c *Conversation) Elidable(keep int) (bytes, results int) {
	read := c.read()
	for _, it := range c.items[len(read):] {
		if it.isOutput() {
			keep--
		}
	}
	for _, it := range slices.Backward(read) {
		if !it.isOutput() {
			continue
		}
		if keep--; keep >= 0 {
			continue
		}
		if _, gone := it.elided(); gone > 0 {
			bytes += gone
			results++
		}
	}
	return bytes, results
}

// read are the items that the newest answer, or the newest summary, has seen.
func (c *Conversation) read() []Item {
	for last := len(c.items); last > 0; last-- {
		if by := c.items[last-1].Type; by == AssistantMessage || by == CompactionSummary {
			return c.items[:last]
		}
	}
	return nil
}

// isOutput reports whether the item is what a tool, or a command of the user's,
// gave back.
func (it *Item) isOutput() bool { return it.Type == ToolResult || it.Type == LocalCommand }

// elide shortens the outputs in an item and returns by how much.
func (it *Item) elide() int {
	parts, gone := it.elided()
	if gone > 0 {
		it.Message.Parts = parts
	}
	return gone
}

// elided are an item's parts after it is shortened, and by how much that is.
func (it *Item) elided() (parts []llm.Part, gone int) {
	if !it.isOutput() {
		return nil, 0
	}
	parts = make([]llm.Part, len(it.Message.Parts))
	for i, p := range it.Message.Parts {
		if p.Result == nil {
			short, n := shortened(p)
			parts[i], gone = short, gone+n
			continue
		}
		short := *p.Result
		short.Parts = nil
		for _, said := range p.Result.Parts {
			said, n := shortened(said)
			short.Parts = append(short.Parts, said)
			gone += n
		}
		parts[i] = llm.Part{Kind: llm.PartToolResult, Result: &short}
	}
	return parts, gone
}

func shortened(p llm.Part) (llm.Part, int) {
	switch {
	case p.Kind == llm.PartMedia:
		return llm.Part{Kind: llm.PartText, Text: "[A picture was here. It was taken out to make room.]"}, mediaBytes
	case len(p.Text) < elideFrom:
		return p, 0
	}
	cut := elideTo
	for cut > 0 && !utf8.RuneStart(p.Text[cut]) {
		cut--
	}
	gone := len(p.Text) - cut
	return llm.Part{Kind: llm.PartText, Text: fmt.Sprintf(
		"%s\n[%d more bytes were taken out to make room. Run the tool again if they are needed.]", p.Text[:cut], gone)}, gone
}
