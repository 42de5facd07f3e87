package gemini

import (
	"encoding/json"
	"maps"
	"slices"

	"google.golang.org/genai"

	"atelier.dev/atelier/agent/llm"
)

// options adds what few requests ask for.
func options(c *genai.GenerateContentConfig, o llm.Options) {
	if mode := o.ToolChoice.Mode; mode != "" {
		calling := &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAuto}
		switch mode {
		case llm.ToolNone:
			calling.Mode = genai.FunctionCallingConfigModeNone
		case llm.ToolRequired:
			calling.Mode = genai.FunctionCallingConfigModeAny
		case llm.ToolNamed:
			calling.Mode, calling.AllowedFunctionNames = genai.FunctionCallingConfigModeAny, []string{o.ToolChoice.Tool}
		}
		c.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: calling}
	}
	if o.Temperature != nil {
		c.Temperature = new(float32(*o.Temperature))
	}
	if o.TopP != nil {
		c.TopP = new(float32(*o.TopP))
	}
	c.StopSequences = o.Stop
	if o.Format != nil {
		c.ResponseMIMEType, c.ResponseJsonSchema = "application/json", o.Format.Schema
	}
}

// merge adds the members that a request's caller gave, in the place of those of
// the same name.
func merge(own []member, given map[string]json.RawMessage) []member {
	own = slices.DeleteFunc(own, func(m member) bool { return given[m.name] != nil })
	for _, name := range slices.Sorted(maps.Keys(given)) {
		own = append(own, member{name, given[name]})
	}
	return own
}
