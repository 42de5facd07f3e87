package agent

import (
	"context"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// ModelFacts is what a host knows about models; package catalogue implements it. It
// is called from the session's goroutine.
type ModelFacts interface {
	// Price returns the cost of a request; nil means unknown.
	Price(provider, model string, u llm.Usage, at time.Time) *llm.Cost
	// Limits returns a model's limits.
	Limits(provider, model string) llm.ModelLimits
}

// ModelServer is a [ModelFacts] that knows the servers which people run themselves.
// They load a model with a window of their own choice.
type ModelServer interface {
	// Refresh asks a provider's server for the windows that its models have now.
	// For any other provider it returns at once. It waits a few seconds at most; if
	// the server does not answer, what was known holds.
	Refresh(ctx context.Context, provider string)
	// Widening returns the setting that gives the models of a provider's server a
	// window of so many tokens; empty for any other provider.
	Widening(provider string, tokens int64) string
}

// noFacts knows nothing about any model.
type noFacts struct{}

func (noFacts) Price(string, string, llm.Usage, time.Time) *llm.Cost { return nil }
func (noFacts) Limits(string, string) llm.ModelLimits                { return llm.ModelLimits{} }
