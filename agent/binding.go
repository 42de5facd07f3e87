package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"atelier.dev/atelier/agent/llm"
)

// Understand returns a binding of a tool under a name. Models are shown the schema of
// Shown. Calls are read as Wide, which has the same members and those that models bring
// along from elsewhere, and as turns them into the tool's own input. An error of as is a
// phrase for the model. Schemas are those of [SchemaOf].
func Understand[Shown, Wide, Own any](tool, name string, as func(Wide) (Own, error)) Binding {
	return Binding{
		Tool: tool, ToolSpec: llm.ToolSpec{Name: name, Schema: withoutNull(SchemaOf[Shown]())},
		Lenience: Lenience{Schema: SchemaOf[Wide]()},
		Input: func(args json.RawMessage) (json.RawMessage, error) {
			var in Wide
			if err := json.Unmarshal(args, &in); err != nil {
				return nil, fmt.Errorf("read the arguments: %w", err)
			}
			own, err := as(in)
			if err != nil {
				return nil, err
			}
			return json.Marshal(own)
		},
	}
}

// withoutNull returns a schema of [SchemaOf] in which a list is a list, and not a list or
// null: leaving it out means the same.
func withoutNull(schema json.RawMessage) json.RawMessage {
	return bytes.ReplaceAll(schema, []byte(`"type":["null","array"]`), []byte(`"type":"array"`))
}

// Called returns a binding of a tool under another name, with the tool's own schema.
func Called(tool, name string) Binding {
	return Binding{Tool: tool, ToolSpec: llm.ToolSpec{Name: name}}
}

// Filter returns the tools that lists of canonical names leave: those of allow, without
// those of deny. An empty list leaves all of them (OAS-212).
func Filter(tools []Tool, allow, deny []string) (left []Tool) {
	for _, t := range tools {
		name := t.Spec().Name
		if (len(allow) == 0 || slices.Contains(allow, name)) && !slices.Contains(deny, name) {
			left = append(left, t)
		}
	}
	return left
}
