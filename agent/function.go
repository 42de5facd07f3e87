package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"atelier.dev/atelier/agent/llm"
)

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
