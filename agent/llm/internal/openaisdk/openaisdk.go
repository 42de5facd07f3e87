// Package openaisdk is how the adapters over openai-go use that SDK.
package openaisdk

import (
	"errors"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"atelier.dev/atelier/agent/llm"
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

// StreamError is [wire.Call.Error] for what ended one of the SDK's streams,
// which may be an error object that the server sent inside it.
func StreamError(call *wire.Call, err error) *llm.Error {
	var sent *ssestream.StreamError
	if errors.As(err, &sent) {
		return call.ReportedBody(sent.Event.Data)
	}
	return call.Error(err)
}
