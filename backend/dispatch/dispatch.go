// Package dispatch calls the methods of the application by name, with JSON. Features
// register their methods; the window, the browser and the tests call them.
package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"

	"atelier.dev/atelier/backend"
)

// Dispatcher is the only entry to the application: a registry of methods by
// name, called with JSON and answered with JSON. Its zero value has none. It is safe for
// concurrent use once everything is registered.
type Dispatcher struct {
	methods map[string]Method
}

// Method is a registered function.
type Method struct {
	In, Out reflect.Type // of its argument and its reply

	call func(ctx context.Context, args []byte) (any, error)
}

// Handle registers fn under a name such as "sessions.list". It panics if the name is
// taken.
func Handle[In, Out any](d *Dispatcher, name string, fn func(context.Context, In) (Out, error)) {
	if _, dup := d.methods[name]; dup {
		panic("dispatch: method registered twice: " + name)
	}
	if d.methods == nil {
		d.methods = map[string]Method{}
	}
	d.methods[name] = Method{
		In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out](),
		call: func(ctx context.Context, args []byte) (any, error) {
			var in In
			if err := decodeStrict(args, &in); err != nil {
				return nil, backend.Problem(backend.ProblemArguments, name).Because(err)
			}
			return fn(ctx, in)
		},
	}
}

// decodeStrict refuses unknown fields and trailing data, so that a misspelt
// argument is not taken for an absent one. Empty arguments mean {}.
func decodeStrict(b []byte, into any) error {
	if len(bytes.TrimSpace(b)) == 0 {
		b = []byte("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

// Call runs a method and returns {"ok":…} or {"error":{…}}. It never panics or
// fails: a panic inside a method, an unknown name or a reply that cannot be
// encoded becomes an error reply.
func (d *Dispatcher) Call(ctx context.Context, name, args string) (reply string) {
	defer func() {
		if p := recover(); p != nil {
			slog.Error("a method panicked", "method", name, "panic", p, "stack", string(debug.Stack()))
			reply = errorReply(fmt.Errorf("%s panicked: %v", name, p))
		}
	}()
	m, ok := d.methods[name]
	if !ok {
		return errorReply(backend.Problem(backend.ProblemMethod, name))
	}
	out, err := m.call(ctx, []byte(args))
	if err != nil {
		return errorReply(err)
	}
	b, err := json.Marshal(struct {
		OK any `json:"ok"`
	}{out})
	if err != nil {
		return errorReply(fmt.Errorf("encode reply of %s: %w", name, err))
	}
	return string(b)
}

// Names returns the names of the methods in alphabetical order.
func (d *Dispatcher) Names() []string { return slices.Sorted(maps.Keys(d.methods)) }

// Method returns a method by its name. It reports false if there is none.
func (d *Dispatcher) Method(name string) (Method, bool) {
	m, ok := d.methods[name]
	return m, ok
}

// errorReply encodes err as a reply.
func errorReply(err error) string {
	b, _ := json.Marshal(struct { // texts always have a JSON form
		Error *backend.Error `json:"error"`
	}{backend.AsError(err)})
	return string(b)
}
