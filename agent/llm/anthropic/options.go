package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// options adds rarely used settings. Tools stay in a request that must not call
// any, because a history with calls is refused without them (LLM-39).
func options(p *sdk.MessageNewParams, o llm.Options) {
	switch o.ToolChoice.Mode {
	case llm.ToolAuto:
		p.ToolChoice.OfAuto = &sdk.ToolChoiceAutoParam{}
	case llm.ToolNone:
		p.ToolChoice.OfNone = &sdk.ToolChoiceNoneParam{}
	case llm.ToolRequired:
		p.ToolChoice.OfAny = &sdk.ToolChoiceAnyParam{}
	case llm.ToolNamed:
		p.ToolChoice.OfTool = &sdk.ToolChoiceToolParam{Name: o.ToolChoice.Tool}
	}
	if o.Temperature != nil {
		p.Temperature = param.NewOpt(*o.Temperature)
	}
	if o.TopP != nil {
		p.TopP = param.NewOpt(*o.TopP)
	}
	p.StopSequences = o.Stop
	if o.Format != nil {
		p.OutputConfig.Format.SetExtraFields(map[string]any{"schema": o.Format.Schema}) // the schema's own bytes
	}
	p.SetExtraFields(wire.Extra(o))
}
