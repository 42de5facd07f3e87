package contextinfo

import (
	"fmt"
	"io"
	"strings"
)

// Print writes the figures as lines of text for a terminal: the kinds, what stands
// before the conversation, and the items of the page.
func (i *ContextInfo) Print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Context of %s/%s: %d tokens", i.Provider, i.Model, i.Used+i.Added)
	if i.Window > 0 {
		fmt.Fprintf(&b, " of %d", i.Window)
	}
	if i.Threshold > 0 {
		fmt.Fprintf(&b, ", compacts at %d", i.Threshold)
	}
	if i.Margin > 0 {
		fmt.Fprintf(&b, " (estimated, within about %d)", i.Margin)
	}
	b.WriteString("\n")
	for _, p := range i.Parts {
		fmt.Fprintf(&b, "%9d  %s\n", p.Tokens, p.Kind)
	}
	if c := i.Cache; c != nil {
		fmt.Fprintf(&b, "Cache: %d read, %d written, %d fresh\n", c.Read, c.Write, c.Fresh)
		if c.Broken != nil {
			fmt.Fprintf(&b, "Last broken: %d tokens were read anew (%s)\n", c.Broken.Tokens, c.Broken.Reason)
		}
	}
	b.WriteString("Before every message:\n")
	for _, h := range i.Header {
		fmt.Fprintf(&b, "%9d  %s %s\n", h.Tokens, h.Type, printable(h.Name))
	}
	fmt.Fprintf(&b, "Items: %d, pinned %d, taken out %d\n", i.Total, i.Pinned, i.Dropped)
	for _, it := range i.Items {
		fmt.Fprintf(&b, "%9d  %s%s  %s\n", it.Tokens, it.ID, it.flags(), printable(it.Text))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (it *ContextItem) flags() string {
	flags := ""
	if it.Pinned {
		flags += " +pinned"
	}
	if it.Dropped {
		flags += " +taken out"
	}
	return flags
}

// printable returns a text without what a terminal would obey.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '�'
		}
		return r
	}, text)
}
