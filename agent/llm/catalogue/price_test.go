package catalogue

import (
	"math/rand/v2"
	"testing"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// micro is a millionth of a dollar: the cost of a token at a dollar per
// million.
const micro = llm.Dollar / 1_000_000

func price(t *testing.T, c *Catalogue, provider, id string, u llm.Usage, at time.Time) llm.Cost {
	t.Helper()
	m, ok := c.Lookup(provider, id)
	if !ok {
		t.Fatalf("no %s/%s", provider, id)
	}
	u.Known = true
	cost, known := m.Price(u, at)
	if !known {
		t.Fatalf("the price of %s is unknown", id)
	}
	return cost
}

// OAS-713: the seed's table, added as the user's rows. Its example for sonnet
// is right; the one for opus contradicts its own table, which holds.
func TestSeedTable(t *testing.T) {
	t.Parallel()
	c := New()
	for id, rates := range map[string][2]Rate{
		"claude-opus-4-6": {15e6, 75e6}, "claude-sonnet-4-6": {3e6, 15e6}, "claude-haiku-4-5": {0.8e6, 4e6},
	} {
		c.Register(Model{Provider: "anthropic", ID: id, Prices: Prices{Rates: Rates{Input: &rates[0], Output: &rates[1]}}})
	}
	for _, tt := range []struct {
		id            string
		input, output int64
		want          llm.Cost
	}{
		{"claude-sonnet-4-6", 45, 3, 180 * micro},    // $0.000180
		{"claude-opus-4-6", 52, 156, 12_480 * micro}, // $0.012480, printed as $0.011970
		{"claude-haiku-4-5", 1_000_000, 1_000_000, 4_800_000 * micro},
	} {
		if got := price(t, c, "anthropic", tt.id, llm.Usage{Input: tt.input, Output: tt.output}, today); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.id, got.Dollars(), tt.want.Dollars())
		}
	}
}

func TestPrice(t *testing.T) {
	t.Parallel()
	c := New()
	const m = 1_000_000
	day := func(s string) time.Time {
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, tt := range []struct {
		name, provider, id string
		usage              llm.Usage
		at                 time.Time
		want               llm.Cost // in micro-dollars
	}{
		{"input and output", "anthropic", "claude-opus-4-6", llm.Usage{Input: m, Output: m}, today, 30 * m},
		{"cache", "anthropic", "claude-opus-4-6", llm.Usage{Input: 1000, CacheRead: 10_000, CacheWrite: 2000, Output: 100}, today, 5000 + 5000 + 12_500 + 2500},
		{"a cache for an hour", "anthropic", "claude-opus-4-6", llm.Usage{CacheWrite: 3000, CacheWriteLong: 2000}, today, 6250 + 20_000},
		{"for an hour, without a price", "openai", "gpt-6.2-sol", llm.Usage{CacheWrite: 1000, CacheWriteLong: 1000}, today, 4000},
		{"a cheap cache", "anthropic", "claude-sonnet-5-5", llm.Usage{CacheRead: m}, today, 100_000},
		{"a cache without a price", "openai", "gpt-6.2-sol", llm.Usage{CacheRead: 1000, CacheWrite: 1000}, today, 4000},
		{"up to the tier", "openai", "gpt-6.1-sol", llm.Usage{Input: 200_000, CacheRead: 72_000, Output: 1000}, today, 400_000 + 7200 + 10_000},
		{"over the tier: all of it", "openai", "gpt-6.1-sol", llm.Usage{Input: 200_001, CacheRead: 72_000, Output: 1000}, today, 800_004 + 14_400 + 15_000},
		{"thinking is dearer", "qwen", "qwen3-32b", llm.Usage{Input: 1000, Output: 1000, Reasoning: 1}, today, 700 + 8400},
		{"no thinking is not", "qwen", "qwen3-32b", llm.Usage{Input: 1000, Output: 1000}, today, 700 + 2800},
		{"the promotion's last second", "gemini", "gemini-4-argon", llm.Usage{Input: 1000, CacheRead: 1000, Output: 1000}, day("2026-11-30T23:59:59Z"), 2000 + 100 + 10_000},
		{"the first after it", "gemini", "gemini-4-argon", llm.Usage{Input: 1000, CacheRead: 1000, Output: 1000}, day("2026-12-01T00:00:00Z"), 4000 + 200 + 20_000},
		{"in UTC", "gemini", "gemini-4-argon", llm.Usage{Input: 1000}, day("2026-12-01T07:00:00+08:00"), 2000},
		{"the promotion of gpt-5.6-sol", "openai", "gpt-5.6-sol", llm.Usage{Input: 1000, Output: 1000}, day("2026-11-21T23:59:59Z"), 4000 + 20_000},
		{"its list price", "openai", "gpt-5.6-sol", llm.Usage{Input: 1000, Output: 1000}, day("2026-11-22T00:00:00Z"), 5000 + 30_000},
		{"a long context's output and cache", "xai", "grok-4.7", llm.Usage{Input: 200_001, CacheRead: 1000, Output: 1000}, today, 800_004 + 1000 + 12_000},
		{"just below it", "xai", "grok-4.6", llm.Usage{Input: 199_000, CacheRead: 1000, Output: 1000}, today, 398_000 + 500 + 6000},
		{"before the peak", "deepseek", "deepseek-flash", llm.Usage{Input: 1000, CacheRead: 1000, Output: 1000}, day("2026-11-20T00:59:59Z"), 150 + 3 + 600},
		{"in it", "deepseek", "deepseek-flash", llm.Usage{Input: 1000, CacheRead: 1000, Output: 1000}, day("2026-11-20T01:00:00Z"), 300 + 6 + 1200},
		{"its last second", "deepseek", "deepseek-flash", llm.Usage{Input: 1000}, day("2026-11-20T03:59:59Z"), 300},
		{"between two", "deepseek", "deepseek-flash", llm.Usage{Input: 1000}, day("2026-11-20T04:00:00Z"), 150},
		{"in the second", "deepseek", "deepseek-flash", llm.Usage{Input: 1000}, day("2026-11-20T17:59:59+08:00"), 300},
		{"on a Saturday", "deepseek", "deepseek-flash", llm.Usage{Input: 1000}, day("2026-11-21T02:00:00Z"), 150},
		{"here", "ollama", "qwen3:14b", llm.Usage{Input: m, Output: m}, today, 0},
	} {
		if got := price(t, c, tt.provider, tt.id, tt.usage, tt.at); got != tt.want*micro {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want*micro)
		}
	}
}

