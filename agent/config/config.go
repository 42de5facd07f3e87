// Package config has the tool with which a model reads and changes the user's settings, as far as
// its host offers them (OAS-327). A change is the user's to allow: the gate is asked about each.
package config

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
)

//go:embed config.md
var description string

// Name is the tool's canonical name.
const Name = "Config"

// maxValue limits a value, in bytes.
const maxValue = 1_000

// Setting is one setting that may be read and changed here.
type Setting struct {
	Key   string
	About string // what it does, in a few words
	// Value is what it is now, as JSON, and Choices are its only values; nil if any value of
	// its kind may be tried.
	Value   json.RawMessage
	Choices []string
}

// Settings are those that the host offers: no secrets, and nothing that decides what an agent
// may do.
type Settings interface {
	List(ctx context.Context) ([]Setting, error)
	// Set changes one of the list. The error is a phrase for the model.
	Set(ctx context.Context, key string, value json.RawMessage) error
}

// The actions.
const (
	list = "list"
	get  = "get"
	set  = "set"
)

// Input is a call.
type Input struct {
	Action string          `json:"action"`
	Key    string          `json:"key,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
}

// Validate says in a phrase for the model what is wrong with a call.
func (in Input) Validate() error {
	switch {
	case !slices.Contains([]string{list, get, set}, in.Action):
		return fmt.Errorf("there is no action %.40q; use list, get or set", in.Action)
	case in.Action != list && in.Key == "":
		return fmt.Errorf("%s takes the key of a setting: list them first", in.Action)
	case in.Action == set && len(in.Value) == 0:
		return errors.New("set takes a value")
	case len(in.Value) > maxValue:
		return fmt.Errorf("the value has more than %d bytes", maxValue)
	}
	return nil
}

// Access says that reading concerns nobody; a change is asked about.
func (in Input) Access() agent.Access { return agent.Access{Own: in.Action != set} }

// Tool returns the tool.
func Tool(settings Settings) agent.Tool {
	return agent.Function(agent.Spec{
		Name: Name, Description: strings.TrimSpace(description), Schema: schema, Additive: true, Bindings: bindings(),
	}, func(ctx context.Context, in Input) (string, error) { return run(ctx, settings, in) })
}

// schema is that of [Input], whose value may be of any kind.
var schema = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["action"],"properties":{
"action":{"type":"string","enum":["list","get","set"]},
"key":{"type":"string","description":"for get and set: the name of the setting, as listed"},
"value":{"description":"for set: the new value, of the kind that the setting has"}}}`)

// wide is a call as any model sends it.
type wide struct {
	Action string `json:"action" jsonschema:"list, get or set"`
	Key    string `json:"key,omitempty" jsonschema:"for get and set: the name of the setting, as listed"`
	Value  any    `json:"value,omitempty" jsonschema:"for set: the new value, of the kind that the setting has"`
}

func (w wide) own() (Input, error) {
	in := Input{Action: w.Action, Key: w.Key}
	if w.Value == nil {
		return in, nil
	}
	var err error
	in.Value, err = json.Marshal(w.Value)
	return in, err
}

func bindings() map[string][]agent.Binding {
	others := []agent.Binding{agent.Understand[wide](Name, "config", wide.own)}
	return map[string][]agent.Binding{
		"anthropic": {agent.Understand[wide](Name, Name, wide.own)},
		"openai":    others, "gemini": others, "spec": others,
	}
}

func run(ctx context.Context, settings Settings, in Input) (string, error) {
	all, err := settings.List(ctx)
	if err != nil {
		return "", fmt.Errorf("the settings cannot be read: %w", err)
	}
	if in.Action == list {
		var lines []string
		for _, s := range all {
			lines = append(lines, s.line())
		}
		return strings.Join(lines, "\n"), nil
	}
	at := slices.IndexFunc(all, func(s Setting) bool { return s.Key == in.Key })
	if at < 0 {
		return "", fmt.Errorf("there is no setting %.60q here: list shows those that can be read and set. The others, such as keys, permissions, hooks and modes, are the user's alone", in.Key)
	}
	one := all[at]
	if in.Action == get {
		return one.line(), nil
	}
	var text string
	if one.Choices != nil && (json.Unmarshal(in.Value, &text) != nil || !slices.Contains(one.Choices, text)) {
		return "", fmt.Errorf("%s takes one of %q", one.Key, one.Choices)
	}
	if err := settings.Set(ctx, one.Key, in.Value); err != nil {
		return "", fmt.Errorf("%s was not changed: %w", one.Key, err)
	}
	return fmt.Sprintf("%s is now %s; it was %s. Pages that are open show it when they are loaded again.", one.Key, in.Value, one.Value), nil
}

func (s Setting) line() string {
	line := fmt.Sprintf("%s = %s: %s", s.Key, s.Value, s.About)
	if s.Choices != nil {
		line += fmt.Sprintf(" (one of %q)", s.Choices)
	}
	return line
}
