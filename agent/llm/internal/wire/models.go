package wire

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"atelier.dev/atelier/agent/llm"
)

// Models asks the endpoint for its models, sorted by id.
func (e *Endpoint) Models(ctx context.Context) ([]llm.ListedModel, error) {
	header := http.Header{}
	if name, value := e.Authorization(); name != "" {
		header.Set(name, value)
	}
	return e.ModelsAt(ctx, "models", header)
}

// ModelsAt is Models for an API with another path and other headers. An empty
// header is not sent.
func (e *Endpoint) ModelsAt(ctx context.Context, path string, header http.Header) ([]llm.ListedModel, error) {
	call, ctx, invalid := e.Begin(ctx, llm.Request{})
	if invalid != nil {
		return nil, invalid
	}
	defer call.End()
	body, err := call.get(ctx, path, header)
	if err != nil {
		return nil, call.Error(err)
	}
	models, err := readModels(body)
	if err != nil {
		return nil, e.failure(llm.ClassConfig, e.Shown()+" sent no list of models: check the base URL")
	}
	return models, nil
}

func (c *Call) get(ctx context.Context, path string, header http.Header) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.ep.base+path, nil)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	setHeader(req, header)
	req.Header.Set("Accept", "application/json")
	resp, err := c.send(req, c.ep.client.Do)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(maxReply)+1))
	if err == nil && len(body) > maxReply {
		err = tooLarge("the list of models", maxReply)
	}
	return body, err
}
