package proxy

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// relay passes bytes on in both directions until both are over, one fails,
// nothing has come for a while or the context ends. It closes upstream. If send
// is given, it writes what goes upstream; otherwise that is what the client
// sends, up to its end.
func (c *client) relay(ctx context.Context, upstream net.Conn, send func(io.Writer) error) {
	r := &relayed{client: c, upstream: upstream}
	defer r.close()
	defer context.AfterFunc(ctx, r.close)()
	var both sync.WaitGroup
	both.Go(func() { // ends when either connection is closed
		if send == nil {
			r.pass(upstream, c.in)
		} else if send(waking{r}) != nil { // upstream stays open, or some servers would not answer
			r.close()
		}
	})
	r.pass(c.Conn, upstream)
	both.Wait()
}

// relayed is a pair of connections.
type relayed struct {
	client   *client
	upstream net.Conn
}

func (r *relayed) close() {
	_ = r.upstream.Close()
	_ = r.client.Close()
}

// awake puts off the time at which both are closed.
func (r *relayed) awake() {
	until := time.Now().Add(idle)
	_ = r.upstream.SetDeadline(until)
	_ = r.client.SetDeadline(until)
}

// pass copies one direction. Its end is passed on; a failure closes both.
func (r *relayed) pass(to net.Conn, from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		r.awake()
		n, err := from.Read(buffer)
		if n > 0 {
			if _, failed := to.Write(buffer[:n]); failed != nil {
				r.close()
				return
			}
		}
		if err == io.EOF {
			half, ok := to.(interface{ CloseWrite() error })
			if ok && half.CloseWrite() == nil {
				return
			}
		}
		if err != nil {
			r.close()
			return
		}
	}
}

// waking is upstream for a writer that does not go through pass.
type waking struct{ *relayed }

func (w waking) Write(bytes []byte) (int, error) {
	w.awake()
	return w.upstream.Write(bytes)
}

// linger reads what is still on its way from a client that was answered before
// it had sent everything. If that is left unread, the system may drop the answer.
func (c *client) linger() {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if ok && half.CloseWrite() == nil {
		_ = c.SetDeadline(time.Now().Add(time.Second))
		_, _ = io.CopyN(io.Discard, c.Conn, 1<<20)
	}
}
