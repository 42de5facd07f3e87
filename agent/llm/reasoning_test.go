package llm

import "testing"

// LOOP-16, LOOP-138: the nearest level that the model accepts is chosen, the
// lower one of two.
func TestLevel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		levels       []Effort
		effort, want Effort
	}{
		{nil, EffortXHigh, EffortXHigh},
		{[]Effort{EffortLow, EffortHigh}, EffortDefault, EffortDefault},
		{[]Effort{EffortHigh, EffortLow}, EffortMedium, EffortLow},
		{[]Effort{EffortLow, EffortMedium, EffortHigh}, EffortMax, EffortHigh},
		{[]Effort{EffortLow, EffortMedium, EffortHigh}, EffortNone, EffortLow},
		{[]Effort{EffortNone, EffortHigh}, EffortLow, EffortNone},
		{[]Effort{EffortLow, EffortMax}, "house", "house"},
	} {
		if got := (ReasoningControl{Levels: tt.levels}).Level(tt.effort); got != tt.want {
			t.Errorf("%q of %q gives %q, want %q", tt.effort, tt.levels, got, tt.want)
		}
	}
}

// OAS-720
func TestBudget(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lo, hi    int
		effort    Effort
		maxOutput int
		want      int
	}{
		{1024, 0, EffortDefault, 64000, 0},
		{1024, 0, EffortNone, 64000, 0},
		{1024, 0, EffortMinimal, 64000, 1024},
		{1024, 0, EffortLow, 64000, 1024},
		{1024, 0, EffortMedium, 64000, 5120},
		{1024, 0, EffortHigh, 64000, 10240},
		{1024, 0, EffortMax, 64000, 32768},
		{1024, 0, EffortMax, 32000, 30976},
		{1024, 0, EffortMax, 2000, 0},
		{2048, 0, EffortLow, 64000, 2048},
		{0, 24576, EffortXHigh, 0, 24576},
		{0, 24576, EffortHigh, 900, 0},
	} {
		c := ReasoningControl{MinBudget: tt.lo, MaxBudget: tt.hi}
		if got := c.Budget(tt.effort, tt.maxOutput); got != tt.want {
			t.Errorf("%+v gives %d", tt, got)
		}
	}
}

// OAS-714, OAS-721: a cap on thinking is limited to what the model accepts, and
// does not switch thinking on.
func TestThinkingTokens(t *testing.T) {
	t.Parallel()
	budget := ReasoningControl{Modes: []ReasoningMode{ReasoningBudget}, MinBudget: 1024, MaxBudget: 20_000}
	for _, tt := range []struct {
		effort    Effort
		cap, want int
	}{
		{EffortHigh, 0, 10_240}, {EffortHigh, 4000, 4000}, {EffortHigh, 50_000, 10_240},
		{EffortHigh, 10, 1024}, {EffortMax, 0, 20_000}, {EffortNone, 4000, 0}, {EffortDefault, 4000, 0},
	} {
		req := Request{Effort: tt.effort, Reasoning: budget, Options: Options{ThinkingTokens: tt.cap}}
		if got := req.ThinkingBudget(0); got != tt.want {
			t.Errorf("effort %q, cap %d: %d, want %d", tt.effort, tt.cap, got, tt.want)
		}
	}
}
