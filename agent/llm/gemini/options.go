package gemini

import (
	"atelier.dev/atelier/agent/llm"
)

// options adds rarely used settings.
func options(c *config, o llm.Options) {
	if mode := o.ToolChoice.Mode; mode != "" {
		calling := &calling{Mode: "AUTO"}
		switch mode {
		case llm.ToolNone:
			calling.Mode = "NONE"
		case llm.ToolRequired:
			calling.Mode = "ANY"
		case llm.ToolNamed:
			calling.Mode, calling.Allowed = "ANY", []string{o.ToolChoice.Tool}
		}
		c.Tools.Calling = calling
	}
	c.Generation.Temperature, c.Generation.TopP = o.Temperature, o.TopP
	c.Generation.Stop = o.Stop
	if o.Format != nil {
		c.Generation.MIME, c.Generation.Schema = "application/json", o.Format.Schema
	}
}
