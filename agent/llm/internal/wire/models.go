package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// Models asks the endpoint which models it has, sorted by id.
func (e *Endpoint) Models(ctx context.Context) ([]string, error) {
	header := http.Header{}
	if name, value := e.Authorization(); name != "" {
		header.Set(name, value)
	}
	return e.ModelsAt(ctx, "models", header)
}

// ModelsAt is Models for an API with another path and other headers. A header
// that is empty is not sent.
func (e *Endpoint) ModelsAt(ctx context.Context, path string, header http.Header) ([]string, error) {
	call, ctx, invalid := e.Begin(ctx, llm.Request{})
	if invalid != nil {
		return nil, invalid
	}
	defer call.End()
	body, err := call.get(ctx, path, header)
	if err != nil {
		return nil, call.Error(err)
	}
	ids, err := modelIDs(body)
	if err != nil {
		return nil, e.failure(llm.ClassConfig, e.Shown()+" sent no list of models: check the base URL")
	}
	return ids, nil
}

func (c *Call) get(ctx context.Context, path string, header http.Header) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.ep.base+path, nil)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	for name := range header {
		if v := header.Get(name); v != "" {
			req.Header.Set(name, v)
		}
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.send(req, c.ep.client.Do)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	if err == nil && len(body) > maxReply {
		err = tooLarge("the list of models", maxReply)
	}
	return body, err
}

// generates is the method that a model must offer where methods are listed.
const generates = "generateContent"

// modelIDs reads the usual {"data": […]}, Google's {"models": […]} or, as a
// few send it, the bare list.
func modelIDs(body []byte) ([]string, error) {
	type model struct {
		ID      string   `json:"id"`
		Name    string   `json:"name"`
		Methods []string `json:"supportedGenerationMethods"`
	}
	var list struct {
		Data   []model `json:"data"`
		Models []model `json:"models"`
	}
	target := any(&list)
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		target = &list.Data
	}
	if err := json.Unmarshal(body, target); err != nil {
		return nil, fmt.Errorf("read models: %w", err)
	}
	ids := make([]string, 0, len(list.Data)+len(list.Models))
	for _, m := range list.Data {
		if m.ID != "" {
			ids = append(ids, m.ID)
		}
	}
	for _, m := range list.Models {
		if m.Name != "" && (len(m.Methods) == 0 || slices.Contains(m.Methods, generates)) {
			ids = append(ids, strings.TrimPrefix(m.Name, "models/"))
		}
	}
	slices.Sort(ids)
	return ids, nil
}
