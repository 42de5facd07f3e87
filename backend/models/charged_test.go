package models

import (
	"testing"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// A charge that a provider reports overrides every known price.
func TestChargedWinsOverPrices(t *testing.T) {
	t.Parallel()
	u := llm.Usage{Input: 1, Output: 1, Charged: llm.Dollar / 4, Known: true}
	if got := new(Providers).Price("openrouter", "anthropic/claude-opus-5", u, time.Now()); got == nil || *got != llm.Dollar/4 {
		t.Errorf("the request cost %v", got)
	}
}
