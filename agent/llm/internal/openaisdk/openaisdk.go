// Package openaisdk holds what the adapters based on openai-go share.
package openaisdk

import (
	"github.com/openai/openai-go/v3/option"

	"atelier.dev/atelier/agent/llm/internal/wire"
)

// Options returns options for one of the SDK's services. They must not be
// passed to its NewClient, which would send the environment's organisation,
// project and custom headers to any address; a service on its own reads no
// environment.
func Options(e *wire.Endpoint) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(e.BaseURL()), option.WithHTTPClient(e.Client()), option.WithMaxRetries(0),
	}
	if header, value := e.Authorization(); header != "" {
		opts = append(opts, option.WithHeader(header, value))
	}
	return opts
}
