package compat

import (
	"bytes"
	"encoding/json"
	"strings"

	"atelier.dev/atelier/agent/llm/internal/wire"
)

// Reasoning is sent back in the form in which it came, as fields of its message
// (LLM-28): a string in a field of its own, a part of the content, the
// beginning of the content between tags, or a list of details.
const (
	contentField = "content"
	detailsField = "reasoning_details"
	plainField   = "reasoning"
	// reasoningField is the string's name if an endpoint insists on one.
	reasoningField = "reasoning_content"
	// tagField is not the name of a field: the content contains the reasoning.
	tagField = thinkOpen
)

// echo returns the native form of reasoning that came in a field.
func echo(field, text string) json.RawMessage {
	switch field {
	case contentField:
		return wire.JSON(map[string]any{field: []any{thinkingPart{"thinking", []textPart{{"text", text}}}}})
	case tagField:
		return wire.JSON(map[string]string{contentField: thinkOpen + text + thinkClose + "\n\n"})
	default:
		return wire.JSON(map[string]string{field: text})
	}
}

type thinkingPart struct {
	Type     string     `json:"type"`
	Thinking []textPart `json:"thinking"`
}

type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// mergeEcho adds native reasoning to the fields of its message. Several
// reasoning blocks of an answer may share one field.
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

// maxDetails limits the details of an answer, which take far more memory than
// bytes of a stream.
const maxDetails = 10_000

// pieces are the details of one chunk, as far as they are within the limit. One
// beyond it says that there were more.
type pieces []map[string]any

// UnmarshalJSON implements [json.Unmarshaler]. A value that is not a list has no
// details.
func (p *pieces) UnmarshalJSON(list []byte) error {
	dec := json.NewDecoder(bytes.NewReader(list))
	if open, err := dec.Token(); err != nil || open != json.Delim('[') {
		return err
	}
	for dec.More() && len(*p) <= maxDetails {
		var piece map[string]any
		if err := dec.Decode(&piece); err != nil {
			return err
		}
		*p = append(*p, piece)
	}
	return nil
}

// details collects the list in which a gateway returns reasoning, including the
// signatures of the actual provider. All of it must be sent back, in order.
type details []*detail

// detail is one entry, some members of which arrive in pieces.
type detail struct {
	fields map[string]any
	texts  map[string]*strings.Builder
}

// add takes the details of a chunk and returns their text. A detail that
// continues the last one is a piece of it.
func (d *details) add(chunk []map[string]any) (thought string) {
	var words strings.Builder
	for _, piece := range chunk {
		last := len(*d) - 1
		if last < 0 || !continues((*d)[last].fields, piece) {
			*d = append(*d, &detail{fields: map[string]any{}, texts: map[string]*strings.Builder{}})
			last++
		}
		(*d)[last].add(piece)
		for _, name := range []string{"text", "summary"} {
			text, _ := piece[name].(string)
			words.WriteString(text)
		}
	}
	return words.String()
}

func (d *detail) add(piece map[string]any) {
	for name, value := range piece {
		text, isText := value.(string)
		switch {
		case isText && (name == "text" || name == "summary" || name == "data"):
			if d.texts[name] == nil {
				d.texts[name] = &strings.Builder{}
			}
			d.texts[name].WriteString(text)
		case value != nil || d.fields[name] == nil:
			d.fields[name] = value
		}
	}
}

// list returns the details in the form in which they are sent back.
func (d details) list() []map[string]any {
	list := make([]map[string]any, 0, len(d))
	for _, each := range d {
		for name, text := range each.texts {
			each.fields[name] = text.String()
		}
		list = append(list, each.fields)
	}
	return list
}

// continues reports whether b is a piece of the same detail as a.
func continues(a, b map[string]any) bool {
	return a["type"] != nil && same(a["type"], b["type"]) && same(a["index"], b["index"]) &&
		(a["id"] == nil || b["id"] == nil || same(a["id"], b["id"]))
}

// same reports whether two members are equal. Lists and objects never are,
// because Go cannot compare them.
func same(a, b any) bool {
	switch a.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}
