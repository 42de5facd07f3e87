package profile

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

//go:embed words/*.md prompts/*.md
var texts embed.FS

// text returns an embedded text. A missing one is a bug in this package.
func text(name string) string {
	b, err := texts.ReadFile(name + ".md")
	if err != nil {
		panic("profile: " + err.Error())
	}
	return strings.TrimSpace(string(b))
}

// bind shows a tool under a name. Calls have the input In, which as converts
// into the tool's own. words names the description; if it is empty, the tool's
// own is used. An In without a schema is a bug in this package.
//
// A member of In without a jsonschema tag is understood but not shown. The tag
// also names synonyms of a member, separated by commas.
func bind[In, Own any](tool, name, words string, as func(In) Own) agent.Binding {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("profile: schema of %s: %v", name, err))
	}
	for _, member := range schema.Properties {
		if len(member.Types) == 2 && member.Types[0] == "null" {
			member.Type, member.Types = member.Types[1], nil // leaving it out means the same
		}
	}
	b := agent.Binding{
		Tool: tool, ToolSpec: llm.ToolSpec{Name: name},
		Lenience: agent.Lenience{Synonyms: map[string]string{}},
		Input: func(args json.RawMessage) (json.RawMessage, error) {
			var in In
			if err := json.Unmarshal(args, &in); err != nil {
				return nil, fmt.Errorf("read the arguments: %w", err)
			}
			return json.Marshal(as(in))
		},
	}
	shown, more := *schema, false
	shown.Properties = maps.Clone(schema.Properties)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[In]()) {
		member, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Tag.Get("jsonschema") == "" {
			more = true
			delete(shown.Properties, member)
			shown.PropertyOrder = slices.DeleteFunc(slices.Clone(shown.PropertyOrder), func(name string) bool { return name == member })
		}
		for synonym := range strings.SplitSeq(field.Tag.Get("also"), ",") {
			if synonym != "" {
				b.Lenience.Synonyms[synonym] = member
			}
		}
		if field.Type == reflect.TypeFor[commandLine]() {
			more = true
			both := *schema.Properties[member]
			both.Type, both.Types, both.Items = "", []string{"string", "array"}, &jsonschema.Schema{Type: "string"}
			schema.Properties[member] = &both
		}
	}
	b.Schema = encode(name, &shown)
	if more {
		b.Lenience.Schema = encode(name, schema)
	}
	if words != "" {
		b.Description = text("words/" + words)
	}
	return b
}

func encode(name string, schema *jsonschema.Schema) json.RawMessage {
	raw, err := agent.EncodeSchema(schema)
	if err != nil {
		panic(fmt.Sprintf("profile: schema of %s: %v", name, err))
	}
	return raw
}

// commandLine is a command line. Some models give it as a list of words.
type commandLine string

// UnmarshalJSON implements [json.Unmarshaler].
func (c *commandLine) UnmarshalJSON(data []byte) error {
	var words []string
	if err := json.Unmarshal(data, (*string)(c)); err == nil {
		return nil
	}
	if err := json.Unmarshal(data, &words); err != nil {
		return fmt.Errorf("read the command: %w", err)
	}
	*c = commandLine(joined(words))
	return nil
}

// plainWord matches a word that a shell leaves unchanged.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+:,./=-]+$`)

// joined makes a command line from its words. For a shell with a script, the
// script is the command line; a patch for apply_patch becomes the script by
// which such a call is recognised.
func joined(words []string) string {
	switch {
	case len(words) == 3 && slices.Contains([]string{"bash", "/bin/bash", "sh", "/bin/sh"}, words[0]) && slices.Contains([]string{"-c", "-lc"}, words[1]):
		return words[2]
	case len(words) == 2 && slices.Contains([]string{"apply_patch", "applypatch"}, words[0]) && !strings.Contains(words[1], "\nEND_OF_PATCH\n"):
		return "apply_patch <<'END_OF_PATCH'\n" + strings.TrimSuffix(words[1], "\n") + "\nEND_OF_PATCH\n"
	}
	quoted := slices.Clone(words)
	for i, word := range quoted {
		if !plainWord.MatchString(word) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// same is the conversion for models that give a tool's own input.
func same[In any](in In) In { return in }

// known adds aliases to a binding.
func known(b agent.Binding, aliases ...string) agent.Binding {
	b.Aliases = aliases
	return b
}

// instead returns advice for names without a tool.
func instead(advice string, names ...string) (out []agent.Binding) {
	for _, name := range names {
		out = append(out, agent.Binding{ToolSpec: llm.ToolSpec{Name: name}, Instead: advice})
	}
	return out
}

// synonyms adds other names of members, in pairs: the other name, the member's.
func synonyms(b agent.Binding, names ...string) agent.Binding {
	all := map[string]string{}
	maps.Copy(all, b.Lenience.Synonyms)
	for pair := range slices.Chunk(names, 2) {
		all[pair[0]] = pair[1]
	}
	b.Lenience.Synonyms = all
	return b
}

// ignoring lists members that are dropped silently.
func ignoring(b agent.Binding, members ...string) agent.Binding {
	b.Lenience.Ignored = append(slices.Clone(b.Lenience.Ignored), members...)
	return b
}

// refusing lists members that would change what a call means, in pairs: the
// member, and what to do instead.
func refusing(b agent.Binding, advice ...string) agent.Binding {
	all := map[string]string{}
	maps.Copy(all, b.Lenience.Refused)
	for pair := range slices.Chunk(advice, 2) {
		all[pair[0]] = pair[1]
	}
	b.Lenience.Refused = all
	return b
}

// written makes a binding write results from their data. A result without such
// data, such as that of a failed call, is written as before.
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

// speaking translates what a tool says about itself into the terms that the
// model knows, in pairs: the tool's term, the model's.
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
