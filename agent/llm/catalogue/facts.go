package catalogue

import (
	"context"
	"iter"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// Facts tell a session what its requests cost and what its model takes, as the
// Facts of its configuration, and a client how its models think, by
// [Facts.Middleware]. The zero value knows nothing. Facts are as safe for
// concurrent use as Of and Free are.
type Facts struct {
	// Of returns what is known of a model, an empty row where nothing is; nil
	// where nothing is of any.
	Of func(provider, id string) Model
	// Free reports whether a provider's models cost nothing where no price is
	// known, because it runs on this machine; nil where none does.
	Free func(provider string) bool
}

// Facts are what the catalogue knows, with what it may assume of models that it
// does not list.
func (c *Catalogue) Facts() Facts { return Facts{Of: c.Known} }

func (f Facts) of(provider, id string) Model {
	if f.Of == nil {
		return Model{}
	}
	return f.Of(provider, id)
}

// Price returns what a request cost; nil is unknown. What the provider says that
// it charged wins over the prices. A model without a price costs nothing where
// it is free; anywhere else its cost is unknown.
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

// Pictures as providers take them (LLM-22). Anthropic's limit is on the encoded
// form, and on many pictures at a time.
var (
	pictures            = llm.PictureLimits{Bytes: 20 << 20, Edge: 8000}
	picturesOfAnthropic = llm.PictureLimits{Bytes: 5 << 20 * 3 / 4, Edge: 2000}
)

// Limits returns what a model takes. One is taken to see pictures unless a row
// of its own says that it does not.
func (f Facts) Limits(provider, model string) llm.ModelLimits {
	row := f.of(provider, model)
	limits := llm.ModelLimits{
		Window: row.Window(), Picture: pictures,
		Blind: row.ID != "" && row.Assumed == "" && !row.Images,
	}
	if provider == "anthropic" {
		limits.Picture = picturesOfAnthropic
	}
	return limits
}

// Middleware is an [llm.Middleware] that adds to a request what is known of its
// model: how its thinking is steered, unless the request says so itself, and how
// much it writes at the most, which bounds the request's own cap. A request that
// names no provider stays as it is.
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
