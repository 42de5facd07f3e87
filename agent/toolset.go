package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent/internal/coerce"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/internal/text"
	"github.com/google/jsonschema-go/jsonschema"
)

// Binding defines how a model is shown a tool: the name, description and schema
// of its calls, and how calls and results are translated. Each capability has
// one tool; everything but the model knows it by its canonical name (K-04).
type Binding struct {
	// Tool is the canonical name.
	Tool string
	// ToolSpec is what the model is shown. A missing description or schema is
	// taken from the tool.
	llm.ToolSpec
	// Aliases are other names for which the tool is called.
	Aliases []string
	// Hidden bindings are understood but not shown.
	Hidden bool
	// Lenience is what calls may contain beyond Schema.
	Lenience Lenience
	// Instead is set for a name without a tool that models know from elsewhere.
	// It is a sentence that says what to do instead.
	Instead string
	// Input converts arguments that have passed the schema into the tool's own;
	// nil means no conversion.
	Input func(json.RawMessage) (json.RawMessage, error)
	// Output writes a result in the form that the model knows. cut reduces a
	// text to the model's share; it applies to the tool's findings, not to the
	// frame around them. If Output is nil, the tool's own text is cut.
	Output func(r Result, cut func(string) string) string
}

// Toolset is a registry as models of one kind are shown it. It is built once
// and then only read; [Toolset.With] makes another one.
type Toolset struct {
	shown  []llm.ToolSpec
	byName map[string]bound // by every name that is understood
	// instead has advice for names without a tool, and advise for those that it
	// lacks; advise may be nil.
	instead map[string]string
	advise  func(name string) string
}

// bound is a tool under one of its bindings.
type bound struct {
	registered
	binding Binding
	// schema is the schema of everything that the binding understands. It is
	// resolved at the first call of the tool, because most tools are never
	// called.
	schema func() (*jsonschema.Resolved, error)
}

// Show returns the tools under bindings. A call's name is looked up among the
// bindings in their order, by name and alias, then among the canonical names.
//
// A tool without a binding is shown under its own name and schema. So is a tool
// that replaced another one, by registering either its canonical name or any
// name of its binding, which is then left out (LOOP-32, LOOP-114). Bindings of
// tools that are not registered are left out too.
func (r *Registry) Show(bindings ...Binding) *Toolset {
	set := &Toolset{byName: map[string]bound{}, instead: map[string]string{}, advise: r.advise}
	spoken, displaced := map[string]bool{}, map[string]bool{}
	for _, b := range bindings {
		if b.Instead != "" {
			set.instead[b.Name] = b.Instead
			continue
		}
		t, ok := r.tools[b.Tool]
		if !ok || t.replaced {
			continue
		}
		spoken[b.Tool] = true
		displaced[b.Tool] = displaced[b.Tool] || slices.ContainsFunc(b.names(), func(name string) bool {
			_, taken := r.tools[name]
			return taken && name != b.Tool
		})
	}
	for _, b := range bindings {
		if !spoken[b.Tool] || displaced[b.Tool] {
			continue
		}
		t := r.tools[b.Tool]
		own := t.spec.shown()
		b.Description = cmp.Or(b.Description, own.Description)
		if b.Schema == nil {
			own.Name, own.Description = b.Name, b.Description
			b.ToolSpec = own
		}
		understood := b.Schema
		if b.Lenience.Schema != nil {
			understood = b.Lenience.Schema
		}
		set.add(bound{registered: t, binding: b, schema: sync.OnceValues(func() (*jsonschema.Resolved, error) {
			return resolve(b.Name, understood)
		})})
	}
	for _, name := range r.order {
		if !displaced[name] {
			set.add(r.own(name, spoken[name] || r.tools[name].spec.Hidden))
		}
	}
	return set
}

