package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"atelier.dev/atelier/agent"
)

// Scan learns the secrets in a value with a JSON form, such as what an event carries. seq
// is the place of the event; 0 is none.
func (r *Redactor) Scan(seq int64, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("look for secrets: %w", err)
	}
	rewrite(raw, 0, func(name, text string) string {
		r.ScanText(seq, name, text)
		return text
	})
	return nil
}

// Event returns an event without the secrets that the policy takes out. With an error
// it returns nothing of the event.
func (r *Redactor) Event(ev agent.Event) (agent.Event, error) {
	clean, err := r.cleaned(ev.Data)
	if err != nil {
		return agent.Event{}, err
	}
	if clean == nil {
		return ev, nil
	}
	if ev.Data, err = agent.DecodePayload(ev.Kind(), clean); err != nil {
		return agent.Event{}, fmt.Errorf("take secrets out of an event: %w", err)
	}
	return ev, nil
}

// Value returns a value with a JSON form without the secrets that the policy takes
// out. With an error it returns nothing of the value.
func Value[T any](r *Redactor, v T) (T, error) {
	var out T
	clean, err := r.cleaned(v)
	if err != nil {
		return out, err
	}
	if clean == nil {
		return v, nil
	}
	if err := json.Unmarshal(clean, &out); err != nil {
		var none T // out may have a part of it
		return none, fmt.Errorf("take secrets out: %w", err)
	}
	return out, nil
}

// cleaned returns the JSON of a value without secrets; nil if it has none.
func (r *Redactor) cleaned(v any) ([]byte, error) {
	if r.policy.Off {
		return nil, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("take secrets out: %w", err)
	}
	clean := rewrite(raw, 0, r.Text)
	if bytes.Equal(clean, raw) {
		return nil, nil
	}
	return clean, nil
}

// maxNested limits how often JSON in a text of JSON is read as JSON.
const maxNested = 3

// rewrite returns JSON with each text, but for the names of members, replaced by what
// change makes of it. Everything else keeps its bytes. A text that is itself JSON, such
// as the arguments of a call, is rewritten in the same way, so that it stays JSON.
func rewrite(raw []byte, nested int, change func(name, text string) string) []byte {
	var out bytes.Buffer
	name, at := "", 0
	for at < len(raw) {
		start := bytes.IndexByte(raw[at:], '"')
		if start < 0 {
			break
		}
		out.Write(raw[at : at+start])
		start += at
		at = endOfText(raw, start)
		literal := raw[start:at]
		var text string
		if json.Unmarshal(literal, &text) != nil {
			out.Write(literal)
			continue
		}
		if isName(raw, at) {
			name = text
			out.Write(literal)
			continue
		}
		var changed string
		if trimmed := strings.TrimSpace(text); nested < maxNested && strings.HasPrefix(trimmed, "{") && json.Valid([]byte(text)) {
			changed = string(rewrite([]byte(text), nested+1, change))
		} else {
			changed = change(name, text)
		}
		if changed == text {
			out.Write(literal)
			continue
		}
		encoded, err := json.Marshal(changed)
		if err != nil {
			encoded = []byte(`""`) // no text fails to encode
		}
		out.Write(encoded)
	}
	out.Write(raw[at:])
	return out.Bytes()
}

// endOfText returns the end of the text that begins at start.
func endOfText(raw []byte, start int) int {
	for i := start + 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// isName reports whether the text that ends here is the name of a member.
func isName(raw []byte, end int) bool {
	rest := bytes.TrimLeft(raw[end:min(len(raw), end+8)], " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}
