package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"atelier.dev/atelier/agent/mcp"
)

// HTTP returns a server of a behaviour that is reached over Streamable HTTP, at an
// address of loopback until the test ends.
func HTTP(t testing.TB, behaviour string) mcp.Server {
	t.Helper()
	s := httptest.NewServer(Handler(behaviour))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return mcp.Server{Name: behaviour, Transport: mcp.TransportHTTP, Remote: mcp.Remote{URL: s.URL + "/mcp"}}
}

// Handler serves a behaviour over Streamable HTTP.
func Handler(name string) http.Handler {
	s := newServer(name)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.behaviour.serve != nil && s.behaviour.serve(s, w, r) {
			return
		}
		s.serveHTTP(w, r)
	})
}

const sessionID = "session-1"

func (s *server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
	case http.MethodGet:
		s.stream(w, r)
		return
	default:
		w.WriteHeader(http.StatusOK)
		return
	}
	body, err := io.ReadAll(r.Body)
	var first request
	if err != nil || json.Unmarshal(body, &first) != nil {
		http.Error(w, "not a message", http.StatusBadRequest)
		return
	}
	if first.ID == nil || first.Method == "" { // nothing to answer
		t := &talk{server: s, cancel: r.Context().Done(), frame: func([]byte) {}, publish: s.publish}
		t.receive(body)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if first.Method == "initialize" {
		w.Header().Set("Mcp-Session-Id", sessionID)
	}
	var mu sync.Mutex
	write := func(text []byte) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = w.Write(text)
		w.(http.Flusher).Flush()
	}
	t := &talk{server: s, cancel: r.Context().Done(), raw: write, frame: write, publish: s.publish}
	if first.Method == "tools/call" {
		w.Header().Set("Content-Type", "text/event-stream")
		t.frame = func(text []byte) { write(event(text)) }
		t.opened, t.closed = "data: ", "\n\n"
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	t.receive(body)
}

func event(text []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		fmt.Fprintf(&b, "data: %s\n", bytes.TrimSuffix(line, []byte("\n")))
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// publish sends a message to all streams that have room, or to the first one that will be
// opened.
func (s *server) publish(text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.events) == 0 && len(s.early) < mostWaiting {
		s.early = append(s.early, text)
	}
	for events := range s.events {
		select {
		case events <- text:
		default:
		}
	}
}

// mostWaiting limits the messages that wait for a stream.
const mostWaiting = 16

// stream serves what belongs to no request.
func (s *server) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	events := make(chan []byte, mostWaiting)
	s.mu.Lock()
	s.events[events] = struct{}{}
	for _, text := range s.early {
		events <- text
	}
	s.early = nil
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.events, events)
	}()
	for {
		select {
		case text := <-events:
			_, _ = w.Write(event(text))
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}
