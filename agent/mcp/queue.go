package mcp

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// queued is how many messages wait for a program to read them.
const queued = 256

// errNotSent marks a request that the server has certainly not seen.
var errNotSent = errors.New("the request was not sent")

// queue is the standard input of a program for those who do not wait until it reads.
type queue struct {
	to    io.WriteCloser // set before run
	lines chan []byte
	busy  atomic.Bool   // a message is being written
	quit  chan struct{} // closed to end run
	gone  chan struct{} // closed when run has ended
	once  sync.Once     // closes quit
	// full is called for a message for which there is no room, failed when the program
	// does not read any more.
	full   func()
	failed func(error)
}

func newQueue(full func(), failed func(error)) *queue {
	return &queue{lines: make(chan []byte, queued), quit: make(chan struct{}), gone: make(chan struct{}), full: full, failed: failed}
}

// run writes what is queued. It ends with Close, or when the program reads no more.
func (q *queue) run() {
	defer close(q.gone)
	for {
		select {
		case line := <-q.lines:
			q.busy.Store(true)
			_, err := q.to.Write(line)
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

// Write queues one message. It fails with errNotSent if there is no room.
func (q *queue) Write(message []byte) (int, error) {
	select {
	case q.lines <- bytes.Clone(message):
		return len(message), nil
	default:
		q.full()
		return 0, errNotSent
	}
}

// Close ends the program's input, which also ends a write that it blocks.
func (q *queue) Close() error {
	q.once.Do(func() { close(q.quit) })
	if q.to == nil {
		return nil
	}
	err := q.to.Close()
	<-q.gone
	return err
}
