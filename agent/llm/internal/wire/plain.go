package wire

import (
	"bytes"
	"io"
)

// plainStream is a stream of which each event has its name, its data and a blank
// line, in this order and nothing else. An event that is named an error ends it with
// that error.
type plainStream struct {
	io.Closer
	call   *Call
	events *Events
	event  bytes.Buffer // what is not read yet of the current one
}

// Read implements [io.Reader].
func (s *plainStream) Read(b []byte) (int, error) {
	if s.event.Len() == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	return s.event.Read(b)
}

func (s *plainStream) next() error {
	switch {
	case !s.events.Next():
		if err := s.events.Err(); err != nil {
			return err
		}
		return io.EOF
	case s.events.Name() == "error":
		return s.call.ReportedBody(s.events.Data())
	case s.events.Name() != "":
		s.event.WriteString("event: " + s.events.Name() + "\n")
	}
	for line := range bytes.SplitSeq(s.events.Data(), []byte("\n")) {
		s.event.WriteString("data: ")
		s.event.Write(line)
		s.event.WriteByte('\n')
	}
	s.event.WriteByte('\n')
	return nil
}
