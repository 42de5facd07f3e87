package openaisdk

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"atelier.dev/atelier/agent/llm/internal/wire"
)

// Stream reads an answer event by event, each as the original JSON. The SDK
// would decode each into a value with the fields of all events and a note about
// every field, which takes ten times as long as decoding the few fields that an
// adapter reads.
type Stream struct {
	// Done says that the server marked the answer complete with [DONE].
	Done   bool
	events *wire.Events // nil if there is no answer
	body   io.Closer
	err    error
}

// Read returns the stream of a response of one of the SDK's services, or of its
// error.
func Read(resp *http.Response, err error) *Stream {
	if resp == nil || resp.Body == nil {
		return &Stream{err: err}
	}
	return &Stream{events: wire.NewEvents(resp.Body), body: resp.Body, err: err}
}

// Next reads an event and reports whether there was one.
func (s *Stream) Next() bool {
	if s.err != nil || s.Done || s.events == nil {
		return false
	}
	if !s.events.Next() {
		s.err = s.events.Err()
		return false
	}
	s.Done = bytes.HasPrefix(s.events.Data(), []byte("[DONE]"))
	return !s.Done
}

// Failed reports whether the server marks the current event as an error.
func (s *Stream) Failed() bool { return s.events.Name() == "error" }

// Data returns the current event's data; the caller may keep it.
func (s *Stream) Data() json.RawMessage { return s.events.Data() }

// Err returns why the stream ended; nil if it ended normally.
func (s *Stream) Err() error { return s.err }

// Close releases the response.
func (s *Stream) Close() {
	if s.body != nil {
		_ = s.body.Close() // nothing is left to read
	}
}
