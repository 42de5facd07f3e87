package agent

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// The schema of a type is made once in a program, and prepared for validation once, when
// the first of all its tools is called. Nobody can change it for others.
func TestSchemasAreMadeOnce(t *testing.T) {
	type input struct {
		Path string `json:"path" jsonschema:"the file"`
	}
	raw := SchemaOf[input]()
	want := string(raw)
	raw[0] = '!'
	if got := string(SchemaOf[input]()); got != want {
		t.Errorf("a caller changed the schema to %s", got)
	}
	if n := testing.AllocsPerRun(10, func() { SchemaOf[input]() }); n > 5 {
		t.Errorf("the schema is made again, with %v allocations", n)
	}
	run := func(context.Context, input) (string, error) { return "", nil }
	var schemas []any
	for range 2 {
		r, err := NewRegistry(Function(Spec{Name: "Look"}, run))
		if err != nil {
			t.Fatal(err)
		}
		resolved, err := r.tools["Look"].schema()
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(resolved, json.RawMessage(`{"path":1}`)); err == nil {
			t.Error("wrong arguments are accepted")
		}
		schemas = append(schemas, resolved)
	}
	if schemas[0] != schemas[1] {
		t.Error("the schema is resolved for each registry")
	}
}

// Schemas are written as json.Marshal writes them, whatever they have.
func TestEncodeSchema(t *testing.T) {
	text := &jsonschema.Schema{Type: "string", Description: "a <b> & \"c\"\u2028"}
	for name, s := range map[string]*jsonschema.Schema{
		"text": text, "true": {}, "false": {Not: &jsonschema.Schema{}}, "number": {Type: "integer", Minimum: new(1.5)}, "types": {Types: []string{"null", "string"}},
		"both types":    {Type: "string", Types: []string{"null"}},
		"list":          {Type: "array", Items: text, Description: "texts"},
		"tuple":         {Type: "array", ItemsArray: []*jsonschema.Schema{text}},
		"no properties": {Type: "object", Properties: map[string]*jsonschema.Schema{}, Required: []string{}},
		"order": {
			Type: "object", PropertyOrder: []string{"z", "gone", "a<"}, Required: []string{"z", "b"}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
			Properties: map[string]*jsonschema.Schema{"z": text, "b": {Type: "string", Enum: []any{"x", 1}}, "a<": {Type: "object", AdditionalProperties: text}, "c": {}},
		},
		"order twice": {Type: "object", PropertyOrder: []string{"a", "a"}, Properties: map[string]*jsonschema.Schema{"a": text}},
		"extra":       {Type: "object", Extra: map[string]any{"also": 1}, Properties: map[string]*jsonschema.Schema{"a": text}},
		"nil":         {Type: "object", Properties: map[string]*jsonschema.Schema{"a": nil}},
		"bytes":       {Description: "\xff"},
	} {
		want, wantErr := json.Marshal(s)
		got, err := EncodeSchema(s)
		if (err == nil) != (wantErr == nil) || err == nil && string(got) != string(want) {
			t.Errorf("%s: %s (%v), want %s (%v)", name, got, err, want, wantErr)
		}
	}
}