// With returns the toolset and, after it, the tools of more under their own names.
// A name that the toolset understands keeps its meaning, so more can add tools
// but replace none. The toolset itself does not change.
func (s *Toolset) With(more *Registry) *Toolset {
	if more == nil || len(more.order) == 0 && more.advise == nil {
		return s
	}
	grown := &Toolset{
		shown: slices.Clip(s.shown), byName: maps.Clone(s.byName),
		instead: s.instead, advise: more.advise,
	}
	for _, name := range more.order {
		if _, known := s.byName[name]; !known {
			grown.add(more.own(name, more.tools[name].spec.Hidden))
		}
	}
	return grown
}

// own returns a tool as it names itself.
func (r *Registry) own(name string, hidden bool) bound {
	t := r.tools[name]
	return bound{
		registered: t, binding: Binding{Tool: name, ToolSpec: t.spec.shown(), Hidden: hidden},
		schema: t.schema,
	}
}

// names returns the name and aliases of a binding.
func (b Binding) names() []string { return append([]string{b.Name}, b.Aliases...) }

// add registers the names of a binding. A name that is already registered stays
// as it is.
func (s *Toolset) add(b bound) {
	if _, known := s.byName[b.binding.Name]; !b.binding.Hidden && !known {
		s.shown = append(s.shown, b.binding.ToolSpec)
	}
	for _, name := range b.binding.names() {
		if _, known := s.byName[name]; !known {
			s.byName[name] = b
		}
	}
}

// get finds a tool by the name that a model used: one that is understood, or else
// one with what models add to it, such as functions.read_file or
// read_file<|channel|>commentary, in any case.
func (s *Toolset) get(name string) (bound, bool) {
	b, ok := s.byName[name]
	if ok || s.instead[name] != "" || len(name) > maxToolName {
		return b, ok
	}
	name, _, _ = strings.Cut(name, "<")
	name = countedCall().ReplaceAllString(strings.TrimSpace(name), "")
	name = name[strings.LastIndexAny(name, ".:/")+1:]
	if b, ok = s.byName[name]; ok || name == "" {
		return b, ok
	}
	for _, other := range slices.Sorted(maps.Keys(s.byName)) {
		if plainName(other) == plainName(name) {
			return s.byName[other], true
		}
	}
	return b, false
}

// countedCall matches the number that some models give each call.
var countedCall = lazily(`:\d+$`)

// maxToolName limits the names that are looked at closely.
const maxToolName = 200

// Canonical returns the canonical name of the tool that a model calls name. It
// returns an unknown name unchanged.
func (s *Toolset) Canonical(name string) string {
	if b, ok := s.get(name); ok {
		return b.spec.Name
	}
	return name
}

// Names lists the shown names, in their order.
func (s *Toolset) Names() []string {
	names := make([]string, len(s.shown))
	for i, spec := range s.shown {
		names[i] = spec.Name
	}
	return names
}

// Definitions returns the tools as a model is shown them, always in the same
// order and with the same bytes, so that the prefix of consecutive requests
// stays the same (LOOP-33). Callers must not change them.
func (s *Toolset) Definitions() []llm.ToolSpec { return s.shown }

// maxNames limits the names in a message about an unknown one.
const maxNames = 100

