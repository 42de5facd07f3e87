package coerce

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Value converts values to the types of a schema where the conversion is
// certain: "5" into 5, "true" into true, "[1]" into [1]; in reverse, 5 into
// "5", 5.0 into 5, "x" into ["x"], ["x"] into "x", and {} into "{}" (COM-40). Models sometimes
// write arguments this way. A value of an allowed type is not changed. A value
// that cannot be converted stays, for validation to refuse. If nothing changes,
// Value returns value itself.
func Value(schema *jsonschema.Schema, value json.RawMessage) json.RawMessage {
	if schema == nil {
		return value
	}
	switch first := Start(value); {
	case first == '"' && !Allows(schema, "string"):
		value = fromString(schema, value)
	case (first == '-' || first >= '0' && first <= '9') && !Allows(schema, "number"):
		value = fromNumber(schema, value)
	case first == '[' && !Allows(schema, "array"):
		value = only(schema, value)
	case first == '{' && !Allows(schema, "object") && Allows(schema, "string"):
		value = Encoded(true, string(bytes.TrimSpace(value)), value) // a text that is JSON, such as a file's
	}
	switch Start(value) {
	case '{':
		return coerceObject(schema, value)
	case '[':
		return coerceArray(schema, value)
	}
	return value
}

// typesOf returns the types that a schema allows; an empty list allows any
// type.
func typesOf(schema *jsonschema.Schema) []string {
	if schema.Type != "" {
		return []string{schema.Type}
	}
	return schema.Types
}

// Allows reports whether a value may be of a type.
func Allows(schema *jsonschema.Schema, kind string) bool {
	types := typesOf(schema)
	return len(types) == 0 || slices.Contains(types, kind)
}

// Start returns the first byte of a value after leading space; 0 if there is
// none.
func Start(value json.RawMessage) byte {
	value = bytes.TrimLeft(value, " \t\r\n")
	if len(value) == 0 {
		return 0
	}
	return value[0]
}

// fromString returns the value that a string spells, or an array of that
// string, if the schema allows its type.
func fromString(schema *jsonschema.Schema, quoted json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return quoted
	}
	s = strings.TrimSpace(s)
	lower := strings.ToLower(s)
	for _, t := range typesOf(schema) {
		var spelled string
		switch {
		case t == "boolean" && (lower == "true" || lower == "false"):
			spelled = lower
		case t == "null" && (lower == "null" || lower == "none" || lower == ""):
			spelled = "null"
		case t == "integer" && isNumber(s) && !strings.ContainsAny(s, ".eE"), t == "number" && isNumber(s):
			spelled = s
		case t == "array" && strings.HasPrefix(s, "["), t == "object" && strings.HasPrefix(s, "{"):
			spelled = s
		}
		if spelled != "" && json.Valid([]byte(spelled)) {
			return json.RawMessage(spelled)
		}
	}
	if s != "" && slices.Contains(typesOf(schema), "array") && schema.Items != nil && Allows(schema.Items, "string") {
		return slices.Concat(json.RawMessage("["), quoted, json.RawMessage("]"))
	}
	return quoted
}

// fromNumber returns a number as an integer, if it is one, or as a string.
func fromNumber(schema *jsonschema.Schema, number json.RawMessage) json.RawMessage {
	text := strings.TrimSpace(string(number))
	switch {
	case Allows(schema, "integer"):
		whole, fraction, _ := strings.Cut(text, ".")
		if fraction != "" && strings.Trim(fraction, "0") == "" {
			return json.RawMessage(whole)
		}
	case Allows(schema, "string") && json.Valid(number):
		return json.RawMessage(`"` + text + `"`)
	}
	return number
}

// only returns the single item of an array, if the schema allows its type.
func only(schema *jsonschema.Schema, array json.RawMessage) json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal(array, &items) != nil || len(items) != 1 {
		return array
	}
	if Start(items[0]) == '"' && Allows(schema, "string") {
		return items[0]
	}
	return array
}

func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}

func coerceObject(schema *jsonschema.Schema, value json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return value
	}
	changed := false
	for name, member := range members {
		of := schema.Properties[name]
		if of == nil {
			of = schema.AdditionalProperties
		}
		turned := Value(of, member)
		changed = changed || !bytes.Equal(turned, member)
		members[name] = turned
	}
	return Encoded(changed, members, value)
}

func coerceArray(schema *jsonschema.Schema, value json.RawMessage) json.RawMessage {
	var items []json.RawMessage
	if schema.Items == nil || json.Unmarshal(value, &items) != nil {
		return value
	}
	changed := false
	for i, item := range items {
		items[i] = Value(schema.Items, item)
		changed = changed || !bytes.Equal(items[i], item)
	}
	return Encoded(changed, items, value)
}

// Encoded is v in place of value, if it was changed.
func Encoded(changed bool, v any, value json.RawMessage) json.RawMessage {
	if !changed {
		return value
	}
	b, err := json.Marshal(v)
	if err != nil {
		return value
	}
	return b
}
