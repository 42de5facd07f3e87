package agent

import (
	"time"

	"atelier.dev/atelier/agent/llm"
)

// Facts is what a host knows about models; the package catalogue has one. It is
// asked from the session's goroutine.
type Facts interface {
	// Price says what a request cost; nil is unknown.
	Price(provider, model string, u llm.Usage, at time.Time) *llm.Cost
	// Limits says what a model takes.
	Limits(provider, model string) llm.ModelLimits
}

// noFacts is where nothing is known.
type noFacts struct{}

func (noFacts) Price(string, string, llm.Usage, time.Time) *llm.Cost { return nil }
func (noFacts) Limits(string, string) llm.ModelLimits                { return llm.ModelLimits{} }
