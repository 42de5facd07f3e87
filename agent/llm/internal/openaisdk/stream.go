package openaisdk

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"atelier.dev/atelier/agent/llm/internal/wire"
)

// Stream reads an answer event by event, each as the JSON that came. The SDK
// would make of each a value with all fields that any event can have and a
// note about every one of them, which takes ten times as long as to decode
// the few that an adapter reads.
type Stream struct {
	// Done says that the server called the answer complete, with [DONE].
	Done   bool
	events *wire.Events // nil where there is no answer
	body   io.Closer
	err    error
}

// Read returns the stream of a response that one of the SDK's services has
// put aside, or of the error that it ended in.
func Read(resp *http.Response, err error) *Stream {
	if resp == nil || resp.Body == nil {
		return &Stream{err: err}
	}
	return &Stream{events: wire.NewEvents(resp.Body), body: resp.Body, err: err}
}

// Next reads an event and says whether there was one.
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

// Failed reports whether the server calls the current event an error.
func (s *Stream) Failed() bool { return s.events.Name() == "error" }

// Data is the current event's; the caller may keep it.
func (s *Stream) Data() json.RawMessage { return s.events.Data() }

// Err is why the stream ended, or nil where it just did.
func (s *Stream) Err() error { return s.err }

// Close lets go of the response.
func (s *Stream) Close() {
	if s.body != nil {
		_ = s.body.Close() // nothing is left to be read
	}
}
