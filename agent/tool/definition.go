package tool

import (
	"encoding/json"
	"fmt"
	"strings"

	"atelier.dev/atelier/agent"
)

// definition is the part that all tools share.
type definition struct{ spec agent.Spec }

// Spec implements [agent.Tool].
func (d definition) Spec() agent.Spec { return d.spec }

// define describes a tool with input In.
func define[In any](name, description string) definition {
	return definition{agent.Spec{Name: name, Description: strings.TrimSpace(description), Schema: agent.SchemaOf[In]()}}
}

// reader describes a tool that only reads, so that calls may run in any order
// and more than once.
func reader[In any](name, description string) definition {
	d := define[In](name, description)
	d.spec.ReadOnly, d.spec.Concurrent, d.spec.Idempotent = true, true, true
	return d
}

// consumer describes a tool that changes nothing but consumes what it returns:
// a second call does not return it again.
func consumer[In any](name, description string) definition {
	d := define[In](name, description)
	d.spec.ReadOnly = true
	return d
}

// parse reads a tool's input on top of its defaults.
func parse[In any](input json.RawMessage, defaults In) (In, error) {
	if err := json.Unmarshal(input, &defaults); err != nil {
		return defaults, fmt.Errorf("read the arguments: %w", err)
	}
	return defaults, nil
}

// failed turns an error into a result, as a sentence.
func failed(err error) agent.Result {
	text := err.Error()
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return agent.Fail(text)
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "ch"); ok {
		return fmt.Sprintf("%d %sches", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
