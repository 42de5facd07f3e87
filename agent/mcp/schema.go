package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	// mostSchemaDepth limits how deep the text of a schema is nested. The time to
	// read one grows with the square of its depth.
	mostSchemaDepth = 100
	// mostSchemaParts limits the parts of a schema with every reference replaced by
	// what it names.
	mostSchemaParts = 5_000
)

// ResolveSchema prepares a server's schema for the validation of values. It is an
// error if validation might not end: if the schema contains itself, or has too
// many parts once every reference is replaced by what it names. The library
// follows references without a limit, and Go cannot recover from a full stack.
func ResolveSchema(raw json.RawMessage) (*jsonschema.Resolved, error) {
	var text any
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	if nesting(text) > mostSchemaDepth {
		return nil, errors.New("read schema: it is nested too deeply")
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	// The library accepts keywords in any case. It writes what it has understood.
	understood, err := json.Marshal(&schema)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	e := expansion{left: mostSchemaParts}
	if err := json.Unmarshal(understood, &e.root); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	if !e.ends(e.root) {
		return nil, errors.New("read schema: it contains itself, or refers to too much")
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolve schema: %w", err)
	}
	return resolved, nil
}

// shallow returns a schema without what is nested deeper than [mostSchemaDepth]: there
// it accepts anything. Nothing that reads or shows it then takes time or memory that
// grows with the square of its depth. A text that is not JSON stays as it is.
func shallow(raw json.RawMessage) json.RawMessage {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	if deepest <= mostSchemaDepth {
		return raw
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return raw
	}
	prune(v, mostSchemaDepth)
	if out, err := json.Marshal(v); err == nil {
		return out
	}
	return raw
}

// prune empties the parts of a value that are nested deeper than so many levels.
func prune(v any, levels int) {
	switch v := v.(type) {
	case map[string]any:
		if levels == 0 {
			clear(v)
		}
		for _, member := range v {
			prune(member, levels-1)
		}
	case []any:
		for i := range v {
			if levels == 0 {
				v[i] = true // the schema that accepts anything
			}
			prune(v[i], levels-1)
		}
	}
}

// nesting returns how deep a JSON value is nested.
func nesting(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			deepest = max(deepest, nesting(member))
		}
	case []any:
		for _, item := range v {
			deepest = max(deepest, nesting(item))
		}
	default:
		return 0
	}
	return deepest + 1
}

// expansion walks through a schema as if every reference were replaced by what
// it names.
type expansion struct {
	root any
	left int // parts that may still be visited
}

// ends reports whether the walk through a part ends within the limit. A reference
// in a form other than a plain path from the root counts as endless.
func (e *expansion) ends(part any) bool {
	isRoot := e.left == mostSchemaParts
	if e.left--; e.left < 0 {
		return false
	}
	switch part := part.(type) {
	case map[string]any:
		for key, value := range part {
			name, isText := value.(string)
			switch {
			case isText && key == "$dynamicRef", isText && key == "$id" && !isRoot:
				return false
			case isText && key == "$ref":
				target, ok := e.find(name)
				if !ok || !e.ends(target) {
					return false
				}
			case !e.ends(value):
				return false
			}
		}
	case []any:
		for _, item := range part {
			if !e.ends(item) {
				return false
			}
		}
	}
	return true
}

// find returns the part that a reference names.
func (e *expansion) find(ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || strings.ContainsAny(path, "%~") {
		return nil, false
	}
	at := e.root
	for _, step := range strings.Split(path, "/")[1:] {
		switch in := at.(type) {
		case map[string]any:
			at, ok = in[step]
		case []any:
			n, err := strconv.Atoi(step)
			if ok = err == nil && n >= 0 && n < len(in); ok {
				at = in[n]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	return at, path == "" || path[0] == '/'
}
