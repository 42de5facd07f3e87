package external

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"
)

const (
	// maxLine limits a message of an agent, in bytes.
	maxLine = 10 << 20
	// orderPatience limits how long a request waits for the updates before it.
	orderPatience = 500 * time.Millisecond
)

// order keeps requests behind the updates that an agent sent before them: the library hands over
// requests at once, and updates one after the other.
type order struct {
	mu          sync.Mutex
	line        []byte // the beginning of a message
	sent, taken int    // updates
	caught      chan struct{}
}

// pass returns what counts the updates in an output and writes it on.
func (o *order) pass(to *io.PipeWriter) func(p []byte) {
	return func(p []byte) {
		o.count(p, to)
		_, _ = to.Write(p) // fails once nobody listens
	}
}

func (o *order) count(p []byte, to *io.PipeWriter) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			if o.line = append(o.line, p...); len(o.line) > maxLine {
				o.line = nil
				_ = to.CloseWithError(errFlood)
			}
			return
		}
		o.line = append(o.line, p[:end]...)
		var message struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(o.line, &message) == nil && message.ID == nil && message.Method == "session/update" {
			o.sent++
		}
		o.line, p = o.line[:0], p[end+1:]
	}
}

// heard says that an update was taken.
func (o *order) heard() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.taken++; o.taken >= o.sent && o.caught != nil {
		close(o.caught)
		o.caught = nil
	}
}

// wait returns when the updates that were sent are taken, or after a while: the library takes no
// update that it cannot read.
func (o *order) wait() {
	o.mu.Lock()
	if o.taken >= o.sent {
		o.mu.Unlock()
		return
	}
	if o.caught == nil {
		o.caught = make(chan struct{})
	}
	caught := o.caught
	o.mu.Unlock()
	timer := time.NewTimer(orderPatience)
	defer timer.Stop()
	select {
	case <-caught:
	case <-timer.C:
		o.mu.Lock()
		o.taken = o.sent
		o.mu.Unlock()
	}
}
