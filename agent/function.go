package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"atelier.dev/atelier/agent/llm"
)

// Function makes a tool from a function; the function closes over its
// dependencies, or names them with [Depends]. A call's arguments are coerced and
// validated before they become an In: also by In itself, if it has a method
// Validate() error. What a call would touch is what a method Access() Access of In says. [ResultOf] writes the return value; an error becomes a failed
// call (COM-41).
//
// Without a schema in spec, the schema of In is used; see [SchemaOf] for when that
// panics. A tool without input has struct{} as In. A map or a [json.RawMessage] takes any
// object that a schema in spec allows, by default every object (OAS-208).
func Function[In, Out any](spec Spec, run func(context.Context, In) (Out, error)) Tool {
	if spec.Schema == nil {
		spec.Schema = anyObject
		if reflect.TypeFor[In]().Kind() == reflect.Struct {
			spec.Schema = SchemaOf[In]()
		}
	}
	return function[In, Out]{spec, run}
}

// anyObject is the schema of every object.
var anyObject = json.RawMessage(`{"type":"object"}`)

// Depends adds a dependency to a function for [Function]: get is called for each call,
// and what it returns is no part of the schema that models are shown (COM-31). If it
// fails, so does the call (OAS-205).
func Depends[D, In, Out any](get func(context.Context) (D, error), run func(context.Context, In, D) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (out Out, err error) {
		d, err := get(ctx)
		if err != nil {
			return out, err
		}
		return run(ctx, in, d)
	}
}

// ThisCall is a dependency: the call that runs.
func ThisCall(ctx context.Context) (Invocation, error) {
	call, ok := ctx.Value(callKey{}).(Invocation)
	if !ok {
		return call, errors.New("this function was not called as a tool")
	}
	return call, nil
}

type callKey struct{}

type function[In, Out any] struct {
	spec Spec
	run  func(context.Context, In) (Out, error)
}

// Spec implements [Tool].
func (f function[In, Out]) Spec() Spec { return f.spec }

// Access implements [Accessor].
func (f function[In, Out]) Access(_ context.Context, input json.RawMessage) Access {
	var in In
	if a, ok := any(&in).(interface{ Access() Access }); ok && json.Unmarshal(input, &in) == nil {
		return a.Access()
	}
	return Access{}
}

// Validate implements [Validator].
func (f function[In, Out]) Validate(input json.RawMessage) error {
	var in In
	v, ok := any(&in).(interface{ Validate() error })
	if !ok {
		return nil
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return err
	}
	return v.Validate()
}

// Run implements [Tool].
func (f function[In, Out]) Run(ctx context.Context, call Invocation) Result {
	var in In
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return Fail(fmt.Sprintf("The arguments cannot be read: %v.", err))
	}
	out, err := f.run(context.WithValue(ctx, callKey{}, call), in)
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
