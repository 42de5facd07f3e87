// Package openaisdk is how the adapters over openai-go use that SDK.
package openaisdk

import (
	"github.com/openai/openai-go/v3/option"

	"atelier.dev/atelier/agent/llm/internal/wire"
)

// Options are for one of the SDK's services, never for its NewClient: that
// would send the environment's organisation, project and custom headers to
// whatever address this is, while a service on its own reads no environment.
func Options(e *wire.Endpoint) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(e.BaseURL()), option.WithHTTPClient(e.Client()), option.WithMaxRetries(0),
	}
	if header, value := e.Authorization(); header != "" {
		opts = append(opts, option.WithHeader(header, value))
	}
	return opts
}
