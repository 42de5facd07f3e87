package coerce

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

const coercedSchema = `{"type":"object","properties":{
	"n":{"type":"integer"},"f":{"type":"number"},"b":{"type":"boolean"},"s":{"type":"string"},
	"l":{"type":"array","items":{"type":"integer"}},"names":{"type":"array","items":{"type":"string"}},"o":{"type":"object","properties":{"n":{"type":"integer"}}},
	"maybe":{"type":["integer","null"]},"either":{"type":["string","integer"]},"any":{}
},"additionalProperties":{"type":"boolean"}}`

func schemaOf(t testing.TB) *jsonschema.Schema {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(coercedSchema), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// COM-40, K-43: values become what the schema asks for, also deep inside; what is
// allowed, or not certain, stays.
func TestCoerce(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t)
	for in, want := range map[string]string{
		`{"n":"5"}`:                `{"n":5}`,
		`{"n":" -5 "}`:             `{"n":-5}`,
		`{"n":"9007199254740993"}`: `{"n":9007199254740993}`,
		`{"n":"5.5"}`:              `{"n":"5.5"}`,
		`{"n":"five"}`:             `{"n":"five"}`,
		`{"n":"05"}`:               `{"n":"05"}`,
		`{"f":"19.99"}`:            `{"f":19.99}`,
		`{"f":"true"}`:             `{"f":"true"}`,
		`{"b":"True"}`:             `{"b":true}`,
		`{"b":"yes"}`:              `{"b":"yes"}`,
		`{"s":"5"}`:                `{"s":"5"}`,
		`{"s":5}`:                  `{"s":"5"}`,
		`{"s":-5.50}`:              `{"s":"-5.50"}`,
		`{"s":true}`:               `{"s":true}`,
		`{"s":["x"]}`:              `{"s":"x"}`,
		`{"s":["x","y"]}`:          `{"s":["x","y"]}`,
		`{"s":[5]}`:                `{"s":[5]}`,
		`{"n":5.0}`:                `{"n":5}`,
		`{"n":5.5}`:                `{"n":5.5}`,
		`{"l":"5"}`:                `{"l":"5"}`,
		`{"names":"x"}`:            `{"names":["x"]}`,
		`{"names":""}`:             `{"names":""}`,
		`{"names":"[\"x\"]"}`:      `{"names":["x"]}`,
		`{"names":"[draft] x"}`:    `{"names":["[draft] x"]}`,
		`{"l":"[1,\"2\"]"}`:        `{"l":[1,2]}`,
		`{"l":["1",2]}`:            `{"l":[1,2]}`,
		`{"o":"{\"n\":\"1\"}"}`:    `{"o":{"n":1}}`,
		`{"maybe":"None"}`:         `{"maybe":null}`,
		`{"maybe":"3"}`:            `{"maybe":3}`,
		`{"either":"3"}`:           `{"either":"3"}`,
		`{"any":"3"}`:              `{"any":"3"}`,
		`{"other":"false"}`:        `{"other":false}`,
		`{ "n" : 5, "s": "x" }`:    `{ "n" : 5, "s": "x" }`,
		" \n\t\r{\"n\":\"5\"}":     `{"n":5}`,
		" {\"n\": 5}":              ` {"n": 5}`,
		" ":                        " ",
		"":                         "",
		`[1]`:                      `[1]`,
		`{"n":`:                    `{"n":`,
	} {
		if got := string(Value(schema, json.RawMessage(in))); got != want {
			t.Errorf("Value(%s) = %s, want %s", in, got, want)
		}
	}
	unfinished := `"abc`
	if got := string(Value(schema.Properties["maybe"], json.RawMessage(unfinished))); got != unfinished {
		t.Errorf("Value(%s) = %s", unfinished, got)
	}
}

// Valid arguments stay as they are, except for a whole number with a fraction, and JSON remains JSON.
func FuzzCoerce(f *testing.F) {
	f.Add([]byte(`{"n":"5","l":"[\"1\"]","o":"{}"}`))
	f.Add([]byte(`{"maybe":"","b":"TRUE"}`))
	schema := schemaOf(f)
	resolved, err := schema.Resolve(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var v any
		if json.Unmarshal(in, &v) != nil {
			return
		}
		got := Value(schema, in)
		if !json.Valid(got) {
			t.Fatalf("Value(%s) = %s", in, got)
		}
		if resolved.Validate(v) == nil && string(got) != string(in) && !bytes.Contains(in, []byte(".0")) {
			t.Errorf("valid %s was changed into %s", in, got)
		}
	})
}
