package openai

import (
	"slices"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// options adds rarely used settings.
func options(p *responses.ResponseNewParams, o llm.Options, freeform []string) {
	switch o.ToolChoice.Mode {
	case llm.ToolNamed:
		if slices.Contains(freeform, o.ToolChoice.Tool) {
			p.ToolChoice.OfCustomTool = &responses.ToolChoiceCustomParam{Name: o.ToolChoice.Tool}
			break
		}
		p.ToolChoice.OfFunctionTool = &responses.ToolChoiceFunctionParam{Name: o.ToolChoice.Tool}
	case llm.ToolAuto, llm.ToolNone, llm.ToolRequired:
		p.ToolChoice.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptions(o.ToolChoice.Mode))
	}
	if o.Temperature != nil {
		p.Temperature = param.NewOpt(*o.Temperature)
	}
	if o.TopP != nil {
		p.TopP = param.NewOpt(*o.TopP)
	}
	if f := o.Format; f != nil {
		schema := &responses.ResponseFormatTextJSONSchemaConfigParam{Name: f.Name}
		schema.SetExtraFields(map[string]any{"schema": f.Schema}) // the schema's own bytes
		p.Text.Format.OfJSONSchema = schema
	}
	// The API has no stop sequences: o.Stop is left out.
	p.SetExtraFields(wire.Extra(o))
}
