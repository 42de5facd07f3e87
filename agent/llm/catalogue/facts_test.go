package catalogue_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

var _ agent.ModelFacts = catalogue.Facts{}

// A cost that a provider charged overrides prices, and a price overrides the
// zero of a local model. An unknown cost stays unknown.
func TestFactsPrice(t *testing.T) {
	t.Parallel()
	facts := catalogue.New().Facts()
	facts.Free = func(provider string) bool { return provider == "ollama" || provider == "openai" }
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	usage := llm.Usage{Input: 1_000_000, Known: true}
	charged := usage
	charged.Charged = llm.Dollar / 4
	for _, tt := range []struct {
		provider, model string
		usage           llm.Usage
		want            *llm.Cost
	}{
		{"anthropic", "claude-sonnet-5-5", charged, new(llm.Dollar / 4)},
		{"openai", "gpt-6.1-sol", llm.Usage{Input: 1000, Known: true}, new(llm.Dollar * 2 / 1000)},
		{"ollama", "house-model", usage, new(llm.Cost)},
		{"compat", "house-model", usage, nil},
		{"anthropic", "claude-opus-9", usage, nil}, // a price is never assumed
	} {
		if diff := cmp.Diff(tt.want, facts.Price(tt.provider, tt.model, tt.usage, now)); diff != "" {
			t.Errorf("%s/%s: %s", tt.provider, tt.model, diff)
		}
	}
	if got := (catalogue.Facts{}).Price("openai", "gpt-6.1-sol", usage, now); got != nil {
		t.Errorf("who knows nothing says %v", *got)
	}
}

// LLM-22: limits come from the row, else from the model's family; limits on
// pictures come from the provider. Only a row that says so makes a model blind, not its name in a
// server's list.
func TestFactsLimits(t *testing.T) {
	t.Parallel()
	c := catalogue.New()
	c.Register(catalogue.Model{Provider: "compat", ID: "blind", Limits: catalogue.Limits{ContextWindow: 9}, Abilities: catalogue.Abilities{Images: new(false)}})
	c.Register(catalogue.Model{Provider: "compat", ID: "listed", Limits: catalogue.Limits{ContextWindow: 9}, Abilities: catalogue.Abilities{Tools: true}})
	facts := c.Facts()
	usual, small := llm.PictureLimits{Bytes: 20 << 20, Edge: 8000}, llm.PictureLimits{Bytes: 5 << 20 * 3 / 4, Edge: 2000}
	sonnet, _ := c.Lookup("anthropic", "claude-sonnet-5-5")
	for _, tt := range []struct {
		provider, model string
		want            llm.ModelLimits
	}{
		{"anthropic", "claude-sonnet-5-5", llm.ModelLimits{Window: sonnet.Window(), Picture: small}},
		{"anthropic", "claude-sonnet-9", llm.ModelLimits{Window: sonnet.Window(), Picture: small}},
		{"compat", "blind", llm.ModelLimits{Window: 9, Blind: true, Picture: usual}},
		{"compat", "listed", llm.ModelLimits{Window: 9, Picture: usual}},
		{"compat", "unheard-of", llm.ModelLimits{Picture: usual}},
	} {
		if got := facts.Limits(tt.provider, tt.model); got != tt.want || tt.want.Window == 0 && tt.model != "unheard-of" {
			t.Errorf("%s/%s: %+v, want %+v", tt.provider, tt.model, got, tt.want)
		}
	}
}

// A request gets the known facts about its model and nothing else. Its own
// values hold as far as the model allows.
func TestMiddleware(t *testing.T) {
	t.Parallel()
	c := catalogue.New()
	c.Register(catalogue.Model{Provider: llmtest.Provider, ID: "m", Limits: catalogue.Limits{MaxOutput: 500},
		Thinking: catalogue.Thinking{Efforts: []llm.Effort{llm.EffortLow}, Budget: &catalogue.Budget{Min: 7, Max: 9}}})
	known := llm.ReasoningControl{Levels: []llm.Effort{llm.EffortLow}, MinBudget: 7, MaxBudget: 9}
	own := llm.ReasoningControl{Modes: []llm.ReasoningMode{llm.ReasoningToggle}}
	for name, tt := range map[string]struct{ req, want llm.Request }{
		"known":        {llm.Request{Model: "m"}, llm.Request{Reasoning: known, MostOutput: 500}},
		"a cap":        {llm.Request{Model: "m", MaxOutput: 400}, llm.Request{Reasoning: known, MaxOutput: 400, MostOutput: 500}},
		"a higher one": {llm.Request{Model: "m", MaxOutput: 501}, llm.Request{Reasoning: known, MaxOutput: 500, MostOutput: 500}},
		"its own":      {llm.Request{Model: "m", Reasoning: own}, llm.Request{Reasoning: own, MostOutput: 500}},
		"unknown":      {llm.Request{Model: "n", MaxOutput: 9}, llm.Request{MaxOutput: 9}},
	} {
		var sent llm.Request
		layer := c.Facts().Middleware(func(_ context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
			sent = req
			return func(func(llm.Event, error) bool) {}
		})
		tt.req.Provider, tt.want.Provider, tt.want.Model = llmtest.Provider, llmtest.Provider, tt.req.Model
		for range layer(t.Context(), tt.req) {
			t.Error("an event from nowhere")
		}
		if diff := cmp.Diff(tt.want, sent); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
