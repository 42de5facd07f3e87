package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"

	"atelier.dev/atelier/agent/env"
)

// mostForwarded limits how many connections to a port of a task are open at once.
const mostForwarded = 256

// ErrNoPort is returned for a port on which a task does not listen.
var ErrNoPort = errors.New("the task does not listen on this port")

// forwards are the ports of a task that a person opened. Its zero value has none.
type forwards struct {
	mu     sync.Mutex
	closed bool
	byPort map[int]net.Listener
}

// Open returns the address at which a person reaches a port of a running task, on the
// loopback of this machine. A confined command has a loopback of its own: then what
// connects to the address is passed on to it, until the task ends. The error is
// [ErrNoPort] if the task does not listen there.
func (ts *Tasks) Open(id string, port int) (address string, err error) {
	t, err := ts.find(id)
	if err != nil {
		return "", err
	}
	server, ok := t.process.(env.Server)
	if !ok || !t.running() || !slices.Contains(server.Ports(), port) {
		return "", ErrNoPort
	}
	if !server.Private() {
		return fmt.Sprintf("localhost:%d", port), nil
	}
	f := &t.forwards
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return "", ErrNoPort
	}
	if open := f.byPort[port]; open != nil {
		return open.Addr().String(), nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("open port %d of a task: %w", port, err)
	}
	if f.byPort == nil {
		f.byPort = map[int]net.Listener{}
		go func() { // ends with the task
			_, _ = t.process.Wait(context.Background())
			f.close()
		}()
	}
	f.byPort[port] = listener
	go forward(listener, func() (net.Conn, error) { return server.Dial(port) }) // ends with the listener
	return listener.Addr().String(), nil
}

// close ends what was opened. Nothing is opened any more.
func (f *forwards) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, listener := range f.byPort {
		_ = listener.Close()
	}
}

// forward passes connections on until the listener is closed, and ends them then.
func forward(listener net.Listener, dial func() (net.Conn, error)) {
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	for {
		conn, err := listener.Accept()
		if err != nil {
			break
		}
		mu.Lock()
		if len(open) >= mostForwarded {
			mu.Unlock()
			_ = conn.Close()
			continue
		}
		open[conn] = true
		mu.Unlock()
		go func() { // ends when either side does, and with the listener
			defer func() {
				mu.Lock()
				delete(open, conn)
				mu.Unlock()
				_ = conn.Close()
			}()
			if inner, err := dial(); err == nil {
				join(conn, inner)
			}
		}()
	}
	mu.Lock()
	defer mu.Unlock()
	for conn := range open {
		_ = conn.Close()
	}
}

// join copies between two connections until both directions have ended.
func join(a, b net.Conn) {
	defer b.Close()
	done := make(chan struct{})
	go func() { // ends when b has nothing more, or a is closed
		defer close(done)
		_, _ = io.Copy(a, b)
		shut(a)
	}()
	_, _ = io.Copy(b, a)
	shut(b)
	<-done
}

// shut ends what is written to a connection.
func shut(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = c.Close()
}
