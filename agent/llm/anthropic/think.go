package anthropic

import (
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"atelier.dev/atelier/agent/llm"
)

// think requests as much thinking as the effort demands, in the form that the
// model accepts. For an unknown model it requests thinking only if the user
// chose an effort, in the newest form.
func think(p *sdk.MessageNewParams, req llm.Request, turns []turn) {
	c := req.Reasoning
	if c.Has(llm.ReasoningBudget) && !c.Has(llm.ReasoningAdaptive) {
		thinkWithBudget(p, req, turns)
		return
	}
	steered := c.Has(llm.ReasoningAdaptive) || c.Has(llm.ReasoningEffort)
	switch {
	case c.Known() && !steered:
		return
	case req.Effort == llm.EffortNone && c.Has(llm.ReasoningToggle):
		p.Thinking.OfDisabled = &sdk.ThinkingConfigDisabledParam{}
		return
	case req.Effort == llm.EffortNone && !c.Known(), req.Effort == llm.EffortDefault && !c.Known():
		return
	}
	// By default the newest models show neither their thinking nor their text
	// between two calls.
	p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
	p.OutputConfig.Effort = effort(c, req.Effort)
}

// effort returns the level to send, or nothing for the model's default.
func effort(c llm.ReasoningControl, e llm.Effort) sdk.OutputConfigEffort {
	if len(c.Levels) == 0 && (e == llm.EffortNone || e == llm.EffortMinimal) {
		e = llm.EffortLow // the API has no less
	}
	return sdk.OutputConfigEffort(c.Level(e))
}

// thinkWithBudget serves older models, which think only on request and up to a
// number of tokens.
func thinkWithBudget(p *sdk.MessageNewParams, req llm.Request, turns []turn) {
	if len(req.Reasoning.Levels) > 0 && req.Effort != llm.EffortNone {
		p.OutputConfig.Effort = effort(req.Reasoning, req.Effort)
	}
	forced := req.ToolChoice.Mode == llm.ToolRequired || req.ToolChoice.Mode == llm.ToolNamed
	budget := req.ThinkingBudget(int(p.MaxTokens))
	if budget == 0 || forced || !turnThinks(turns) { // thinking and a forced call exclude each other
		return
	}
	// The SDK would print a warning for the typed form.
	p.Thinking = param.Override[sdk.ThinkingConfigParamUnion](map[string]any{"type": "enabled", "budget_tokens": budget})
}

// turnThinks reports whether the current turn may continue with a thinking
// budget. Its answers with tool calls must begin with thinking, which those of
// another model, or from before thinking was enabled, do not.
func turnThinks(turns []turn) bool {
	for i, t := range slices.Backward(turns) {
		switch {
		case i == 0: // whatever came before is over
			return true
		case t.Assistant && !isThought(t.Rest[0]):
			return false
		case !t.Assistant && len(t.Results) == 0:
			return true
		}
	}
	return true
}
