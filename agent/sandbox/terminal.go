package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// ErrNoTerminal is returned if a command asks for a terminal and the system has
// none.
var ErrNoTerminal = errors.New("commands cannot be run on a terminal on this system")

// terminalType is the terminal that programs are told they run on.
const terminalType = "TERM=xterm"

// Seat is a terminal's size in characters for a person who looks at it.
type Seat struct{ Rows, Columns uint16 }

// Resize tells a command how large its terminal has become. It fails with
// [ErrNoInput] once that is closed.
func (p *Process) Resize(to Seat) error {
	p.keys.mu.Lock()
	defer p.keys.mu.Unlock()
	if p.screen == nil || p.keys.file == nil {
		return ErrNoInput
	}
	return resizeTerminal(p.keys.file, to)
}

// HangUp closes a command's terminal, which programs take for the end. [Process.Stop]
// ends those that do not.
func (p *Process) HangUp() { p.keys.close() }

// screen follows the output of a command on a terminal. A nil screen belongs to
// a command without one.
type screen struct{ ended chan struct{} }

// follow copies output from the terminal until the last process has released
// it, which Linux reports as an error, or until its file is closed.
func follow(terminal *os.File, to io.Writer) *screen {
	s := &screen{ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		_, _ = io.Copy(to, terminal)
	}()
	return s
}

// wait reports whether everything was read, or is read within limit.
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
