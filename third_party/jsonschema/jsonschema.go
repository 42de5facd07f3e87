// Package jsonschema stands in for github.com/santhosh-tekuri/jsonschema/v6, which go.mod
// replaces with it. That package compiles the meta-schemas of five JSON Schema drafts when
// it is initialised, which takes 4 ms and 1.7 MB of every start. Only mcp-go's server
// imports it, to validate calls and results if an option asks for that, and Atelier sets
// no such option.
//
// This package has what mcp-go uses of the other one, and validates with
// github.com/google/jsonschema-go, which Atelier uses anyway: JSON Schema 2020-12 and
// draft 7. The compiler of a newer mcp-go says so if it needs more. Modules that require
// Atelier's own have the original, because their go.mod decides.
package jsonschema

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	google "github.com/google/jsonschema-go/jsonschema"
)

// UnmarshalJSON reads one JSON value, as Validate and AddResource expect it.
func UnmarshalJSON(r io.Reader) (any, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("decode JSON: %w", err)
	}
	return v, nil
}

// Compiler compiles the schemas that were added to it.
type Compiler struct{ docs map[string]any }

// NewCompiler returns a compiler without schemas.
func NewCompiler() *Compiler { return &Compiler{docs: map[string]any{}} }

// AddResource adds a schema under an address.
func (c *Compiler) AddResource(url string, doc any) error {
	if _, ok := c.docs[url]; ok {
		return fmt.Errorf("add %s: there is a schema with this address", url)
	}
	c.docs[url] = doc
	return nil
}

// Compile prepares the schema of an address. It loads no other schema. A schema of a
// draft that cannot be validated is an error.
func (c *Compiler) Compile(url string) (*Schema, error) {
	doc, ok := c.docs[url]
	if !ok {
		return nil, fmt.Errorf("compile %s: there is no schema with this address", url)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", url, err)
	}
	var s google.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("compile %s: %w", url, err)
	}
	if !supported(s.Schema) {
		return nil, fmt.Errorf("compile %s: schemas of %s are not supported", url, s.Schema)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", url, err)
	}
	return &Schema{resolved}, nil
}

func supported(draft string) bool {
	switch strings.TrimSuffix(draft, "#") {
	case "", "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema":
		return true
	}
	return false
}

// Schema is a compiled schema.
type Schema struct{ resolved *google.Resolved }

// Validate compares a value with the schema. What it returns is a *ValidationError.
func (s *Schema) Validate(v any) error {
	if err := s.resolved.Validate(v); err != nil {
		return &ValidationError{ErrorKind: err}
	}
	return nil
}

// ValidationError says what is wrong with a value. The text of ErrorKind names the place
// in the schema, so Causes and InstanceLocation are empty.
type ValidationError struct {
	Causes           []*ValidationError
	InstanceLocation []string
	ErrorKind        error
}

func (e *ValidationError) Error() string { return e.ErrorKind.Error() }

// Unwrap returns the error of the schema's implementation.
func (e *ValidationError) Unwrap() error { return e.ErrorKind }
