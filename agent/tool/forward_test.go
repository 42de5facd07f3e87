package tool

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/env"
)

// serving is a process with a loopback of its own, on which it answers at one port.
type serving struct {
	env.Process
	private bool
	over    chan struct{}
	inner   net.Listener
}

func (s *serving) Start(context.Context, env.Command) (env.Process, error) { return s, nil }

func (s *serving) Exec(context.Context, env.Command) (env.CommandResult, error) {
	return env.CommandResult{}, errors.ErrUnsupported
}

func (s *serving) Wait(ctx context.Context) (env.CommandResult, error) {
	select {
	case <-s.over:
		return env.CommandResult{}, nil
	case <-ctx.Done():
		return env.CommandResult{}, ctx.Err()
	}
}

func (s *serving) Read() string               { return "" }
func (s *serving) Ports() []int               { return []int{4242} }
func (s *serving) Private() bool              { return s.private }
func (s *serving) Dial(int) (net.Conn, error) { return net.Dial("tcp", s.inner.Addr().String()) }

// K-47: what is opened leads to the task's port for as long as the task runs, and its
// connections end with it.
func TestOpenForwards(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	go func() { // ends with the listener
		for {
			conn, err := inner.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(conn, conn); _ = conn.Close() }() // echoes until the other side ends
		}
	}()
	s := &serving{private: true, over: make(chan struct{}), inner: inner}
	ts := NewTasks(nil)
	if _, err := ts.start(t.Context(), s, env.Command{Line: "x"}, true); err != nil {
		t.Fatal(err)
	}
	if _, err := ts.Open("1", 1); !errors.Is(err, ErrNoPort) {
		t.Errorf("another port: %v", err)
	}
	if _, err := ts.Open("2", 4242); err == nil {
		t.Error("a task that does not exist is opened")
	}
	at, err := ts.Open("1", 4242)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("0123456789", 20_000)
	for range 5 {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(conn, text); _ = conn.(*net.TCPConn).CloseWrite() }() // ends with the text
		if back, err := io.ReadAll(conn); err != nil || string(back) != text {
			t.Errorf("%d bytes came back, %v", len(back), err)
		}
		_ = conn.Close()
	}
	idle, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if _, err := io.WriteString(idle, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(idle, make([]byte, 1)); err != nil { // it is connected
		t.Fatal(err)
	}
	close(s.over)
	if _, err := idle.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlives the task")
	}
	if _, err := ts.Open("1", 4242); !errors.Is(err, ErrNoPort) {
		t.Errorf("after the end: %v", err)
	}
	s = &serving{over: make(chan struct{})}
	ts = NewTasks(nil)
	if _, err := ts.start(t.Context(), s, env.Command{Line: "x"}, false); err != nil {
		t.Fatal(err)
	}
	if at, err := ts.Open("1", 4242); at != "localhost:4242" || err != nil {
		t.Errorf("a task that nothing confines: %s, %v", at, err)
	}
}
