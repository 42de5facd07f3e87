package wire

import (
	"context"
	"io"
	"net"
	"time"
)

// dial connects to a provider or to a proxy.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	c, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

// conn sends a long body in one system call. net/http copies it into a buffer
// and makes a call for each 32 KB. An encrypted connection does not come here:
// crypto/tls has its own buffers.
type conn struct{ net.Conn }

// ReadFrom implements [io.ReaderFrom], to which net/http gives a body.
func (c conn) ReadFrom(r io.Reader) (int64, error) {
	if limited, ok := r.(*io.LimitedReader); ok {
		if body, ok := limited.R.(*pieces); ok {
			n, err := body.writeTo(c.Conn)
			limited.N -= n
			return n, err
		}
	}
	return io.Copy(c.Conn, r)
}
