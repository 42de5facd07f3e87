package instance

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// crowded is a listener that cannot accept at first, as in a process with too many open files.
type crowded struct {
	net.Listener
	left atomic.Int32
}

func (c *crowded) Accept() (net.Conn, error) {
	if c.left.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return c.Listener.Accept()
}

// An instance that could not accept a request for a while answers the next one.
func TestServeAfterAFailure(t *testing.T) {
	t.Parallel()
	home, folder := t.TempDir(), t.TempDir()
	i, err := Acquire(home, folder)
	if err != nil {
		t.Fatal(err)
	}
	c := &crowded{Listener: i.listener}
	c.left.Store(2)
	i.listener = c
	i.Serve(func(Request) Reply { return Reply{URL: "here"} })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if reply, err := Ask(ctx, home, folder, Request{Do: URL}); err != nil || reply.URL != "here" {
		t.Errorf("%+v, %v", reply, err)
	}
	if err := i.Close(); err != nil {
		t.Error(err)
	}
}
