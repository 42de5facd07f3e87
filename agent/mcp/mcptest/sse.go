package mcptest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"atelier.dev/atelier/agent/mcp"
)

// SSE returns a server of a behaviour that is reached as in 2024: what it sends
// comes over one stream of events. It ends with the test.
func SSE(t testing.TB, behaviour string) mcp.Server {
	t.Helper()
	s := newServer(behaviour)
	var mu sync.Mutex
	var talking *talk
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sse", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		var writing sync.Mutex
		write := func(text []byte) {
			writing.Lock()
			defer writing.Unlock()
			if r.Context().Err() == nil {
				_, _ = w.Write(text)
				w.(http.Flusher).Flush()
			}
		}
		mu.Lock()
		talking = &talk{server: s, cancel: r.Context().Done(), raw: write, frame: func(text []byte) { write(event(text)) }}
		mu.Unlock()
		write([]byte("event: endpoint\ndata: /message\n\n"))
		<-r.Context().Done()
		writing.Lock() // nothing is written after the handler's end
		defer writing.Unlock()
	})
	mux.HandleFunc("POST /message", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		mu.Lock()
		defer mu.Unlock()
		go talking.receive(body)
	})
	h := httptest.NewServer(mux)
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return mcp.Server{Name: behaviour, Transport: mcp.TransportSSE, Remote: mcp.Remote{URL: h.URL + "/sse"}}
}

// InProcess carries requests to a handler without a network, so that a test can
// have a clock of its own.
type InProcess struct{ http.Handler }

// RoundTrip implements [http.RoundTripper].
func (p InProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	out, in := io.Pipe()
	w := &pipeWriter{header: http.Header{}, body: in, ready: make(chan struct{})}
	go func() {
		p.ServeHTTP(w, r)
		w.WriteHeader(http.StatusOK)
		_ = in.Close()
	}()
	select {
	case <-w.ready:
	case <-r.Context().Done():
		_ = in.CloseWithError(r.Context().Err())
		return nil, r.Context().Err()
	}
	stop := make(chan struct{})
	go func() { // a client that leaves ends the body
		select {
		case <-r.Context().Done():
			_ = in.CloseWithError(r.Context().Err())
		case <-stop:
		}
	}()
	return &http.Response{StatusCode: w.code, Header: w.header, Body: &pipeBody{out, sync.OnceFunc(func() { close(stop) })}, Request: r, ProtoMajor: 1}, nil
}

type pipeBody struct {
	*io.PipeReader
	stop func()
}

func (b *pipeBody) Close() error {
	b.stop()
	return b.PipeReader.Close()
}

type pipeWriter struct {
	header http.Header
	body   *io.PipeWriter
	once   sync.Once
	code   int
	ready  chan struct{}
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(code int) {
	w.once.Do(func() {
		w.code = code
		w.header = w.header.Clone()
		close(w.ready)
	})
}

func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// Flush implements [http.Flusher].
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }
