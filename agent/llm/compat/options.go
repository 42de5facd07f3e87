package compat

import (
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"atelier.dev/atelier/agent/llm"
)

// options adds rarely used settings.
func options(p *sdk.ChatCompletionNewParams, o llm.Options) {
	switch o.ToolChoice.Mode {
	case llm.ToolNamed:
		p.ToolChoice.OfFunctionToolChoice = &sdk.ChatCompletionNamedToolChoiceParam{
			Function: sdk.ChatCompletionNamedToolChoiceFunctionParam{Name: o.ToolChoice.Tool},
		}
	case llm.ToolAuto, llm.ToolNone, llm.ToolRequired:
		p.ToolChoice.OfAuto = param.NewOpt(string(o.ToolChoice.Mode))
	}
	if o.Temperature != nil {
		p.Temperature = param.NewOpt(*o.Temperature)
	}
	if o.TopP != nil {
		p.TopP = param.NewOpt(*o.TopP)
	}
	p.Stop.OfStringArray = o.Stop
	if f := o.Format; f != nil {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: f.Name, Schema: f.Schema},
		}
	}
}
