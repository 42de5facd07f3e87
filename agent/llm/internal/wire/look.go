package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
)

// maxLook limits what is read of an answer; a tokenizer's tables can be in it.
const maxLook = 16 << 20

// Look asks a server that people run themselves about itself, beside the API, at
// a path below its root. It posts send, unless that is nil, and decodes the
// answer into into. It reports whether the server answered so; many do not know
// the question. It waits as long as ctx permits.
func (e *Endpoint) Look(ctx context.Context, path string, send, into any) bool {
	if e.invalid != nil {
		return false
	}
	method, body := http.MethodGet, []byte(nil)
	if send != nil {
		method = http.MethodPost
		var err error
		if body, err = json.Marshal(send); err != nil {
			return false
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(e.base, "v1/")+path, bytes.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Accept", "application/json")
	if send != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if name, value := e.Authorization(); name != "" {
		req.Header.Set(name, value)
	}
	maps.Copy(req.Header, e.header)
	resp, err := e.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK && json.NewDecoder(io.LimitReader(resp.Body, maxLook)).Decode(into) == nil
}
