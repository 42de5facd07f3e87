package llm

import (
	"net/http"
	"time"
)

// AdapterConfig configures an adapter. The first request reports a mistake in
// it, as an error of class config.
type AdapterConfig struct {
	// APIKey may be empty; then no key is sent.
	APIKey string
	// BaseURL defaults to the vendor's own address, if there is one.
	BaseURL string
	// Header is sent with every request in addition to the key. Its values are
	// secrets like the key.
	Header http.Header
	// HTTPClient defaults to the process's shared client.
	HTTPClient *http.Client
	// IdleTimeout is how long an answer may stay silent, unless the request says
	// otherwise. 0 means two minutes, or five at high effort, and half an hour
	// for a server on this machine.
	IdleTimeout time.Duration
}
