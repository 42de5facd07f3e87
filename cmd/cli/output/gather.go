package output

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

// Gather writes what comes within a short time at once. A model may send
// thousands of pieces a second, and each write to a pipe wakes its reader.
// Its methods may be called from any goroutine.
type Gather struct {
	mu    sync.Mutex // also orders the writes, so it is held during one
	out   *bufio.Writer
	timer *time.Timer // nil before the first Write
}

func NewGather(out io.Writer) *Gather {
	return &Gather{out: bufio.NewWriterSize(out, gatherSize)}
}

// Write implements [io.Writer]. It returns the error of an earlier write.
func (g *Gather) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.out.Buffered() == 0 {
		g.timer = time.AfterFunc(gatherTime, func() { _ = g.Flush() }) // the next Write returns its error
	}
	return g.out.Write(b)
}

// Flush writes what waits. Nothing runs later until the next Write.
func (g *Gather) Flush() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer != nil {
		g.timer.Stop()
	}
	return g.out.Flush()
}

// Flushed is a writer before which another one is flushed, because their output
// may be seen in one place.
type Flushed struct {
	io.Writer
	Before *Gather
}

func (f Flushed) Write(b []byte) (int, error) {
	_ = f.Before.Flush() // its next Write returns the error
	return f.Writer.Write(b)
}
