package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"atelier.dev/atelier/agent/llm"
	"github.com/google/jsonschema-go/jsonschema"
)

// Registry holds a session's tools by canonical name. It is not safe for
// concurrent use: register the tools first; then [Registry.Show] fixes what
// models see.
type Registry struct {
	tools map[string]registered
	order []string
	// advise has a sentence for some names without a tool; nil has none.
	advise func(name string) string
}

type registered struct {
	tool     Tool
	spec     Spec
	schema   func() (*jsonschema.Resolved, error)
	replaced bool // it replaced another tool of the same name
}

// NewRegistry returns a registry of the given tools. If two tools have the same
// name, the later one wins (LOOP-32). The errors are those of
// [Registry.Register].
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{tools: make(map[string]registered, len(tools))}
	for _, t := range tools {
		if err := r.Register(t); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Register adds a tool and replaces any other of the same name (LOOP-32). A nil
// tool, an invalid name and a schema that cannot be resolved are errors.
func (r *Registry) Register(t Tool) error {
	if t == nil {
		return errors.New("register tool: it is nil")
	}
	spec := t.Spec()
	schema, err := readSchema(spec)
	if err != nil {
		return err
	}
	_, again := r.tools[spec.Name]
	if !again {
		r.order = append(r.order, spec.Name)
	}
	r.tools[spec.Name] = registered{tool: t, spec: spec, schema: schema, replaced: again}
	return nil
}

// Unregister removes a tool and reports whether it was registered (LOOP-33). A
// [Toolset] from an earlier Show keeps it.
func (r *Registry) Unregister(name string) bool {
	_, ok := r.tools[name]
	delete(r.tools, name)
	r.order = slices.DeleteFunc(r.order, func(other string) bool { return other == name })
	return ok
}

// Advise makes the registry ask advise what a model should do instead of calling a
// name without a tool, such as a tool that was there before. The answer is a
// sentence, or empty for a name that it does not know either.
func (r *Registry) Advise(advise func(name string) string) { r.advise = advise }

// Get returns a tool by its canonical name.
func (r *Registry) Get(name string) (Tool, bool) {
	t, ok := r.tools[name]
	return t.tool, ok
}

// readSchema returns a tool's schema, prepared for validation. One that [SchemaOf] made
// is known to be valid, and is prepared when it is needed.
func readSchema(spec Spec) (func() (*jsonschema.Resolved, error), error) {
	if !llm.ValidToolName(spec.Name) {
		return nil, fmt.Errorf("%q is not a valid tool name: use a letter, then up to 63 letters, digits, - and _", spec.Name)
	}
	if later, ok := derived.Load(string(spec.Schema)); ok {
		return later.(func() (*jsonschema.Resolved, error)), nil
	}
	if spec.Checked {
		return sync.OnceValues(func() (*jsonschema.Resolved, error) { return resolve(spec.Name, spec.Schema) }), nil
	}
	resolved, err := resolve(spec.Name, spec.Schema)
	return func() (*jsonschema.Resolved, error) { return resolved, nil }, err
}

// resolve prepares a schema for validation.
func resolve(name string, raw json.RawMessage) (*jsonschema.Resolved, error) {
	var schema jsonschema.Schema
	if err := schema.UnmarshalJSON(raw); err != nil {
		return nil, fmt.Errorf("read schema of %s: %w", name, err)
	}
	if schema.Type != "object" {
		return nil, fmt.Errorf("read schema of %s: its root is not an object", name) // LLM-38
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolve schema of %s: %w", name, err)
	}
	return resolved, nil
}

// Names lists the tools in the order of registration.
func (r *Registry) Names() []string { return slices.Clone(r.order) }
