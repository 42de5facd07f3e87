package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// ErrNoTerminal is returned where a command was to run on a terminal and the
// system has none to give.
var ErrNoTerminal = errors.New("commands cannot be run on a terminal on this system")

// terminalType is what programs take a terminal for.
const terminalType = "TERM=xterm"

// screen follows what a command on a terminal prints. The nil screen is that
// of a command without one.
type screen struct{ ended chan struct{} }

// follow copies what comes from the terminal until the last process has let go
// of it, which Linux reports as an error, or until its file is closed.
func follow(terminal *os.File, to io.Writer) *screen {
	s := &screen{ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		_, _ = io.Copy(to, terminal)
	}()
	return s
}

// wait reports whether everything was read, or can be within so long.
func (s *screen) wait(ctx context.Context, limit time.Duration) bool {
	if s == nil {
		return true
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.ended:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// join waits for the copying to end, once the terminal's file is closed.
func (s *screen) join() {
	if s != nil {
		<-s.ended
	}
}
