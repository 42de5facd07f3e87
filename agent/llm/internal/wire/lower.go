package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"slices"
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

// JSON encodes v, which must be encodable, like the APIs do: < > & are not
// escaped.
func JSON(v any) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimSpace(buf.Bytes())
}

// withMembers returns an encoded object with additional members, in pieces.
func withMembers(object []byte, members []member) [][]byte {
	out := [][]byte{object[:len(object)-1]}
	begun := len(object) > len("{}")
	for _, m := range members {
		name := `"` + m.name + `":`
		if begun {
			name = "," + name
		}
		begun = true
		out = append(append(out, []byte(name)), m.value...)
	}
	return append(out, []byte("}"))
}

// pieces is the body of a request. It reads pieces one after the other.
type pieces struct {
	left [][]byte
	read int // bytes of the first piece
}

// Read implements [io.Reader].
func (p *pieces) Read(b []byte) (int, error) {
	n := 0
	for len(p.left) > 0 && n < len(b) {
		copied := copy(b[n:], p.left[0][p.read:])
		n, p.read = n+copied, p.read+copied
		if p.read == len(p.left[0]) {
			p.left, p.read = p.left[1:], 0
		}
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// writeTo writes what was not read yet. The pieces are not copied if w is a
// connection of the system.
func (p *pieces) writeTo(w io.Writer) (int64, error) {
	left := net.Buffers(slices.Clone(p.left))
	if p.read > 0 {
		left[0] = left[0][p.read:]
	}
	p.left, p.read = nil, 0
	return left.WriteTo(w)
}

// Close implements [io.Closer].
func (p *pieces) Close() error { return nil }

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
