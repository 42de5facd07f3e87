package cli

import (
	"bufio"
	"io"
	"sync"
	"time"
)

const (
	// gatherTime is how long a piece of a streaming answer may wait for the next one.
	gatherTime = 10 * time.Millisecond
	// gatherSize is how many bytes of them wait at most.
	gatherSize = 16 << 10
)

// gather writes what comes within a short time at once. A model may send
// thousands of pieces a second, and each write to a pipe wakes its reader.
// Its methods may be called from any goroutine.
type gather struct {
	mu    sync.Mutex // also orders the writes, so it is held during one
	out   *bufio.Writer
	timer *time.Timer // nil before the first Write
}

func newGather(out io.Writer) *gather {
	return &gather{out: bufio.NewWriterSize(out, gatherSize)}
}

// Write implements [io.Writer]. It returns the error of an earlier write.
func (g *gather) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.out.Buffered() == 0 {
		g.timer = time.AfterFunc(gatherTime, func() { _ = g.Flush() }) // the next Write returns its error
	}
	return g.out.Write(b)
}

// Flush writes what waits. Nothing runs later until the next Write.
func (g *gather) Flush() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer != nil {
		g.timer.Stop()
	}
	return g.out.Flush()
}

// flushed is a writer before which another one is flushed, because their output
// may be seen in one place.
type flushed struct {
	io.Writer
	before *gather
}

func (f flushed) Write(b []byte) (int, error) {
	_ = f.before.Flush() // its next Write returns the error
	return f.Writer.Write(b)
}
