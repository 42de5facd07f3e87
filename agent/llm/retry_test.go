package llm_test

import (
	"errors"
	"testing"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// LLM-45, OAS-724, K-20: the waits of the presets, to the millisecond.
func TestDelay(t *testing.T) {
	t.Parallel()
	busy := &llm.Error{Class: llm.ClassOverloaded, Retryable: true}
	for _, tt := range []struct {
		name   string
		policy llm.RetryPolicy
		n      int
		err    error
		random float64
		want   time.Duration
		again  bool
	}{
		{"first, shortest", llm.DefaultRetries, 1, busy, 0, 1500 * time.Millisecond, true},
		{"first, middle", llm.DefaultRetries, 1, busy, 0.5, 2 * time.Second, true},
		{"second, shortest", llm.DefaultRetries, 2, busy, 0, 3 * time.Second, true},
		{"third, middle", llm.DefaultRetries, 3, busy, 0.5, 8 * time.Second, true},
		{"spent", llm.DefaultRetries, 4, busy, 0.5, 0, false},
		{"capped", llm.PatientRetries, 5, busy, 0.5, 16 * time.Second, true},
		{"capped by max", llm.RetryPolicy{Retries: 9, Base: 2 * time.Second, Max: 30 * time.Second}, 6, busy, 0.5, 30 * time.Second, true},
		{"spec, shortest", llm.SpecRetries, 1, busy, 0, time.Second, true}, // 0.5 s, but the floor holds
		{"asked for more", llm.DefaultRetries, 1, &llm.Error{Retryable: true, RetryAfter: 20 * time.Second}, 0.5, 20 * time.Second, true},
		{"asked for less", llm.DefaultRetries, 2, &llm.Error{Retryable: true, RetryAfter: time.Second}, 0.5, 4 * time.Second, true},
		{"asked for too much", llm.DefaultRetries, 1, &llm.Error{Retryable: true, RetryAfter: time.Hour}, 0.5, 0, false},
		{"not retryable", llm.DefaultRetries, 1, &llm.Error{Class: llm.ClassAuth}, 0.5, 0, false}, // LOOP-157
		{"not a provider's error", llm.DefaultRetries, 1, errors.New("x"), 0.5, 0, false},
		{"none", llm.RetryPolicy{}, 1, busy, 0.5, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, again := tt.policy.Delay(tt.n, tt.err, tt.random); got != tt.want || again != tt.again {
				t.Errorf("got %v, %t; want %v, %t", got, again, tt.want, tt.again)
			}
		})
	}
}
