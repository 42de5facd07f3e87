package agent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// coerce turns strings into what a schema asks for where that is plain from
// their text: "5" into 5, "true" into true, "[1]" into [1] (COM-40). Models
// write arguments so now and then. Where a string is allowed nothing is
// changed; what cannot be turned stays, for validation to refuse. Without a
// change, value itself is returned.
func coerce(schema *jsonschema.Schema, value json.RawMessage) json.RawMessage {
	if schema == nil {
		return value
	}
	types := schema.Types
	if schema.Type != "" {
		types = []string{schema.Type}
	}
	if start(value) == '"' && len(types) > 0 && !slices.Contains(types, "string") {
		value = fromString(types, value)
	}
	switch start(value) {
	case '{':
		return coerceObject(schema, value)
	case '[':
		return coerceArray(schema, value)
	}
	return value
}

// start is the first byte of a value, past the space before it; 0 where there
// is none.
func start(value json.RawMessage) byte {
	value = bytes.TrimLeft(value, " \t\r\n")
	if len(value) == 0 {
		return 0
	}
	return value[0]
}

// fromString returns the value that a string spells, if it is of a type.
func fromString(types []string, quoted json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return quoted
	}
	s = strings.TrimSpace(s)
	lower := strings.ToLower(s)
	for _, t := range types {
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
	return quoted
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
		turned := coerce(of, member)
		changed = changed || !bytes.Equal(turned, member)
		members[name] = turned
	}
	return encoded(changed, members, value)
}

func coerceArray(schema *jsonschema.Schema, value json.RawMessage) json.RawMessage {
	var items []json.RawMessage
	if schema.Items == nil || json.Unmarshal(value, &items) != nil {
		return value
	}
	changed := false
	for i, item := range items {
		items[i] = coerce(schema.Items, item)
		changed = changed || !bytes.Equal(items[i], item)
	}
	return encoded(changed, items, value)
}

// encoded is v in place of value, if it was changed.
func encoded(changed bool, v any, value json.RawMessage) json.RawMessage {
	if !changed {
		return value
	}
	b, err := json.Marshal(v)
	if err != nil {
		return value
	}
	return b
}
