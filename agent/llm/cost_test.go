package llm

import (
	"encoding/json"
	"math"
	"testing"
)

// A cost survives its encoding exactly, as a decimal number of dollars.
func TestCostJSON(t *testing.T) {
	t.Parallel()
	for cost, want := range map[Cost]string{
		0: "0", 1: "0.000000000001", 180_000_000: "0.00018", Dollar: "1", 12*Dollar + Dollar/2: "12.5",
		-3 * Dollar / 10: "-0.3", math.MaxInt64: "9223372.036854775807", math.MinInt64: "-9223372.036854775808",
	} {
		b, err := json.Marshal(cost)
		if err != nil || string(b) != want {
			t.Errorf("%d is written %s, %v", int64(cost), b, err)
		}
		var back Cost
		if err := json.Unmarshal(b, &back); err != nil || back != cost {
			t.Errorf("%s is read as %d, %v", b, int64(back), err)
		}
	}
	for _, bad := range []string{`1e-7`, `0.1234567890123`, `10000000`, `"1"`} {
		var c Cost
		if err := json.Unmarshal([]byte(bad), &c); err == nil {
			t.Errorf("%s is read as %d", bad, int64(c))
		}
	}
}

func TestCostString(t *testing.T) {
	t.Parallel()
	for cost, want := range map[Cost]string{
		0: "$0.00", 1: "less than $0.0001", 180_000_000: "$0.0002", 2 * Dollar: "$2.00", 523_412_000_000: "$0.5234",
		Dollar / 10: "$0.10",
	} {
		if got := cost.String(); got != want {
			t.Errorf("%d reads %q, want %q", int64(cost), got, want)
		}
	}
}

func TestSpending(t *testing.T) {
	t.Parallel()
	var s Spending
	for _, c := range []*Cost{new(Dollar), nil, new(Dollar / 2), nil} {
		s.Add(c)
	}
	if want := (Spending{Cost: 3 * Dollar / 2, Unknown: 2}); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}
