package llm

import (
	"errors"
	"fmt"
	"time"
)

// Class sorts provider failures by a caller's possible reaction (LLM-42).
type Class string

// The classes of failure.
const (
	ClassAuth            Class = "auth"
	ClassPermission      Class = "permission"
	ClassNotFound        Class = "not_found"
	ClassInvalid         Class = "invalid"
	ClassRateLimit       Class = "rate_limit"
	ClassQuota           Class = "quota"
	ClassOverloaded      Class = "overloaded"
	ClassServer          Class = "server"
	ClassTimeout         Class = "timeout"
	ClassNetwork         Class = "network"
	ClassTruncated       Class = "truncated" // the stream ended without its terminal event
	ClassContentFilter   Class = "content_filter"
	ClassContextOverflow Class = "context_overflow"
	ClassAbort           Class = "abort"
	ClassConfig          Class = "config"
	ClassUnsupported     Class = "unsupported" // nothing was sent, because this provider or model does not support it
	ClassBadObject       Class = "bad_object"  // the answer is not the requested JSON value
	ClassTooLarge        Class = "too_large"   // the answer is larger than any sensible one
)

// ErrNoProvider is the cause of an [Error] of class config if a client does not
// have the provider, or has none.
var ErrNoProvider = errors.New("no such provider")

// Error is the only error type that leaves an adapter. Message can be shown,
// because it never contains a key.
type Error struct {
	Class      Class
	Provider   string
	Status     int // HTTP status, 0 if there was none
	Code       string
	Message    string
	RequestID  string
	RetryAfter time.Duration
	// Retryable says that the same request may succeed later.
	Retryable bool
	// Sent says that part of the answer was delivered before the failure.
	Sent bool
	// Held says that the request was not sent, because a pause that the
	// provider requested is not over; see [Limiter].
	Held bool
	// Usage is what the provider had counted when the answer failed.
	Usage Usage
	Cause error
}

// Error implements the error interface.
func (e *Error) Error() string {
	text := e.Message
	if e.Provider != "" {
		text = e.Provider + ": " + text
	}
	if e.Status != 0 {
		return fmt.Sprintf("%s (%s, HTTP %d)", text, e.Class, e.Status)
	}
	return fmt.Sprintf("%s (%s)", text, e.Class)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
