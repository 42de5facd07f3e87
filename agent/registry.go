package agent

import (
	"fmt"
	"slices"

	"atelier.dev/atelier/agent/llm"
	"github.com/google/jsonschema-go/jsonschema"
)

// Registry holds a session's tools by canonical name. It is built once and
// then only read, so it needs no lock.
type Registry struct {
	tools map[string]registered
	order []string
}

type registered struct {
	tool   Tool
	spec   Spec
	schema *jsonschema.Resolved
}

// NewRegistry returns a registry of the given tools. Of two tools with one
// name the later wins (LOOP-32). A schema that cannot be resolved is an error.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{tools: make(map[string]registered, len(tools))}
	for _, t := range tools {
		if err := r.add(t); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Registry) add(t Tool) error {
	spec := t.Spec()
	var schema jsonschema.Schema
	if err := schema.UnmarshalJSON(spec.Schema); err != nil {
		return fmt.Errorf("read schema of %s: %w", spec.Name, err)
	}
	if schema.Type != "object" {
		return fmt.Errorf("read schema of %s: its root is no object", spec.Name) // LLM-38
	}
	if !llm.ValidToolName(spec.Name) {
		return fmt.Errorf("%q is no name for a tool", spec.Name)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return fmt.Errorf("resolve schema of %s: %w", spec.Name, err)
	}
	if _, again := r.tools[spec.Name]; !again {
		r.order = append(r.order, spec.Name)
	}
	r.tools[spec.Name] = registered{tool: t, spec: spec, schema: resolved}
	return nil
}

// get finds a tool by the name a model used.
func (r *Registry) get(name string) (registered, bool) {
	t, ok := r.tools[name]
	return t, ok
}

// redirect returns the call that a call amounts to: itself, or one of another
// tool.
func (r *Registry) redirect(call llm.ToolCall) llm.ToolCall {
	t, ok := r.tools[call.Name].tool.(Redirector)
	if !ok {
		return call
	}
	name, instead, ok := t.Redirect(call.Arguments)
	if _, there := r.get(name); ok && there {
		call.Name, call.Arguments = name, instead
	}
	return call
}

// Names lists the tools in the order they were registered.
func (r *Registry) Names() []string { return slices.Clone(r.order) }

// Definitions returns what a model is shown, in a stable order so that the
// prefix of consecutive requests stays the same (LOOP-33).
func (r *Registry) Definitions() []llm.ToolSpec {
	defs := make([]llm.ToolSpec, 0, len(r.order))
	for _, name := range r.order {
		s := r.tools[name].spec
		defs = append(defs, llm.ToolSpec{Name: s.Name, Description: s.Description, Schema: s.Schema, Freeform: s.Freeform})
	}
	return defs
}
