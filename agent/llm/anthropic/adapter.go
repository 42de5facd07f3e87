package anthropic

import (
	"context"
	"iter"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

const (
	name           = "anthropic"
	api            = "messages"
	version        = "2023-06-01"
	defaultBaseURL = "https://api.anthropic.com/"
)

// Config configures an [Adapter]. A /v1 at the end of BaseURL, as other APIs
// require it, is ignored.
type Config = llm.AdapterConfig

// Adapter implements [llm.Adapter].
type Adapter struct {
	endpoint *wire.Endpoint
	service  sdk.MessageService
}

// New returns an adapter.
func New(cfg Config) *Adapter {
	if cfg.BaseURL == "" {
		cfg.BaseURL = defaultBaseURL
	}
	cfg.BaseURL = wire.TrimVersion(cfg.BaseURL, "/v1")
	e := wire.NewEndpoint(wire.Config{Provider: name, AdapterConfig: cfg})
	// The SDK would read keys, addresses and headers from the environment, and
	// report every request to a tracer of the process.
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(),
		option.WithBaseURL(e.BaseURL()), option.WithHTTPClient(e.Client()), option.WithMaxRetries(0),
	}
	if e.Key() != "" {
		opts = append(opts, option.WithAPIKey(e.Key()))
	}
	return &Adapter{endpoint: e, service: sdk.NewClient(opts...).Messages}
}

// Name implements [llm.Adapter].
func (a *Adapter) Name() string { return name }

// Models lists the models, sorted by id.
func (a *Adapter) Models(ctx context.Context) ([]llm.ListedModel, error) {
	return a.endpoint.ModelsAt(ctx, "v1/models?limit=1000", http.Header{
		"X-Api-Key": {a.endpoint.Key()}, "Anthropic-Version": {version},
	})
}

// Stream implements [llm.Adapter].
func (a *Adapter) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		origin := llm.Origin{Provider: name, API: api, Model: req.Model, BaseURL: a.endpoint.Shown()}
		b := wire.NewBuilder(origin, yield)
		call, ctx, invalid := a.endpoint.Begin(ctx, req)
		if invalid != nil {
			b.Fail(invalid)
			return
		}
		defer call.End()
		b.Follow(call)
		stream := a.service.NewStreaming(ctx, lower(req, origin), option.WithMiddleware(call.Intercept))
		defer stream.Close()
		if err := read(stream, newDecoder(b), call); err != nil {
			b.Fail(err)
		}
	}
}

// read decodes a stream up to its end. It returns the reason of an early end,
// or nil.
func read(stream *ssestream.Stream[sdk.MessageStreamEventUnion], d *decoder, call *wire.Call) *llm.Error {
	begun := false
	for stream.Next() {
		switch ev := stream.Current(); {
		case ev.Type == "error":
			return call.ReportedBody([]byte(ev.RawJSON()))
		case ev.Type == "message_start" && begun:
			return call.Reported("", "another answer began before this one was complete")
		default:
			begun = begun || ev.Type == "message_start"
			d.event(ev)
		}
		if d.done || d.builder.Stopped() {
			return nil
		}
	}
	return call.Error(stream.Err())
}
