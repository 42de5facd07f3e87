package openaisdk

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/openai/openai-go/v3/packages/ssestream"
)

// Stream reads an answer event by event, each as the JSON that came. The SDK
// would make of each a value with all fields that any event can have and a
// note about every one of them, which takes ten times as long as to decode
// the few that an adapter reads.
type Stream struct {
	// Done says that the server called the answer complete, with [DONE].
	Done   bool
	events ssestream.Decoder // nil where there is no answer
	err    error
}

// Read returns the stream of a response that one of the SDK's services has
// put aside, or of the error that it ended in.
func Read(resp *http.Response, err error) *Stream {
	return &Stream{events: ssestream.NewDecoder(resp), err: err}
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
	s.Done = bytes.HasPrefix(s.events.Event().Data, []byte("[DONE]"))
	return !s.Done
}

// Data is the current event's; the caller may keep it.
func (s *Stream) Data() json.RawMessage { return s.events.Event().Data }

// Err is why the stream ended, or nil where it just did.
func (s *Stream) Err() error { return s.err }

// Close lets go of the response.
func (s *Stream) Close() {
	if s.events != nil {
		_ = s.events.Close() // nothing is left to be read
	}
}
