package wire

import (
	"encoding/base64"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// CallID is the id that a call goes back to its provider under.
func CallID(c *llm.ToolCall) string {
	if c.WireID != "" {
		return c.WireID
	}
	return c.ID
}

// ResultID is the id that a result is sent under.
func ResultID(r *llm.ToolResult) string {
	if r.WireID != "" {
		return r.WireID
	}
	return r.CallID
}

// ResultText is the text of a result for an API that has no flag for errors
// and takes no empty text.
func ResultText(r *llm.ToolResult) string {
	text := llm.Message{Parts: r.Parts}.Text()
	switch {
	case r.IsError && !strings.HasPrefix(text, "Error"):
		return "Error: " + text
	case text == "":
		return "(no output)"
	default:
		return text
	}
}

// ResultMedia returns the media of a result.
func ResultMedia(r *llm.ToolResult) []*llm.Media {
	var media []*llm.Media
	for _, p := range r.Parts {
		if p.Kind == llm.PartMedia && p.Media != nil {
			media = append(media, p.Media)
		}
	}
	return media
}

// IsImage says whether a model can be shown m as a picture.
func IsImage(m *llm.Media) bool { return strings.HasPrefix(m.MIME, "image/") }

// URL is where m is, or m itself as a data URL.
func URL(m *llm.Media) string {
	if m.URL != "" {
		return m.URL
	}
	return "data:" + m.MIME + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
}

// Omitted stands in for media that an API cannot carry.
func Omitted(m *llm.Media) string {
	name := m.Name
	if name == "" {
		name = "attachment"
	}
	return "[" + name + " (" + m.MIME + ") was left out: it cannot be sent to this model]"
}
