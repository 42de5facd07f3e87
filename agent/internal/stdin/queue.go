// Package stdin writes to the standard input of programs without waiting until they
// read it.
package stdin

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// Capacity is how many pieces wait for a program to read them.
const Capacity = 256

// ErrFull is returned for a piece for which there is no room. It was not written.
var ErrFull = errors.New("the program does not read its input")

// Queue is the standard input of a program. Write and Close are safe for concurrent use.
type Queue struct {
	to     io.WriteCloser
	pieces chan []byte
	busy   atomic.Bool   // a piece is being written
	quit   chan struct{} // closed to end run
	gone   chan struct{} // closed when run has ended
	once   sync.Once     // closes quit
	full   func()
	failed func(error)
}

// New returns a queue that keeps what is written until [Queue.Open]. Full is called for a
// piece for which there is no room, and failed when the program does not read any more.
func New(full func(), failed func(error)) *Queue {
	return &Queue{pieces: make(chan []byte, Capacity), quit: make(chan struct{}), gone: make(chan struct{}), full: full, failed: failed}
}

// Open begins to write to a program, until Close or until it reads no more.
func (q *Queue) Open(to io.WriteCloser) {
	q.to = to
	go q.run()
}

// Busy reports whether the program does not read what is being written.
func (q *Queue) Busy() bool { return q.busy.Load() }

func (q *Queue) run() {
	defer close(q.gone)
	for {
		select {
		case piece := <-q.pieces:
			q.busy.Store(true)
			_, err := q.to.Write(piece)
			q.busy.Store(false)
			if err != nil {
				q.failed(err)
				return
			}
		case <-q.quit:
			return
		}
	}
}

// Write queues one piece. It fails with [ErrFull] if there is no room.
func (q *Queue) Write(piece []byte) (int, error) {
	select {
	case q.pieces <- bytes.Clone(piece):
		return len(piece), nil
	default:
		q.full()
		return 0, ErrFull
	}
}

// Close ends the program's input, which also ends a write that it blocks.
func (q *Queue) Close() error {
	q.once.Do(func() { close(q.quit) })
	if q.to == nil {
		return nil
	}
	err := q.to.Close()
	<-q.gone
	return err
}
