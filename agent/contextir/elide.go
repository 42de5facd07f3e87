package contextir

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"atelier.dev/atelier/agent/llm"
)

const (
	// elideFrom is the length in bytes from which an old output is shortened,
	// and elideTo the length that remains.
	elideFrom = 2000
	elideTo   = 500
	// mediaBytes is the assumed size of a picture.
	mediaBytes = 6000
)

// Elide shortens outputs of tools and commands, the oldest first, until it has
// removed about the given number of bytes, and returns how many it removed.
// Outputs since the newest answer stay whole, because the model has not read
// them yet, and so do pinned ones and errors of the newest ten turns (COM-17). The same conversation and number give the same result, so that a
// log can be folded again.
func (c *Conversation) Elide(bytes int) int {
	gone := 0
	old := c.read()
	for i := range old {
		if gone >= bytes {
			break
		}
		if !c.keeps(&old[i]) {
			gone += old[i].elide("")
		}
	}
	if gone > 0 {
		c.unsettle()
	}
	return gone
}

// Elidable returns the most that [Conversation.Elide] could remove, and from
// how many results, if the newest keep results stay whole (COM-14). A call of
// Elide with no more than that number leaves them whole.
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
		if _, gone := it.elided(""); gone > 0 && !c.keeps(&it) {
			bytes += gone
			results++
		}
	}
	return bytes, results
}

// read returns the items that the newest answer or summary has seen.
func (c *Conversation) read() []Item {
	for last := len(c.items); last > 0; last-- {
		if by := c.items[last-1].Type; by == AssistantMessage || by == CompactionSummary {
			return c.items[:last]
		}
	}
	return nil
}

// isOutput reports whether the item is the output of a tool or of a user's
// command.
func (it *Item) isOutput() bool { return it.Type == ToolResult || it.Type == LocalCommand }

// elide shortens the outputs in an item, of which a file may have the whole, and returns by
// how many bytes.
func (it *Item) elide(file string) int {
	parts, gone := it.elided(file)
	if gone > 0 {
		it.Message.Parts, it.short, it.file = parts, true, file
	}
	return gone
}

// elided returns an item's shortened parts, and by how many bytes they are
// shorter.
func (it *Item) elided(file string) (parts []llm.Part, gone int) {
	if !it.isOutput() {
		return nil, 0
	}
	parts = make([]llm.Part, len(it.Message.Parts))
	for i, p := range it.Message.Parts {
		if p.Result == nil {
			short, n := shortened(p, file)
			parts[i], gone = short, gone+n
			continue
		}
		short := *p.Result
		short.Parts = nil
		for _, said := range p.Result.Parts {
			said, n := shortened(said, file)
			short.Parts = append(short.Parts, said)
			gone += n
		}
		parts[i] = llm.Part{Kind: llm.PartToolResult, Result: &short}
	}
	return parts, gone
}

func shortened(p llm.Part, file string) (llm.Part, int) {
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
	if file != "" {
		return llm.Part{Kind: llm.PartText, Text: fmt.Sprintf(
			"%s\n[Content offloaded to %s, %d bytes. Read that file if more of it is needed.]", p.Text[:cut], file, len(p.Text))}, gone
	}
	return llm.Part{Kind: llm.PartText, Text: fmt.Sprintf(
		"%s\n[%d more bytes were taken out to make room. Run the tool again if they are needed.]", p.Text[:cut], gone)}, gone
}
