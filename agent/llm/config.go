package llm

import (
	"net/http"
	"time"
)

// AdapterConfig is what an adapter is told of its provider. A mistake in it is
// reported by the first request, as an error of class config.
type AdapterConfig struct {
	// APIKey may be empty: then nothing is sent as one.
	APIKey string
	// BaseURL is the vendor's own where it is empty and there is one.
	BaseURL string
	// Header is sent with every request besides the key. Its values are secrets
	// as the key is.
	Header http.Header
	// HTTPClient is the process's shared one where it is nil.
	HTTPClient *http.Client
	// IdleTimeout is how long an answer may stay silent. 0 means two minutes,
	// five at high effort.
	IdleTimeout time.Duration
}
