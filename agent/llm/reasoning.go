package llm

import "slices"

// ReasoningMode is a way of steering how much a model thinks.
type ReasoningMode string

// The ways, in the words of the catalogue.
const (
	ReasoningEffort   ReasoningMode = "effort"   // one of the effort levels
	ReasoningAdaptive ReasoningMode = "adaptive" // the model decides, effort guides it
	ReasoningBudget   ReasoningMode = "budget"   // a number of tokens
	ReasoningToggle   ReasoningMode = "toggle"   // on or off
)

// ReasoningControl says how a model's thinking is steered. Its zero value
// means that nothing is known of the model: then [Request.Effort] is passed on
// as it is where the API has a field for it.
type ReasoningControl struct {
	Modes []ReasoningMode
	// Levels are the efforts that the model takes, in any order; empty where
	// it takes none or nothing is known.
	Levels []Effort
	// MinBudget and MaxBudget bound a budget in tokens; 0 is unknown.
	MinBudget, MaxBudget int
}

// Known says whether anything is known of the model's thinking.
func (c ReasoningControl) Known() bool { return len(c.Modes) > 0 || len(c.Levels) > 0 }

// Has says whether a mode is one of the model's.
func (c ReasoningControl) Has(m ReasoningMode) bool { return slices.Contains(c.Modes, m) }

// efforts lists the levels from the least to the most.
var efforts = []Effort{EffortNone, EffortMinimal, EffortLow, EffortMedium, EffortHigh, EffortXHigh, EffortMax}

// Level returns the level nearest to e that the model takes, of two equally
// near ones the lower. Without known levels, and for the default, it is e
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

// smallestBudget is the least that the providers take where no other bound is
// known.
const smallestBudget = 1024

// Budget returns the tokens to think with, within the model's bounds and with
// room for an answer below maxOutput (0 is no cap). 0 means that there is no
// room for thinking, or that none is wanted (OAS-720).
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

// ThinkingBudget is the tokens to think with that the request's effort wants
// and its cap allows; see [ReasoningControl.Budget].
func (r Request) ThinkingBudget(maxOutput int) int {
	tokens := r.Reasoning.Budget(r.Effort, maxOutput)
	if r.ThinkingTokens > 0 && tokens > 0 {
		tokens = max(min(tokens, r.ThinkingTokens), r.Reasoning.MinBudget)
	}
	return tokens
}
