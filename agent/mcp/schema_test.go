package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A schema whose validation would not end is not used: the library would fill the
// stack, which ends the whole program.
func TestEndlessSchemasAreNotUsed(t *testing.T) {
	t.Parallel()
	// Each of 40 definitions refers to the next one twice.
	var wide strings.Builder
	wide.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&wide, `"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	wide.WriteString(`"d40":{"type":"string"}}}`)
	for name, schema := range map[string]string{
		"itself":             `{"$ref":"#"}`,
		"in an alternative":  `{"allOf":[{"$ref":"#"}]}`,
		"in capital letters": `{"ALLOF":[{"$REF":"#"}]}`,
		"in a circle":        `{"$ref":"#/$defs/a","$defs":{"a":{"not":{"$ref":"#/$defs/b"}},"b":{"$ref":"#/$defs/a"}}}`,
		"by an anchor":       `{"$anchor":"top","allOf":[{"$ref":"#top"}]}`,
		"by an address":      `{"$id":"https://example.com/s","allOf":[{"$ref":"https://example.com/s"}]}`,
		"by another root":    `{"allOf":[{"$id":"https://example.com/s","allOf":[{"$ref":"#"}]}]}`,
		"dynamically":        `{"$dynamicAnchor":"top","allOf":[{"$dynamicRef":"#top"}]}`,
		"escaped":            `{"$ref":"#/$defs/a%25","$defs":{"a%":{"$ref":"#/$defs/a%25"},"a%25":{}}}`,
		"widely":             wide.String(),
		"deep":               strings.Repeat(`{"not":`, 200) + `{}` + strings.Repeat(`}`, 200),
		"not a schema":       `[1]`,
	} {
		if _, err := ResolveSchema(json.RawMessage(schema)); err == nil {
			t.Errorf("a schema that contains itself %s is used", name)
		}
		typed := tool{output: json.RawMessage(schema)}
		if fault := typed.check(CallResult{Structured: json.RawMessage(`{"a":1}`)}); fault != "" {
			t.Errorf("%s: a result is said to differ from it: %s", name, fault)
		}
	}
}

// The schemas that servers generate, with their references, are used.
func TestSchemasWithReferencesAreUsed(t *testing.T) {
	t.Parallel()
	typed := tool{output: json.RawMessage(`{
		"$id": "https://example.com/s", "type": "object", "required": ["at", "to"],
		"properties": {"at": {"$ref": "#/$defs/Point"}, "to": {"$ref": "#/$defs/Point"}},
		"$defs": {"Point": {"type": "object", "properties": {"x": {"$ref": "#/$defs/Number"}}}, "Number": {"type": "number"}}}`)}
	for structured, fits := range map[string]bool{
		`{"at":{"x":1},"to":{"x":2}}`:   true,
		`{"at":{"x":1},"to":{"x":"2"}}`: false,
		`{"at":{"x":1}}`:                false,
	} {
		if fault := typed.check(CallResult{Structured: json.RawMessage(structured)}); (fault == "") != fits {
			t.Errorf("%s: %q", structured, fault)
		}
	}
}

// TestDeepSchemasAreCut proves that what is nested deeper than the limit accepts
// anything, and that a schema within it keeps its bytes.
func TestDeepSchemasAreCut(t *testing.T) {
	t.Parallel()
	nested := func(open, inner, end string, levels int) string {
		return strings.Repeat(open, levels) + inner + strings.Repeat(end, levels)
	}
	for name, schema := range map[string]string{
		"objects":     nested(`{"properties":{"a":`, `{"type":"string"}`, `}}`, 3_000),
		"items":       nested(`{"items":`, `{}`, `}`, 5_000),
		"lists":       nested(`{"anyOf":[`, `{}`, `]}`, 2_000),
		"in a quote":  `{"description":"` + strings.Repeat(`{\"`, 500) + `","a":` + nested(`[`, ``, `]`, 300) + `}`,
		"beside more": `{"type":"object","required":["x"],"properties":{"x":{"type":"number"},"y":` + nested(`{"not":`, `{}`, `}`, 101) + `}}`,
	} {
		got := shallow(json.RawMessage(schema))
		var v any
		if err := json.Unmarshal(got, &v); err != nil || nesting(v) > mostSchemaDepth+1 {
			t.Errorf("%s: %d levels, %v", name, nesting(v), err)
		}
		if strings.Contains(schema, "number") && !strings.Contains(string(got), `"x":{"type":"number"}`) {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, same := range []string{
		"", "null", `{ "type" : "object" }`, `{"description":"` + strings.Repeat(`{[\\\"`, 500) + `"}`, nested(`{"not":`, `{}`, `}`, mostSchemaDepth-1), strings.Repeat("{", 500), `"[[["`,
	} {
		if got := shallow(json.RawMessage(same)); string(got) != same {
			t.Errorf("%.100s became %.100s", same, got)
		}
	}
}