// A row's own price for an hour in the cache overrides twice the price of
// input.
func TestLongCachePrice(t *testing.T) {
	t.Parallel()
	p := Prices{Rates: Rates{Input: new(Rate(5)), Output: new(Rate(1)), CacheWriteLong: new(Rate(7))}}
	if got, known := p.Price(llm.Usage{CacheWrite: 10, CacheWriteLong: 10, Known: true}, today); got != 70 || !known {
		t.Errorf("cost %d, known %t; want 70", got, known)
	}
}

// An unknown price gives no cost, never 0.
func TestUnknownPrice(t *testing.T) {
	t.Parallel()
	c := New()
	unpriced, ok := c.Lookup("glm", "glm-5.3")
	if !ok {
		t.Fatal("no such row")
	}
	priced, _ := c.Lookup("openai", "gpt-6.1-sol")
	for name, known := range map[string]bool{
		"no price":  second(unpriced.Price(llm.Usage{Input: 1, Known: true}, today)),
		"no usage":  second(priced.Price(llm.Usage{}, today)),
		"negative":  second(priced.Price(llm.Usage{Input: -1, Known: true}, today)),
		"too long":  second(priced.Price(llm.Usage{CacheWrite: 1, CacheWriteLong: 2, Known: true}, today)),
		"absurd":    second(priced.Price(llm.Usage{Output: 1e18, Known: true}, today)),
		"empty row": second(Model{}.Price(llm.Usage{Known: true}, today)),
	} {
		if known {
			t.Errorf("%s: the cost is known", name)
		}
	}
}

func second(_ llm.Cost, known bool) bool { return known }

// Within a tier and a moment, costs add up exactly, however a conversation is
// divided into requests.
func TestPriceIsAdditive(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, m := range New().models {
		ceiling := int64(300_000)
		for _, tier := range m.Tiers {
			ceiling = min(ceiling, tier.Above)
		}
		part := func() llm.Usage {
			n := func() int64 { return rnd.Int64N(ceiling / 6) }
			return llm.Usage{Input: n(), CacheRead: n(), CacheWrite: n(), Output: n(), Known: true}
		}
		for range 20 {
			a, b := part(), part()
			costA, known := m.Price(a, today)
			costB, _ := m.Price(b, today)
			both, _ := m.Price(a.Add(b), today)
			if known && both != costA+costB {
				t.Fatalf("%s/%s: %d + %d is %d", m.Provider, m.ID, costA, costB, both)
			}
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New()
	}
}