// unknown is the message to the model about a name that is not understood.
func (s *Toolset) unknown(name string) string {
	if instead := s.instead[name]; instead != "" {
		return fmt.Sprintf("There is no tool %s here. %s", name, instead)
	}
	if s.advise != nil {
		if instead := s.advise(name); instead != "" {
			return fmt.Sprintf("There is no tool %s now. %s", namedTool(name), instead)
		}
	}
	names := s.Names()
	if more := len(names) - maxNames; more > 0 {
		names = append(names[:maxNames], fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("Unknown tool: %s. The tools are: %s.", namedTool(name), strings.Join(names, ", "))
}

// input converts a call's arguments into the tool's input, which need not fit the
// tool's schema yet. dropped names members that the tool does not know. The error is a phrase for the model, in
// the terms that it was shown.
func (b bound) input(args json.RawMessage) (_ json.RawMessage, dropped []string, err error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	schema, err := b.schema()
	if err != nil {
		return nil, nil, err
	}
	args, dropped, err = b.binding.Lenience.understand(schema.Schema(), object(b.binding.ToolSpec, args))
	if err != nil {
		return nil, nil, err
	}
	args = coerce.Value(schema.Schema(), args)
	if err := validate(schema, args); err != nil || b.binding.Input == nil {
		return args, dropped, err
	}
	input, err := b.binding.Input(args)
	return input, dropped, err
}

// object returns arguments as an object if a model gave them as a string: a
// string that spells an object, or the text of a freeform tool. Of several values
// the one that says something counts, if there is only one.
func object(spec llm.ToolSpec, args json.RawMessage) json.RawMessage {
	args = said(args)
	var text string
	if coerce.Start(args) != '"' || json.Unmarshal(args, &text) != nil {
		return args
	}
	if spelled := json.RawMessage(strings.TrimSpace(text)); coerce.Start(spelled) == '{' && json.Valid(spelled) {
		return spelled
	}
	if spec.Freeform == nil {
		return args
	}
	return llm.ToolCall{Arguments: json.RawMessage(text), Custom: true}.Input()
}

// said returns the one value of several that is not empty. A server that loses
// count begins with an empty object, ends with one, or says everything twice.
func said(args json.RawMessage) json.RawMessage {
	if json.Valid(args) {
		return args
	}
	var one json.RawMessage
	for rest := string(args); strings.TrimSpace(rest) != ""; {
		value, after, ok := firstJSON(rest)
		if !ok {
			return args
		}
		rest = after
		switch {
		case one == nil || neutral(one):
			if one = value; neutral(value) {
				one = json.RawMessage("{}")
			}
		case !neutral(value) && !bytes.Equal(one, value):
			return args
		}
	}
	return one
}

// takes lists the members that the model was shown.
func (b bound) takes() string {
	var shown jsonschema.Schema
	if err := json.Unmarshal(b.binding.Schema, &shown); err != nil {
		return "other arguments" // the schema is invalid; the reported fault says so
	}
	return takes(&shown)
}

// accepts returns an error, a phrase for the model, if input does not fit the
// tool's own schema.
func (r bound) accepts(input json.RawMessage) error {
	schema, err := r.registered.schema()
	if err != nil {
		return err
	}
	if err := validate(schema, input); err != nil {
		return err
	}
	if v, ok := r.tool.(Validator); ok {
		return v.Validate(input)
	}
	return nil
}

// redirect returns the tool and input that finally run: the call's own, or
// those of another tool (see [Redirector]).
func (s *Toolset) redirect(b bound, input json.RawMessage) (bound, json.RawMessage) {
	t, ok := b.tool.(Redirector)
	if !ok {
		return b, input
	}
	name, instead, ok := t.Redirect(input)
	if other, there := s.get(name); ok && there {
		return other, instead
	}
	return b, input
}

// output writes a result for the model.
func (b bound) output(r Result, cut func(string) string) string {
	if b.binding.Output == nil {
		return cut(r.Output)
	}
	return b.binding.Output(r, cut)
}

// validate checks arguments against a schema.
func validate(schema *jsonschema.Resolved, args json.RawMessage) error {
	var v any
	if err := json.Unmarshal(args, &v); err != nil {
		return fmt.Errorf("they are not JSON: %w", err)
	}
	if _, ok := v.(map[string]any); !ok {
		return fmt.Errorf("they must be a JSON object")
	}
	if err := schema.Validate(v); err != nil {
		return errors.New(briefly(err.Error()))
	}
	return nil
}

// ofValue matches the value in a complaint about its type.
var ofValue = lazily(`(?s)type: .* has type`)

// briefly returns a complaint about arguments without long arguments, which the
// model has written itself.
func briefly(complaint string) string {
	const longest, longestValue = 400, 80
	return text.Shorten(ofValue().ReplaceAllStringFunc(complaint, func(value string) string {
		if len(value) > longestValue {
			return "it has type"
		}
		return value
	}), longest)
}
