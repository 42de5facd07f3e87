package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"atelier.dev/atelier/agent/llm"
	"github.com/google/jsonschema-go/jsonschema"
)

// SchemaOf derives the schema of a tool's input from a struct: json tags name
// the members, members without omitempty are required, and jsonschema tags
// describe them. The bytes are the same on every run. It panics if In has no
// schema, which is a programming error.
func SchemaOf[In any]() json.RawMessage {
	if raw, ok := schemas.Load(reflect.TypeFor[In]()); ok {
		return slices.Clone(raw.(json.RawMessage))
	}
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("schema of %T: %v", *new(In), err))
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("schema of %T: %v", *new(In), err))
	}
	schemas.Store(reflect.TypeFor[In](), json.RawMessage(raw))
	if schema.Type == "object" {
		derived.LoadOrStore(string(raw), sync.OnceValues(func() (*jsonschema.Resolved, error) { return schema.Resolve(nil) }))
	}
	return slices.Clone(raw)
}

// schemas has what SchemaOf made of a type, and derived, by the schema's text, how to
// resolve those of objects, which is done once in a program and when a tool is first
// called. A program has as many as it has types of inputs.
var schemas, derived sync.Map

// Function makes a tool from a function; the function closes over its
// dependencies. A call's arguments are coerced and validated before they become
// an In. [ResultOf] writes the return value; an error becomes a failed call
// (COM-41). Without a schema in spec, the schema of In is used; see [SchemaOf]
// for when that panics.
func Function[In, Out any](spec Spec, run func(context.Context, In) (Out, error)) Tool {
	if spec.Schema == nil {
		spec.Schema = SchemaOf[In]()
	}
	return function[In, Out]{spec, run}
}

type function[In, Out any] struct {
	spec Spec
	run  func(context.Context, In) (Out, error)
}

// Spec implements [Tool].
func (f function[In, Out]) Spec() Spec { return f.spec }

// Run implements [Tool].
func (f function[In, Out]) Run(ctx context.Context, call Invocation) Result {
	var in In
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return Fail(fmt.Sprintf("The arguments cannot be read: %v.", err))
	}
	out, err := f.run(ctx, in)
	if err != nil {
		return Fail(sentence(err.Error()))
	}
	return ResultOf(out)
}

// ResultOf writes a value as the result of a call (COM-41). It returns a
// [Result] unchanged, uses a string as text, shows media to the model, and
// writes anything else as JSON. An object whose member "ok" is false is a
// failed call (COM-42).
func ResultOf(v any) Result {
	switch v := v.(type) {
	case Result:
		return v
	case string:
		return Result{Output: v}
	case llm.Media:
		return Result{Output: "Shown: " + v.MIME, Media: []llm.Media{v}}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return Fail(fmt.Sprintf("The result cannot be written: %v.", err))
	}
	return Result{Output: string(b), IsError: saysNotOK(b), Data: v}
}

// saysNotOK reports whether a result declares itself a failure.
func saysNotOK(result []byte) bool {
	if !bytes.HasPrefix(result, []byte("{")) {
		return false
	}
	var r struct {
		OK *bool `json:"ok"`
	}
	return json.Unmarshal(result, &r) == nil && r.OK != nil && !*r.OK
}
