package compat

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/url"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

const (
	name = "compat"
	api  = "chat"
)

// Config configures an [Adapter].
type Config = llm.AdapterConfig

// Adapter implements [llm.Adapter].
type Adapter struct {
	name     string
	dialect  Dialect
	endpoint *wire.Endpoint
}

// New returns an adapter for the endpoint at cfg.BaseURL. If the address
// belongs to a preset, the adapter uses its dialect.
func New(cfg Config) *Adapter { return NewAt(name, cfg) }

// NewAt is New under the given provider name.
func NewAt(provider string, cfg Config) *Adapter {
	return newAdapter(wire.Config{Provider: provider, AdapterConfig: cfg}, dialectAt(cfg.BaseURL))
}

// newAdapter returns an adapter. A server on this machine has its API below /v1,
// and its own variable for the address does not say so.
func newAdapter(cfg wire.Config, d Dialect) *Adapter {
	cfg.BaseURL = wire.TrimMethod(cfg.BaseURL)
	if u, err := url.Parse(cfg.BaseURL); err == nil && (cfg.Local || wire.IsLocal(u.Hostname())) {
		cfg.BaseURL = wire.Versioned(cfg.BaseURL)
	}
	return &Adapter{name: cfg.Provider, dialect: d, endpoint: wire.NewEndpoint(cfg)}
}

// Name implements [llm.Adapter].
func (a *Adapter) Name() string { return a.name }

// Models lists the endpoint's models, sorted by id. A server that people run
// themselves is also asked for their windows.
func (a *Adapter) Models(ctx context.Context) ([]llm.ListedModel, error) {
	models, err := a.endpoint.Models(ctx)
	if err == nil && a.endpoint.Nearby() {
		measure(ctx, a.name, a.endpoint, models)
	}
	return models, err
}

// Nearby reports whether a server that people run themselves answers, on this
// machine or in a private network.
func (a *Adapter) Nearby() bool { return a.endpoint.Nearby() }

func (a *Adapter) header() http.Header {
	header := http.Header{"Accept": {"text/event-stream"}}
	if name, value := a.endpoint.Authorization(); name != "" {
		header.Set(name, value)
	}
	return header
}

// read decodes a stream up to its end. It returns the reason of an early end, or nil.
func read(events *wire.Events, d *decoder) *llm.Error {
	var err error
	for err == nil && events.Next() {
		if events.Name() == "error" {
			return d.request.ReportedBody(events.Data())
		}
		if bytes.HasPrefix(events.Data(), []byte("[DONE]")) {
			d.finish()
			return nil
		}
		if err = d.chunk(events.Data()); d.builder.Stopped() {
			return nil
		}
	}
	// The answer is complete once its end was announced. Only the usage may
	// follow, which can be missing.
	if d.finished {
		d.finish()
		return nil
	}
	return d.request.Error(cmp.Or(err, events.Err()))
}

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
		resp, err := call.Post(ctx, "chat/completions", a.header(), a.dialect.lower(req, origin))
		if err != nil {
			b.Fail(call.Error(err))
			return
		}
		defer resp.Body.Close()
		d := newDecoder(b, call)
		d.charges = a.dialect.Gateway
		if err := read(wire.NewEvents(resp.Body), d); err != nil && !b.Stopped() {
			b.Fail(err)
		}
	}
}
