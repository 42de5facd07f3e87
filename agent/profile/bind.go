package profile

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

//go:embed words/*.md prompts/*.md
var texts embed.FS

// text returns an embedded text. One that is missing is a mistake in this
// package.
func text(name string) string {
	b, err := texts.ReadFile(name + ".md")
	if err != nil {
		panic("profile: " + err.Error())
	}
	return strings.TrimSpace(string(b))
}

// bind shows a tool under a name, to be called with In, which as turns into the
// tool's own input. words names the description; the tool's own is used where it
// is empty. An In without a schema is a mistake in this package.
func bind[In, Own any](tool, name, words string, as func(In) Own) agent.Binding {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("profile: schema of %s: %v", name, err))
	}
	for _, member := range schema.Properties {
		if slices.Contains(member.Types, "array") {
			member.Type, member.Types = "array", nil // nil slices need no null
		}
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("profile: schema of %s: %v", name, err))
	}
	b := agent.Binding{
		Tool: tool, ToolSpec: llm.ToolSpec{Name: name, Schema: raw},
		Input: func(args json.RawMessage) (json.RawMessage, error) {
			var in In
			if err := json.Unmarshal(args, &in); err != nil {
				return nil, fmt.Errorf("read the arguments: %w", err)
			}
			return json.Marshal(as(in))
		},
	}
	if words != "" {
		b.Description = text("words/" + words)
	}
	return b
}

// call shows a tool under another name and otherwise as it describes itself.
func call(tool, name string) agent.Binding {
	return agent.Binding{Tool: tool, ToolSpec: llm.ToolSpec{Name: name}}
}

// same is for tools whose own input is what a model gives.
func same[In any](in In) In { return in }

// known makes a binding understood by more names.
func known(b agent.Binding, aliases ...string) agent.Binding {
	b.Aliases = aliases
	return b
}

// written makes a binding write results from their data. A result without such
// data, as of a call that failed, is written as before.
func written[Data any](b agent.Binding, write func(d Data, r agent.Result, cut func(string) string) string) agent.Binding {
	before := b.Output
	b.Output = func(r agent.Result, cut func(string) string) string {
		if d, ok := r.Data.(Data); ok {
			return write(d, r, cut)
		}
		if before != nil {
			return before(r, cut)
		}
		return cut(r.Output)
	}
	return b
}

// speaking makes what a tool says of itself use the words that the model knows.
// They come in pairs: the tool's word, the model's.
func speaking(b agent.Binding, terms ...string) agent.Binding {
	replacer := strings.NewReplacer(terms...)
	write := b.Output
	b.Output = func(r agent.Result, cut func(string) string) string {
		if r.IsError && r.Data == nil {
			r.Output = replacer.Replace(r.Output)
		}
		if write == nil {
			return cut(r.Output)
		}
		return write(r, cut)
	}
	return b
}
