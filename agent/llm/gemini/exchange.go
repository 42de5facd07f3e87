package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"sync"

	"google.golang.org/genai"

	"atelier.dev/atelier/agent/llm/internal/wire"
)

// models returns the SDK's service for an endpoint. The SDK never gets the key:
// without one it would use the environment's, and some of its errors print the
// whole configuration.
func models(e *wire.Endpoint) *genai.Models {
	client := *e.Client()
	client.Transport = &transport{base: client.Transport, key: e.Key()}
	var models *genai.Models
	quietly(func() {
		sdk, err := genai.NewClient(context.Background(), &genai.ClientConfig{
			Backend: genai.BackendGeminiAPI, APIKey: "held-by-the-transport", HTTPClient: &client,
			HTTPOptions: genai.HTTPOptions{BaseURL: e.BaseURL(), APIVersion: version},
		})
		if err == nil { // which it is with an address, a key and a client
			models = sdk.Models
		}
	})
	return models
}

var logger sync.Mutex

// quietly calls f and keeps the SDK's messages about keys in the environment
// out of the log; those keys are not used.
func quietly(f func()) {
	logger.Lock()
	defer logger.Unlock()
	before := log.Writer()
	defer log.SetOutput(before)
	log.SetOutput(deaf{before})
	f()
}

type deaf struct{ io.Writer }

// Write implements [io.Writer].
func (d deaf) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("GOOGLE_API_KEY")) {
		return len(line), nil
	}
	return d.Writer.Write(line)
}

// transport sends the requests of an SDK's client, each as part of the exchange
// in its context.
type transport struct {
	base http.RoundTripper
	key  string
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	base := t.base
	if base == nil {
		base = http.DefaultTransport
	}
	req = req.Clone(req.Context())
	req.Header.Del(keyHeader)
	if t.key != "" {
		req.Header.Set(keyHeader, t.key)
	}
	resp, err := x.call.Intercept(req, base.RoundTrip)
	if err != nil {
		return nil, err
	}
	x.body, x.events = resp.Body, wire.NewEvents(resp.Body)
	resp.Body = x
	return resp, nil
}

type exchangeKey struct{}

// exchange is one request and its answer. It stands between the server and the
// SDK. It keeps the data of whole events unchanged and passes on an empty chunk
// for each, because the SDK takes comments and truncated lines for errors, and
// decodes and encodes a chunk three times. It belongs to the goroutine that
// iterates over the answer.
type exchange struct {
	call   *wire.Call
	body   io.Closer
	events *wire.Events
	rest   []byte            // of the event that the SDK is reading
	chunks []json.RawMessage // that the SDK has read but not yielded
	// broken is the reason of an early end of the stream. The SDK sees a normal
	// end, because it would write an error to the log.
	broken error
	// refused is an error that the server sent as an event of that name.
	refused json.RawMessage
}

func (x *exchange) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// next returns the chunk that the SDK has just yielded; each event gives one.
func (x *exchange) next() json.RawMessage {
	if len(x.chunks) == 0 {
		return nil
	}
	chunk := x.chunks[0]
	x.chunks = x.chunks[1:]
	return chunk
}

// emptyChunk is what the SDK gets for each chunk.
var emptyChunk = []byte("data:{}\n\n")

// Read implements [io.Reader].
func (x *exchange) Read(p []byte) (int, error) {
	for len(x.rest) == 0 {
		if !x.events.Next() {
			x.broken = x.events.Err()
			return 0, io.EOF
		}
		data := x.events.Data()
		if x.events.Name() == "error" {
			x.refused = data
			return 0, io.EOF
		}
		if len(data) > 0 {
			x.chunks = append(x.chunks, data)
			x.rest = emptyChunk
		}
	}
	n := copy(p, x.rest)
	x.rest = x.rest[n:]
	return n, nil
}

// Close implements [io.Closer].
func (x *exchange) Close() error { return x.body.Close() }
