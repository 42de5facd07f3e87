package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"atelier.dev/atelier/agent/internal/coerce"
)

// Lenience is what a [Binding] understands beyond the schema that it shows
// (K-43). Models were trained in other harnesses and mix up arguments.
type Lenience struct {
	// Schema has all understood members, including those of the shown schema;
	// nil if there are no others.
	Schema json.RawMessage
	// Synonyms are other names of members.
	Synonyms map[string]string
	// Ignored members are dropped silently.
	Ignored []string
	// Refused members would change what the call means. Each maps to a sentence
	// that says what to do instead.
	Refused map[string]string
}

// understand adapts a call's arguments to a schema: it renames synonyms and
// drops unknown members. It returns the names of dropped members that the model
// should know about.
func (l Lenience) understand(schema *jsonschema.Schema, args json.RawMessage) (_ json.RawMessage, dropped []string, err error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(args, &members) != nil || members == nil {
		return args, nil, nil // validation will say what is wrong
	}
	changed := false
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if schema.Properties[name] != nil {
			continue
		}
		value := members[name]
		member := l.member(schema, name)
		_, taken := members[member]
		switch {
		case member != "" && !taken:
			members[member] = value
		case !closed(schema):
			continue
		case neutral(value) || slices.Contains(l.Ignored, name):
		case l.Refused[name] != "":
			return nil, nil, fmt.Errorf("%s cannot be used here. %s", name, l.Refused[name])
		default:
			dropped = append(dropped, name)
		}
		delete(members, name)
		changed = true
	}
	for name, value := range members {
		pruned, inner := prune(schema.Properties[name], value, name)
		if len(inner) > 0 {
			members[name], changed = pruned, true
			dropped = append(dropped, inner...)
		}
		if meansNothing(schema.Properties[name], value) && !slices.Contains(schema.Required, name) {
			delete(members, name)
			changed = true
		}
	}
	slices.Sort(dropped)
	return coerce.Encoded(changed, members, args), dropped, nil
}

// member returns the member that an unknown name means: a synonym, or another
// spelling such as filePath or -i. It returns an empty string if there is none.
func (l Lenience) member(schema *jsonschema.Schema, name string) string {
	if member := l.Synonyms[name]; member != "" {
		return member
	}
	plain := plainName(name)
	for _, member := range slices.Sorted(maps.Keys(schema.Properties)) {
		if plain != "" && plainName(member) == plain {
			return member
		}
	}
	for _, other := range slices.Sorted(maps.Keys(l.Synonyms)) {
		if plain != "" && plainName(other) == plain {
			return l.Synonyms[other]
		}
	}
	return ""
}

func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// prune drops unknown members of nested objects.
func prune(schema *jsonschema.Schema, value json.RawMessage, path string) (_ json.RawMessage, dropped []string) {
	switch {
	case schema == nil:
	case coerce.Start(value) == '{':
		var members map[string]json.RawMessage
		if json.Unmarshal(value, &members) != nil {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			of, inner := schema.Properties[name], path+"."+name
			if of == nil && closed(schema) {
				delete(members, name)
				dropped = append(dropped, inner)
				continue
			}
			pruned, more := prune(of, members[name], inner)
			members[name] = pruned
			dropped = append(dropped, more...)
		}
		return coerce.Encoded(len(dropped) > 0, members, value), dropped
	case coerce.Start(value) == '[' && schema.Items != nil:
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil {
			break
		}
		for i, item := range items {
			pruned, more := prune(schema.Items, item, path)
			items[i] = pruned
			dropped = append(dropped, more...)
		}
		return coerce.Encoded(len(dropped) > 0, items, value), slices.Compact(dropped)
	}
	return value, nil
}

// closed reports whether an object of the schema allows no other members.
func closed(schema *jsonschema.Schema) bool {
	if schema.AdditionalProperties == nil {
		return false
	}
	b, err := json.Marshal(schema.AdditionalProperties)
	return err == nil && string(b) == "false"
}

// neutral reports whether the value means the same as leaving the member out.
func neutral(value json.RawMessage) bool {
	switch string(bytes.TrimSpace(value)) {
	case "null", "false", `""`, "0", "[]", "{}":
		return true
	}
	return false
}

// meansNothing reports whether a value stands for none: a null, or an empty text
// where no text may be.
func meansNothing(schema *jsonschema.Schema, value json.RawMessage) bool {
	if schema == nil {
		return isNull(value)
	}
	return isNull(value) && !coerce.Allows(schema, "null") || string(bytes.TrimSpace(value)) == `""` && !coerce.Allows(schema, "string") && len(schema.Enum) == 0
}

func isNull(value json.RawMessage) bool { return string(bytes.TrimSpace(value)) == "null" }

// takes lists the members that a model may give, the required ones first.
func takes(schema *jsonschema.Schema) string {
	names := slices.Clone(schema.Required)
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no arguments"
	}
	return strings.Join(names, ", ")
}

// maxNamed limits how many ignored members are named.
const maxNamed = 10

// namedMembers lists members for a model. The model may have invented the
// names.
func namedMembers(names []string) string {
	var more string
	if len(names) > maxNamed {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d more", len(names)-maxNamed)
	}
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = namedTool(name)
	}
	return strings.Join(short, ", ") + more
}
