package llm

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Cost is an amount of money in pico-dollars, 10⁻¹² of a US dollar. A price of
// a millionth of a dollar per million tokens is one pico-dollar per token, so
// every cost is an integer and sums never drift. In JSON it is a decimal number
// of dollars, written out in full.
type Cost int64

// Dollar is one US dollar.
const Dollar Cost = 1e12

// places is the number of decimals of a dollar that a Cost holds.
const places = 12

// CostOf converts dollars to a cost, to the nearest pico-dollar. It reports
// false for a value that no request can cost.
func CostOf(dollars float64) (Cost, bool) {
	if !(dollars >= 0 && dollars < 1e6) { // nor is NaN
		return 0, false
	}
	return Cost(math.Round(dollars * float64(Dollar))), true
}

// Dollars returns the nearest floating-point number of dollars.
func (c Cost) Dollars() float64 { return float64(c) / float64(Dollar) }

// String formats the cost for people, to a hundredth of a cent. A cost above
// zero never appears as zero.
func (c Cost) String() string {
	const smallest = Dollar / 10_000
	if c > 0 && c < smallest {
		return "less than $0.0001"
	}
	s := strconv.FormatFloat(c.Dollars(), 'f', 4, 64)
	return "$" + strings.TrimSuffix(strings.TrimSuffix(s, "0"), "0")
}

// MarshalJSON implements [json.Marshaler].
func (c Cost) MarshalJSON() ([]byte, error) {
	sign, n := "", uint64(c)
	if c < 0 {
		sign, n = "-", -n
	}
	s := fmt.Sprintf("%s%d.%0*d", sign, n/uint64(Dollar), places, n%uint64(Dollar))
	return []byte(strings.TrimSuffix(strings.TrimRight(s, "0"), ".")), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Cost) UnmarshalJSON(b []byte) error {
	whole, fraction, _ := strings.Cut(string(b), ".")
	if len(fraction) > places {
		return fmt.Errorf("read cost: %s has more than %d decimals", b, places)
	}
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", places-len(fraction)), 10, 64)
	if err != nil {
		return fmt.Errorf("read cost: %w", err)
	}
	*c = Cost(n)
	return nil
}

// Spending is the cost of several requests.
type Spending struct {
	Cost Cost `json:"usd"`
	// Unknown counts the requests of unknown cost. If there are any, Cost is a
	// minimum.
	Unknown int `json:"unknown,omitempty"`
}

// Since returns the spending of s after before.
func (s Spending) Since(before Spending) Spending {
	return Spending{Cost: s.Cost - before.Cost, Unknown: s.Unknown - before.Unknown}
}

// Add adds one request; nil means an unknown cost.
func (s *Spending) Add(c *Cost) {
	if c == nil {
		s.Unknown++
		return
	}
	s.Cost += *c
}
