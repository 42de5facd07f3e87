package gemini

import (
	"google.golang.org/genai"

	"atelier.dev/atelier/agent/llm"
)

// options adds rarely used settings.
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
