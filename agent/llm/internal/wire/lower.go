package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// Extra returns the caller's extra members of a request's body, in the form for
// an SDK.
func Extra(o llm.Options) map[string]any {
	extra := make(map[string]any, len(o.Body))
	for name, value := range o.Body {
		extra[name] = value
	}
	return extra
}

// Instructions separates the instructions, which are everything from the system
// or a developer before anyone else speaks, from the other messages (LLM-20).
func Instructions(req llm.Request) (instructions []string, rest []llm.Message) {
	if req.System != "" {
		instructions = append(instructions, req.System)
	}
	for i, m := range req.Messages {
		if m.Role != llm.RoleSystem && m.Role != llm.RoleDeveloper {
			return instructions, req.Messages[i:]
		}
		if text := m.Text(); strings.TrimSpace(text) != "" {
			instructions = append(instructions, text)
		}
	}
	return instructions, nil
}

// Encode encodes v like the APIs do: < > & are not escaped.
func Encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(buf.Bytes()), err
}

// JSON is [Encode] for a v that can be encoded.
func JSON(v any) json.RawMessage {
	b, err := Encode(v)
	if err != nil {
		return nil
	}
	return b
}

// ResultText returns the text of a result for an API without an error flag that
// refuses empty text.
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

// IsImage reports whether m has an image type that all providers accept.
func IsImage(m *llm.Media) bool {
	switch m.MIME {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	default:
		return false
	}
}

// URL returns the URL of m, or m as a data URL.
func URL(m *llm.Media) string {
	if m.URL != "" {
		return m.URL
	}
	return "data:" + m.MIME + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
}

// Omitted returns the text that replaces media that an API does not support.
func Omitted(m *llm.Media) string {
	name := m.Name
	if name == "" {
		name = "attachment"
	}
	return "[" + name + " (" + m.MIME + ") was left out: it cannot be sent to this model]"
}
