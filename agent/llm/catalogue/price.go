package catalogue

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// Prices are a model's prices and the rules that change them.
type Prices struct {
	Rates
	// ThinkingOutput is the price of output after thinking.
	ThinkingOutput *Rate  `json:"output_reasoning"`
	Tiers          []Tier `json:"tiers"`
	Promo          *Promo `json:"price_promo"`
	Peak           *Peak  `json:"price_peak"`
}

// Rates are prices by the kind of token; nil means unknown.
type Rates struct {
	Input      *Rate `json:"input"`
	Output     *Rate `json:"output"`
	CacheRead  *Rate `json:"cache_read"`
	CacheWrite *Rate `json:"cache_write"`
	// CacheWriteLong is the price of writing to the cache for an hour.
	CacheWriteLong *Rate `json:"cache_write_1h"`
}

// Tier replaces the rates of a whole request whose context exceeds Above
// tokens.
type Tier struct {
	Above int64 `json:"above_input_tokens"`
	Rates
}

// Promo replaces the rates up to and including a day, in UTC.
type Promo struct {
	Until string `json:"until"` // YYYY-MM-DD
	Rates
}

// Peak replaces the rates in some hours from Monday to Friday, in UTC. The
// vendor's holidays are unknown, so they count as working days.
type Peak struct {
	Windows []Window `json:"utc_weekday_windows"`
	Rates
}

// over returns r with the known rates of s replacing its own.
func (r Rates) over(s Rates) Rates {
	return Rates{
		Input: cmp.Or(s.Input, r.Input), Output: cmp.Or(s.Output, r.Output),
		CacheRead: cmp.Or(s.CacheRead, r.CacheRead), CacheWrite: cmp.Or(s.CacheWrite, r.CacheWrite),
		CacheWriteLong: cmp.Or(s.CacheWriteLong, r.CacheWriteLong),
	}
}

// At returns the rates for a request with the given tokens of context at the
// given time. The largest applicable tier takes precedence over the hour, and
// the hour over the promotion.
func (p Prices) At(context int64, at time.Time) Rates {
	r, at := p.Rates, at.UTC()
	if p.Promo != nil && at.Format(time.DateOnly) <= p.Promo.Until {
		r = r.over(p.Promo.Rates)
	}
	if p.Peak != nil && p.Peak.covers(at) {
		r = r.over(p.Peak.Rates)
	}
	var above int64
	for _, t := range p.Tiers {
		if context > t.Above && t.Above >= above {
			above, r = t.Above, r.over(t.Rates)
		}
	}
	return r
}

// maxTokens is more than any request contains; a larger count is invalid.
const maxTokens = 1e9

// Price returns the cost of a request. It reports false if the model's prices
// or the tokens are unknown. Cache tokens cost the same as input unless the row
// says otherwise, because most vendors charge no more. Tokens cached for an
// hour cost twice as much as input, as at Anthropic, the only provider that
// counts them.
func (p Prices) Price(u llm.Usage, at time.Time) (llm.Cost, bool) {
	r := p.At(u.Context(), at)
	if r.Input == nil || r.Output == nil || !u.Known || min(u.Input, u.CacheRead, u.CacheWrite, u.CacheWriteLong, u.Output) < 0 || u.CacheWriteLong > u.CacheWrite ||
		max(u.Input, u.CacheRead, u.CacheWrite, u.Output) > maxTokens {
		return 0, false
	}
	if u.Reasoning > 0 {
		r.Output = cmp.Or(p.ThinkingOutput, r.Output)
	}
	long := 2 * r.Input.of(u.CacheWriteLong)
	if r.CacheWriteLong != nil {
		long = r.CacheWriteLong.of(u.CacheWriteLong)
	}
	return r.Input.of(u.Input) + cmp.Or(r.CacheRead, r.Input).of(u.CacheRead) +
		cmp.Or(r.CacheWrite, r.Input).of(u.CacheWrite-u.CacheWriteLong) + long + r.Output.of(u.Output), true
}

// Rate is a price in pico-dollars per token, which is millionths of a dollar
// per million tokens. In JSON it is in dollars per million tokens.
type Rate int64

const (
	ratePerDollar = 1e6
	maxRate       = 1000 * ratePerDollar // keeps every cost within 64 bits
)

func (r *Rate) of(tokens int64) llm.Cost { return llm.Cost(int64(*r) * tokens) }

// PerMillion returns the price in dollars per million tokens.
func (r Rate) PerMillion() float64 { return float64(r) / ratePerDollar }

// UnmarshalJSON implements [json.Unmarshaler].
func (r *Rate) UnmarshalJSON(b []byte) error {
	var dollars float64
	if err := json.Unmarshal(b, &dollars); err != nil {
		return fmt.Errorf("%s is not a price in dollars per million tokens", b)
	}
	n := math.Round(dollars * ratePerDollar)
	if n < 0 || n > maxRate {
		return fmt.Errorf("%s is not a price between 0 and 1000 dollars per million tokens", b)
	}
	*r = Rate(n)
	return nil
}

// ListedRates returns the prices that a provider lists for its own model.
func ListedRates(p llm.ListedPrice) Rates {
	rate := func(dollars *float64) *Rate {
		if dollars == nil {
			return nil
		}
		n := math.Round(*dollars * ratePerDollar)
		if !(n >= 0 && n <= maxRate) {
			return nil
		}
		return new(Rate(n))
	}
	return Rates{Input: rate(&p.Input), Output: rate(&p.Output), CacheRead: rate(p.CacheRead), CacheWrite: rate(p.CacheWrite)}
}

// Window is a part of the day: from minute From up to, but not including,
// minute To.
type Window struct{ From, To int }

// UnmarshalJSON implements [json.Unmarshaler].
func (w *Window) UnmarshalJSON(b []byte) error {
	from, to, _ := strings.Cut(strings.Trim(string(b), `"`), "-")
	start, err := time.Parse("15:04", from)
	if err == nil {
		var end time.Time
		end, err = time.Parse("15:04", to)
		*w = Window{start.Hour()*60 + start.Minute(), end.Hour()*60 + end.Minute()}
	}
	if err != nil {
		return fmt.Errorf(`%s is no part of the day like "01:00-04:00"`, b)
	}
	return nil
}

func (p *Peak) covers(at time.Time) bool {
	if d := at.Weekday(); d == time.Saturday || d == time.Sunday {
		return false
	}
	minute := at.Hour()*60 + at.Minute()
	for _, w := range p.Windows {
		if w.From <= minute && minute < w.To {
			return true
		}
	}
	return false
}
