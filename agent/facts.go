package agent

import (
	"time"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/picture"
)

// Facts is what a host knows about models. It is asked from the session's
// goroutine.
type Facts interface {
	// Price says what a request cost; nil is unknown.
	Price(provider, model string, u llm.Usage, at time.Time) *llm.Cost
	// Limits says what a model takes.
	Limits(provider, model string) ModelLimits
}

// ModelLimits bound what a model can be sent. Zero fields are unknown and
// bound nothing.
type ModelLimits struct {
	// Window is how many tokens a request and its answer may hold.
	Window int64
	// Blind models take no pictures.
	Blind   bool
	Picture picture.Limits
}

// noFacts is where nothing is known.
type noFacts struct{}

func (noFacts) Price(string, string, llm.Usage, time.Time) *llm.Cost { return nil }
func (noFacts) Limits(string, string) ModelLimits                    { return ModelLimits{} }
