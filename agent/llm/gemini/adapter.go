// Package gemini speaks Google's generateContent API. It only streams, and
// sends thought signatures back (LLM-52).
//
// It does without the vendor's SDK, which decodes requests and answers into
// maps and structs and so loses the order of keys, large numbers and unknown
// kinds of parts. The SDK also imports Google's cloud authentication with gRPC
// and protobuf. They add 15 MB to a program, because protobuf looks methods up
// by name: the linker then keeps every method of every type, in all packages.
package gemini

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

const (
	name           = "gemini"
	api            = "generateContent"
	version        = "v1beta"
	keyHeader      = "X-Goog-Api-Key"
	defaultBaseURL = "https://generativelanguage.googleapis.com/"
)

// Config configures an [Adapter]. A /v1beta at the end of BaseURL is ignored.
type Config = llm.AdapterConfig

// Adapter implements [llm.Adapter].
type Adapter struct {
	endpoint *wire.Endpoint
}

// New returns an adapter.
func New(cfg Config) *Adapter {
	if cfg.BaseURL == "" {
		cfg.BaseURL = defaultBaseURL
	}
	cfg.BaseURL = wire.TrimVersion(cfg.BaseURL, "/"+version)
	return &Adapter{endpoint: wire.NewEndpoint(wire.Config{Provider: name, AdapterConfig: cfg})}
}

// Name implements [llm.Adapter].
func (a *Adapter) Name() string { return name }

// Models lists the models that generate content, sorted by id.
func (a *Adapter) Models(ctx context.Context) ([]llm.ListedModel, error) {
	return a.endpoint.ModelsAt(ctx, version+"/models?pageSize=1000", a.header())
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
		resp, err := call.Post(ctx, path(req.Model), a.header(), lower(req, origin))
		if err != nil {
			b.Fail(call.Error(err))
			return
		}
		defer resp.Body.Close()
		if err := read(resp.Body, &decoder{builder: b, open: none}, call); err != nil {
			b.Fail(err)
		}
	}
}

// header has the key, if there is one.
func (a *Adapter) header() http.Header { return http.Header{keyHeader: {a.endpoint.Key()}} }

// path returns where a model streams its answers.
func path(model string) string {
	if !strings.HasPrefix(model, "models/") && !strings.HasPrefix(model, "tunedModels/") {
		model = "models/" + model
	}
	u := url.URL{Path: version + "/" + model + ":streamGenerateContent"}
	return u.EscapedPath() + "?alt=sse"
}

// read decodes a stream up to its end. It returns the reason of an early end,
// or nil.
func read(body io.Reader, d *decoder, call *wire.Call) *llm.Error {
	events := wire.NewEvents(body)
	for events.Next() {
		err := errSent
		if events.Name() != "error" {
			err = d.chunk(events.Data())
		}
		switch {
		case errors.Is(err, errSent):
			return call.ReportedBody(events.Data())
		case err != nil:
			return call.Error(err)
		case d.builder.Stopped():
			return nil
		}
	}
	// The counts come with the last chunk, so the end of the stream is the end
	// of the answer if that end was announced.
	if d.ended {
		d.finish()
		return nil
	}
	return call.Error(events.Err())
}
