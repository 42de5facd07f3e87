package openai

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

const (
	name           = "openai"
	api            = "responses"
	openaiHost     = "api.openai.com"
	defaultBaseURL = "https://" + openaiHost + "/v1/"
)

// Config configures an [Adapter].
type Config = llm.AdapterConfig

// Adapter implements [llm.Adapter].
type Adapter struct {
	name     string
	dialect  dialect
	endpoint *wire.Endpoint
	service  responses.ResponseService
	// unsummarised says that the account may not see summaries of reasoning.
	unsummarised atomic.Bool
}

// dialect describes how an endpoint departs from OpenAI's own.
type dialect struct {
	keyHeader  string // has the key instead of Authorization
	apiVersion string // goes into every address as a query
}

// New returns an adapter for OpenAI.
func New(cfg Config) *Adapter {
	if cfg.BaseURL == "" {
		cfg.BaseURL = defaultBaseURL
	}
	cfg.BaseURL = wire.Versioned(cfg.BaseURL)
	return newAdapter(name, cfg, dialect{})
}

// NewAt returns an adapter, under a provider's name, for an address that
// [Serves] the API.
func NewAt(provider string, cfg Config) *Adapter {
	if u, err := url.Parse(strings.TrimSpace(cfg.BaseURL)); err == nil && isAzure(u) {
		return NewAzure(provider, cfg)
	}
	cfg.BaseURL = wire.Versioned(cfg.BaseURL)
	return newAdapter(provider, cfg, dialect{})
}

func newAdapter(provider string, cfg Config, d dialect) *Adapter {
	e := wire.NewEndpoint(wire.Config{Provider: provider, KeyHeader: d.keyHeader, AdapterConfig: cfg})
	// The SDK's NewClient would send the environment's organisation, project and custom
	// headers to any address; a service on its own reads no environment.
	opts := []option.RequestOption{
		option.WithBaseURL(e.BaseURL()), option.WithHTTPClient(e.Client()), option.WithMaxRetries(0),
	}
	if header, value := e.Authorization(); header != "" {
		opts = append(opts, option.WithHeader(header, value))
	}
	if d.apiVersion != "" {
		opts = append(opts, option.WithQuery("api-version", d.apiVersion))
	}
	return &Adapter{name: provider, dialect: d, endpoint: e, service: responses.NewResponseService(opts...)}
}

// Name implements [llm.Adapter].
func (a *Adapter) Name() string { return a.name }

// Models lists the models, sorted by id.
func (a *Adapter) Models(ctx context.Context) ([]llm.ListedModel, error) {
	path, header := "models", http.Header{}
	if a.dialect.apiVersion != "" {
		path += "?" + url.Values{"api-version": {a.dialect.apiVersion}}.Encode()
	}
	if name, value := a.endpoint.Authorization(); name != "" {
		header.Set(name, value)
	}
	return a.endpoint.ModelsAt(ctx, path, header)
}

// noSummary matches the refusal of an account that OpenAI has not verified.
var noSummary = regexp.MustCompile(`(?i)verified to generate reasoning summaries|reasoning\.summary`)

// Stream implements [llm.Adapter].
func (a *Adapter) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		origin := llm.Origin{Provider: a.name, API: api, Model: req.Model, BaseURL: a.endpoint.Shown()}
		b := wire.NewBuilder(origin, yield)
		call, ctx, invalid := a.endpoint.Begin(ctx, req)
		if invalid != nil {
			b.Fail(invalid)
			return
		}
		defer call.End()
		b.Follow(call)
		body := params(req, origin)
		if a.unsummarised.Load() {
			body.Reasoning.Summary = ""
		}
		stream := a.service.NewStreaming(ctx, body, option.WithMiddleware(call.Intercept))
		defer stream.Close()
		d := newDecoder(b, call)
		for stream.Next() {
			if d.event(stream.Current()); d.done || b.Stopped() {
				return
			}
		}
		var reported *ssestream.StreamError // an event with a member "error"
		if errors.As(stream.Err(), &reported) {
			b.Fail(call.ReportedBody(reported.Event.Data))
			return
		}
		failure := call.Error(stream.Err())
		if failure.Class == llm.ClassInvalid && noSummary.MatchString(failure.Message) && !a.unsummarised.Swap(true) {
			failure.Retryable = true // the next request asks for no summary
		}
		b.Fail(failure)
	}
}
