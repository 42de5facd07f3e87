package wire

import (
	"net/http"
	"testing"
	"time"
)

// The wait that a server asks for is read in every form in which servers write it.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "3", 3 * time.Second},
		{"Retry-After", "3.5", 3500 * time.Millisecond},
		{"Retry-After", "0.25", 250 * time.Millisecond},
		{"Retry-After", " 2 ", 2 * time.Second},
		{"Retry-After", now.Add(time.Minute).Format(http.TimeFormat), time.Minute},
		{"Retry-After", now.Add(-time.Minute).Format(http.TimeFormat), 0},
		{"Retry-After-Ms", "1500", 1500 * time.Millisecond},
		{"Retry-After-Ms", "1500.5", 1500500 * time.Microsecond},
		{"Retry-After", "-3", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "Inf", 0},
		{"Retry-After", "1e99", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After", "", 0},
	} {
		if got := retryAfter(http.Header{tt.name: {tt.value}}, now); got != tt.want {
			t.Errorf("%s: %s: %v, want %v", tt.name, tt.value, got, tt.want)
		}
	}
}
