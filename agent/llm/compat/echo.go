package compat

import (
	"encoding/json"

	"atelier.dev/atelier/agent/llm/internal/wire"
)

// What a model thought goes back in the form it came in, as fields of its
// message (LLM-28): a string in a field of its own, a part of the content, or a
// list of details.
const (
	contentField = "content"
	detailsField = "reasoning_details"
	// reasoningField is the string's name where an endpoint insists on one.
	reasoningField = "reasoning_content"
)

// echo is the native form of reasoning that came in a field.
func echo(field, text string) json.RawMessage {
	if field == contentField {
		return wire.JSON(map[string]any{field: []any{thinkingPart{"thinking", []textPart{{"text", text}}}}})
	}
	return wire.JSON(map[string]string{field: text})
}

type thinkingPart struct {
	Type     string     `json:"type"`
	Thinking []textPart `json:"thinking"`
}

type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// mergeEcho adds native reasoning to the fields of its message, where an
// answer's several stretches of it share one.
func mergeEcho(extra map[string]any, native json.RawMessage) {
	var fields map[string]any
	if json.Unmarshal(native, &fields) != nil {
		return
	}
	for field, value := range fields {
		switch value := value.(type) {
		case string:
			before, _ := extra[field].(string)
			extra[field] = before + value
		case []any:
			before, _ := extra[field].([]any)
			extra[field] = append(before, value...)
		}
	}
}

// details gathers the list that a gateway describes reasoning by, the proofs
// of whichever provider stands behind it among them. All of it must come back,
// in order.
type details []map[string]any

// add takes the details of a chunk. One that goes on where the last one stopped
// is a piece of it.
func (d *details) add(chunk []map[string]any) {
	for _, piece := range chunk {
		last := len(*d) - 1
		if last < 0 || !continues((*d)[last], piece) {
			*d = append(*d, piece)
			continue
		}
		for name, value := range piece {
			text, isText := value.(string)
			before, _ := (*d)[last][name].(string)
			if isText && (name == "text" || name == "summary" || name == "data") {
				value = before + text
			}
			if value != nil {
				(*d)[last][name] = value
			}
		}
	}
}

// continues says whether b is a piece of the same detail as a.
func continues(a, b map[string]any) bool {
	return a["type"] != nil && a["type"] == b["type"] && a["index"] == b["index"] &&
		(a["id"] == b["id"] || a["id"] == nil || b["id"] == nil)
}
