package compat

import (
	"atelier.dev/atelier/agent/llm"
)

// options adds rarely used settings.
func options(body object, o llm.Options) {
	switch o.ToolChoice.Mode {
	case llm.ToolNamed:
		body["tool_choice"] = object{"type": "function", "function": object{"name": o.ToolChoice.Tool}}
	case llm.ToolAuto, llm.ToolNone, llm.ToolRequired:
		body["tool_choice"] = o.ToolChoice.Mode
	}
	if o.Temperature != nil {
		body["temperature"] = *o.Temperature
	}
	if o.TopP != nil {
		body["top_p"] = *o.TopP
	}
	if len(o.Stop) > 0 {
		body["stop"] = o.Stop
	}
	if f := o.Format; f != nil {
		body["response_format"] = object{"type": "json_schema", "json_schema": object{"name": f.Name, "schema": f.Schema}}
	}
}
