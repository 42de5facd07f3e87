package llm

import (
	"errors"
	"math"
	"time"
)

// RetryPolicy says whether and when a failed request is sent again. It is the
// only retry policy: adapters and their SDKs never retry (K-20, K-21).
type RetryPolicy struct {
	// Retries is how often a request is sent again; 0 means never.
	Retries int
	// Base is the first wait, which doubles with each further one up to Max.
	Base, Max time.Duration
	// Jitter spreads each wait by up to this share in both directions, so
	// that sessions that failed together do not come back together.
	Jitter float64
	// MaxAfter is the longest wait that a provider may ask for. A longer one is
	// not waited for: the user is told when the provider would answer.
	MaxAfter time.Duration
}

// The presets (K-20).
var (
	DefaultRetries = RetryPolicy{Retries: 3, Base: 2 * time.Second, Max: 30 * time.Second, Jitter: 0.25, MaxAfter: time.Minute}
	PatientRetries = RetryPolicy{Retries: 5, Base: time.Second, Max: time.Minute, Jitter: 0.10, MaxAfter: time.Minute}
	SpecRetries    = RetryPolicy{Retries: 2, Base: time.Second, Max: time.Minute, Jitter: 0.50, MaxAfter: time.Minute}
)

// minWait is the shortest wait, so that a provider that asks for none is not flooded.
const minWait = time.Second

// Delay returns how long to wait after the n-th failure, counted from 1 (0 for
// one that does not count), and whether to retry at all. random is in [0, 1);
// as a parameter it keeps the function pure.
func (p RetryPolicy) Delay(n int, err error, random float64) (time.Duration, bool) {
	var e *Error
	if p.Retries == 0 || n > p.Retries || !errors.As(err, &e) || !e.Retryable || e.RetryAfter > p.MaxAfter {
		return 0, false
	}
	wait := float64(p.Base) * math.Pow(2, float64(n-1))
	wait *= 1 + p.Jitter*(2*random-1)
	d := min(time.Duration(wait), p.Max)
	return max(d, e.RetryAfter, min(minWait, p.Base)), true
}

// Transient reports whether another provider may well answer instead: these are
// the failures that a fallback model is for (OAS-113).
func Transient(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Class {
	case ClassRateLimit, ClassOverloaded, ClassServer, ClassNetwork, ClassTimeout, ClassTruncated:
		return true
	}
	return false
}
