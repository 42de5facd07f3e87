package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

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
	raw, err := EncodeSchema(schema)
	if err != nil {
		panic(fmt.Sprintf("schema of %T: %v", *new(In), err))
	}
	schemas.Store(reflect.TypeFor[In](), raw)
	if schema.Type == "object" {
		derived.LoadOrStore(string(raw), sync.OnceValues(func() (*jsonschema.Resolved, error) { return schema.Resolve(nil) }))
	}
	return slices.Clone(raw)
}

// schemas has what SchemaOf made of a type, and derived, by the schema's text, how to
// resolve those of objects, which is done once in a program and when a tool is first
// called. A program has as many as it has types of inputs.
var schemas, derived sync.Map

// EncodeSchema writes a schema. The bytes are those of [json.Marshal], which takes ten
// times as long; a program that starts writes hundreds.
func EncodeSchema(s *jsonschema.Schema) (json.RawMessage, error) {
	return appendSchema(nil, s)
}

func appendSchema(b []byte, s *jsonschema.Schema) ([]byte, error) {
	if refusesAll(s) {
		return append(b, "false"...), nil
	}
	if !common(s) {
		raw, err := json.Marshal(s)
		return append(b, raw...), err
	}
	var err error
	b = append(b, '{')
	member := func(name string, write func() error) {
		if err == nil {
			if b[len(b)-1] != '{' {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), name...), `":`...)
			err = write()
		}
	}
	word := func(s string) func() error {
		return func() error {
			b = append(append(append(b, '"'), s...), '"')
			return nil
		}
	}
	value := func(v any) func() error {
		return func() error {
			raw, err := json.Marshal(v)
			b = append(b, raw...)
			return err
		}
	}
	schema := func(s *jsonschema.Schema) func() error {
		return func() (err error) {
			b, err = appendSchema(b, s)
			return err
		}
	}
	switch {
	case slices.Contains(types, s.Type):
		member("type", word(s.Type))
	case s.Type != "":
		member("type", value(s.Type))
	case s.Types != nil:
		member("type", value(s.Types))
	}
	if s.Properties != nil {
		member("properties", func() (err error) {
			b, err = appendProperties(b, s)
			return err
		})
	}
	if s.Items != nil {
		member("items", schema(s.Items))
	}
	if s.Description != "" {
		member("description", value(s.Description))
	}
	if len(s.Required) > 0 {
		member("required", value(s.Required))
	}
	if s.AdditionalProperties != nil {
		member("additionalProperties", schema(s.AdditionalProperties))
	}
	return append(b, '}'), err
}

// types are the names of JSON's types, which need no escape.
var types = []string{"string", "object", "array", "boolean", "integer", "number", "null"}

// refusesAll reports whether a schema is false, which most objects demand of further
// properties.
func refusesAll(s *jsonschema.Schema) bool {
	if s == nil || s.Not == nil || s.Type != "" || !reflect.ValueOf(*s.Not).IsZero() {
		return false
	}
	rest := *s
	rest.Not = nil
	return reflect.ValueOf(rest).IsZero()
}

// common reports whether a schema has nothing but what appendSchema writes itself.
func common(s *jsonschema.Schema) bool {
	if s == nil || s.Type != "" && s.Types != nil {
		return false
	}
	for i, name := range s.PropertyOrder {
		if slices.Contains(s.PropertyOrder[:i], name) {
			return false
		}
	}
	rest := *s
	rest.Type, rest.Types, rest.Properties, rest.PropertyOrder, rest.Items = "", nil, nil, nil, nil
	rest.Description, rest.Required, rest.AdditionalProperties = "", nil, nil
	empty := s.Type == "" && s.Types == nil && s.Properties == nil && s.Items == nil && s.Description == "" && len(s.Required) == 0 && s.AdditionalProperties == nil
	return !empty && reflect.ValueOf(rest).IsZero()
}

// appendProperties writes the properties in their order, and after them, by name, those
// that it does not list.
func appendProperties(b []byte, s *jsonschema.Schema) ([]byte, error) {
	names := make([]string, 0, len(s.Properties))
	for _, list := range [][]string{s.PropertyOrder, slices.Sorted(maps.Keys(s.Properties))} {
		for _, name := range list {
			if _, ok := s.Properties[name]; ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		raw, err := json.Marshal(name)
		if err != nil {
			return b, err
		}
		b = append(append(b, raw...), ':')
		if b, err = appendSchema(b, s.Properties[name]); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}
