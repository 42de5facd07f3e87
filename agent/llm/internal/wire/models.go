package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"

	"atelier.dev/atelier/agent/llm"
)

// Models asks the endpoint which models it has, sorted by id.
func (e *Endpoint) Models(ctx context.Context) ([]string, error) {
	call, ctx, invalid := e.Begin(ctx, llm.EffortDefault)
	if invalid != nil {
		return nil, invalid
	}
	defer call.End()
	body, err := call.get(ctx, "models")
	if err != nil {
		return nil, call.Error(err)
	}
	ids, err := modelIDs(body)
	if err != nil {
		return nil, e.failure(llm.ClassConfig, e.Shown()+" sent no list of models: check the base URL")
	}
	return ids, nil
}

func (c *Call) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.ep.base+path, nil)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	if c.ep.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.ep.key)
	}
	resp, err := c.send(req, c.ep.client.Do)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(io.LimitReader(resp.Body, 16<<20))
}

// modelIDs reads the usual {"data": […]} or, as a few send it, the bare list.
func modelIDs(body []byte) ([]string, error) {
	type model struct {
		ID string `json:"id"`
	}
	var list struct {
		Data []model `json:"data"`
	}
	target := any(&list)
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		target = &list.Data
	}
	if err := json.Unmarshal(body, target); err != nil {
		return nil, fmt.Errorf("read models: %w", err)
	}
	ids := make([]string, 0, len(list.Data))
	for _, m := range list.Data {
		if m.ID != "" {
			ids = append(ids, m.ID)
		}
	}
	slices.Sort(ids)
	return ids, nil
}
