package llm

import "slices"

// ReasoningMode is a way to control how much a model thinks.
type ReasoningMode string

// The modes, in the terms of the catalogue.
const (
	ReasoningEffort   ReasoningMode = "effort"   // one of the effort levels
	ReasoningAdaptive ReasoningMode = "adaptive" // the model decides, guided by the effort
	ReasoningBudget   ReasoningMode = "budget"   // a number of tokens
	ReasoningToggle   ReasoningMode = "toggle"   // on or off
)

// ReasoningControl says how a model's thinking is controlled. The zero value
// means that nothing is known about the model: then [Request.Effort] is passed
// on unchanged if the API has a field for it.
type ReasoningControl struct {
	Modes []ReasoningMode
	// Levels are the efforts that the model accepts, in any order; empty if it
	// accepts none or nothing is known.
	Levels []Effort
	// MinBudget and MaxBudget bound a budget in tokens; 0 means unknown.
	MinBudget, MaxBudget int
}

// Known reports whether anything is known about the model's thinking.
func (c ReasoningControl) Known() bool { return len(c.Modes) > 0 || len(c.Levels) > 0 }

// Has reports whether the model has a mode.
func (c ReasoningControl) Has(m ReasoningMode) bool { return slices.Contains(c.Modes, m) }

// efforts lists the levels in ascending order.
var efforts = []Effort{EffortNone, EffortMinimal, EffortLow, EffortMedium, EffortHigh, EffortXHigh, EffortMax}

// Level returns the level nearest to e that the model accepts; of two equally
// near ones, the lower one. Without known levels, and for the default, it is e
// itself (LOOP-16).
func (c ReasoningControl) Level(e Effort) Effort {
	wanted := slices.Index(efforts, e)
	if wanted < 0 || len(c.Levels) == 0 {
		return e
	}
	nearest, least := e, len(efforts)
	for at, level := range efforts {
		distance := max(at-wanted, wanted-at)
		if distance < least && slices.Contains(c.Levels, level) {
			nearest, least = level, distance
		}
	}
	return nearest
}

// smallestBudget is the minimum of the providers if no other bound is known.
const smallestBudget = 1024

// Budget returns the thinking tokens, within the model's bounds and with room
// for an answer below maxOutput (0 means no cap). 0 means that there is no room
// for thinking, or that none is wanted (OAS-720).
func (c ReasoningControl) Budget(e Effort, maxOutput int) int {
	var tokens int
	switch e {
	case EffortDefault, EffortNone:
		return 0
	case EffortMinimal, EffortLow:
		tokens = 1024
	case EffortMedium:
		tokens = 5120
	case EffortHigh:
		tokens = 10240
	default:
		tokens = 32768
	}
	tokens = max(tokens, c.MinBudget)
	if c.MaxBudget > 0 {
		tokens = min(tokens, c.MaxBudget)
	}
	if maxOutput > 0 {
		tokens = min(tokens, maxOutput-smallestBudget)
	}
	if tokens < max(c.MinBudget, 1) {
		return 0
	}
	return tokens
}

// ThinkingBudget returns the thinking tokens for the request's effort and cap;
// see [ReasoningControl.Budget].
func (r Request) ThinkingBudget(maxOutput int) int {
	tokens := r.Reasoning.Budget(r.Effort, maxOutput)
	if r.ThinkingTokens > 0 && tokens > 0 {
		tokens = max(min(tokens, r.ThinkingTokens), r.Reasoning.MinBudget)
	}
	return tokens
}
