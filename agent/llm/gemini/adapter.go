// Package gemini speaks Google's generateContent API. It only streams, and
// sends thought signatures back (LLM-52).
//
// The vendor's SDK provides the API's addresses and settings. The conversation,
// the tools' schemas and the answer's parts bypass it as JSON, because the SDK
// decodes them into maps and structs, which loses the order of keys, large
// numbers and unknown kinds of parts.
package gemini

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"google.golang.org/genai"

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
	models   *genai.Models
	// Models of two generations get a conversation in two forms.
	earlier, later wire.Encodings
}

// New returns an adapter.
func New(cfg Config) *Adapter {
	if cfg.BaseURL == "" {
		cfg.BaseURL = defaultBaseURL
	}
	cfg.BaseURL = wire.TrimVersion(cfg.BaseURL, "/"+version)
	e := wire.NewEndpoint(wire.Config{Provider: name, AdapterConfig: cfg})
	return &Adapter{endpoint: e, models: models(e)}
}

// Name implements [llm.Adapter].
func (a *Adapter) Name() string { return name }

// Models lists the models that generate content, sorted by id.
func (a *Adapter) Models(ctx context.Context) ([]llm.ListedModel, error) {
	return a.endpoint.ModelsAt(ctx, version+"/models?pageSize=1000", http.Header{keyHeader: {a.endpoint.Key()}})
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
		config, err := a.lower(call, req, origin)
		if err != nil {
			b.Fail(call.Error(err))
			return
		}
		x := &exchange{call: call}
		d := &decoder{builder: b, open: none}
		for _, err := range a.models.GenerateContentStream(x.in(ctx), req.Model, placeholder, config) {
			chunk := x.next()
			if err == nil {
				err = d.chunk(chunk)
			}
			if errors.Is(err, errSent) {
				b.Fail(call.ReportedBody(chunk))
				return
			}
			if err != nil {
				b.Fail(call.Error(err))
				return
			}
			if b.Stopped() {
				return
			}
		}
		if x.refused != nil {
			b.Fail(call.ReportedBody(x.refused))
			return
		}
		// The counts come with the last chunk, so the end of the stream is the
		// end of the answer if that end was announced.
		if d.ended {
			d.finish()
			return
		}
		b.Fail(call.Error(x.broken))
	}
}

// placeholder stands for the conversation, which the SDK requires.
var placeholder = genai.Text("-")
