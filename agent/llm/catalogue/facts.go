package catalogue

import (
	"context"
	"iter"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// Facts answer a session's questions about the costs of requests and the limits
// of models, as Config.Facts, and tell a client how models think, by
// [Facts.Middleware]. The zero value knows nothing. Facts are safe for
// concurrent use if Of and Free are.
type Facts struct {
	// Of returns what is known about a model, or an empty row; nil if nothing
	// is known about any.
	Of func(provider, id string) Model
	// Free reports whether a provider's models without a price cost nothing,
	// because the provider runs on this machine; nil if none does.
	Free func(provider string) bool
}

// Facts returns the catalogue's knowledge, including assumptions about models
// that it does not list.
func (c *Catalogue) Facts() Facts { return Facts{Of: c.Known} }

func (f Facts) of(provider, id string) Model {
	if f.Of == nil {
		return Model{}
	}
	return f.Of(provider, id)
}

// Price returns the cost of a request; nil means unknown. A charge that the
// provider reports takes precedence over the prices. A model without a price
// costs nothing if it is free; otherwise its cost is unknown.
func (f Facts) Price(provider, model string, u llm.Usage, at time.Time) *llm.Cost {
	if u.Charged > 0 {
		return &u.Charged
	}
	row := f.of(provider, model)
	if row.Input == nil && f.Free != nil && f.Free(provider) {
		return new(llm.Cost)
	}
	if cost, known := row.Price(u, at); known {
		return &cost
	}
	return nil
}

// Limits of pictures by provider (LLM-22). Anthropic's limit is on the encoded
// form, and on many pictures at a time.
var (
	pictures            = llm.PictureLimits{Bytes: 20 << 20, Edge: 8000}
	picturesOfAnthropic = llm.PictureLimits{Bytes: 5 << 20 * 3 / 4, Edge: 2000}
)

// Limits returns a model's limits. A model is assumed to accept pictures unless
// its own row says otherwise: a server's list may have nothing but names.
func (f Facts) Limits(provider, model string) llm.ModelLimits {
	row := f.of(provider, model)
	limits := llm.ModelLimits{
		Window: row.Window(), Picture: pictures,
		Blind: row.Blind(),
	}
	if provider == "anthropic" {
		limits.Picture = picturesOfAnthropic
	}
	return limits
}

// Middleware is an [llm.Middleware] that adds what is known about a request's
// model: how its thinking is controlled, unless the request says so itself, and
// its largest answer, which limits the request's own cap. A request without a
// provider stays unchanged.
func (f Facts) Middleware(next llm.StreamFunc) llm.StreamFunc {
	return func(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
		return func(yield func(llm.Event, error) bool) {
			row := f.of(req.Provider, req.Model)
			if !req.Reasoning.Known() {
				req.Reasoning = row.Control()
			}
			if most := int(row.MaxOutput); most > 0 {
				req.MostOutput, req.MaxOutput = most, min(req.MaxOutput, most)
			}
			next(ctx, req)(yield)
		}
	}
}
