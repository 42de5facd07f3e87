package agent

import (
	"context"
	"encoding/json"
	"testing"
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
