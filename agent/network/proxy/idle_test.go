package proxy

import (
	"bufio"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/agent/network"
)

// pipes is a listener of connections in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}
func (p pipes) Close() error { close(p); return nil }
func (pipes) Addr() net.Addr { return &net.UnixAddr{} }

// A client that sends nothing, or only half of a header, is not kept.
func TestSilentClientsAreClosed(t *testing.T) {
	t.Parallel()
	for _, sent := range []string{"", "CONNECT name.example:443 HTTP/1.1\r\n", "\x05", "\x05\x01\x00"} {
		synctest.Test(t, func(t *testing.T) {
			l := make(pipes)
			serveOn(t, l, "", "name.example")
			ours, theirs := net.Pipe()
			l <- theirs
			go func() { _, _ = io.WriteString(ours, sent) }()
			start := time.Now()
			if _, err := io.ReadAll(ours); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took != handshake {
				t.Errorf("%q: closed after %s", sent, took)
			}
		})
	}
}

// A tunnel without a byte in either direction is closed; one direction keeps
// both open.
func TestIdleTunnelsAreClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		near, far := net.Pipe()
		c := &client{Conn: theirs, in: bufio.NewReader(theirs), proxy: New(network.Dialer{})}
		go c.relay(t.Context(), near, nil)
		start := time.Now()
		go func() {
			for range 3 {
				time.Sleep(idle - time.Second)
				_, _ = io.WriteString(far, "x")
			}
		}()
		got, err := io.ReadAll(ours)
		if took, want := time.Since(start), 4*idle-3*time.Second; took != want || string(got) != "xxx" || err != nil {
			t.Errorf("%q, %v after %s instead of %s", got, err, took, want)
		}
		if _, err := io.ReadAll(far); err != nil {
			t.Error(err)
		}
	})
}
