package agent

import (
	"time"

	"atelier.dev/atelier/agent/llm"
)

// Facts is what a host knows about models; package catalogue implements it. It
// is called from the session's goroutine.
type Facts interface {
	// Price returns the cost of a request; nil means unknown.
	Price(provider, model string, u llm.Usage, at time.Time) *llm.Cost
	// Limits returns a model's limits.
	Limits(provider, model string) llm.ModelLimits
}

// noFacts knows nothing about any model.
type noFacts struct{}

func (noFacts) Price(string, string, llm.Usage, time.Time) *llm.Cost { return nil }
func (noFacts) Limits(string, string) llm.ModelLimits                { return llm.ModelLimits{} }
