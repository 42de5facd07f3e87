package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// Events reads a stream of server-sent events according to the standard. It
// also accepts deviations of some servers: a last event without a blank line
// after it, and an error under a field of that name (LLM-53).
type Events struct {
	r     *bufio.Reader
	long  []byte // a line that is longer than the buffer
	crlf  bool   // the last line ended with a CR, which a LF may follow
	begun bool
	// read counts the events so far.
	read int
	name string
	data []byte
	err  error
	done bool
}

// NewEvents returns the events of a body.
func NewEvents(body io.Reader) *Events { return &Events{r: bufio.NewReader(body)} }

// Next reads an event with data and reports whether there was one.
func (e *Events) Next() bool {
	e.name, e.data = "", nil
	for !e.done {
		line, err := e.line()
		if err != nil {
			e.done = true
			if err != io.EOF {
				e.err = err
				return false
			}
			e.field(line)
			// A truncated event is accepted only if its data is complete.
			return e.data != nil && (json.Valid(e.data) || string(e.data) == "[DONE]")
		}
		if len(line) > 0 {
			e.field(line)
			if len(e.data) > maxEvent {
				e.done, e.err = true, tooLarge("an event of the answer", maxEvent)
				return false
			}
			continue
		}
		if len(e.data) == 0 {
			e.name, e.data = "", nil
			continue
		}
		if e.read++; e.read > maxEvents {
			e.done, e.err = true, tooMany("events", maxEvents)
			return false
		}
		return true
	}
	return false
}

// Name returns the current event's name, or an empty string.
func (e *Events) Name() string { return e.name }

// Data returns the current event's data; the caller may keep it.
func (e *Events) Data() json.RawMessage { return e.data }

// Err returns why the stream ended; nil if it ended normally.
func (e *Events) Err() error { return e.err }

func (e *Events) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = string(value)
	case "error": // llama.cpp's
		e.name = "error"
		e.data = append(e.data, value...)
	case "data":
		if e.data == nil {
			e.data = []byte{}
		} else {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
	}
}

var bom = []byte("\uFEFF")

// line returns the next line without its end, which may be CR, LF or both. It
// is valid until the next call. At the end of the stream it returns the rest
// after the last line's end.
func (e *Events) line() ([]byte, error) {
	e.long = e.long[:0]
	if !e.begun {
		e.begun = true
		if start, _ := e.r.Peek(len(bom)); bytes.Equal(start, bom) {
			e.skip(len(bom))
		}
	}
	for {
		if _, err := e.r.Peek(1); err != nil {
			return e.long, err
		}
		piece, err := e.r.Peek(e.r.Buffered())
		if err != nil {
			return nil, err
		}
		if e.crlf && piece[0] == '\n' {
			e.crlf = false
			e.skip(1)
			continue
		}
		e.crlf = false
		end := bytes.IndexByte(piece, '\n')
		if end >= 0 {
			piece = piece[:end]
		}
		if cr := bytes.IndexByte(piece, '\r'); cr >= 0 {
			piece, end, e.crlf = piece[:cr], cr, true
		}
		if end >= 0 && len(e.long) == 0 {
			e.skip(end + 1) // which leaves the piece where it is
			return piece, nil
		}
		e.long = append(e.long, piece...)
		e.skip(len(piece))
		if end >= 0 {
			e.skip(1)
			return e.long, nil
		}
		if len(e.long) > maxEvent {
			return nil, tooLarge("a line of the answer", maxEvent)
		}
	}
}

// skip skips buffered bytes.
func (e *Events) skip(n int) { _, _ = e.r.Discard(n) }
