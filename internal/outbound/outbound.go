// Package outbound is the way of connections to other machines. It counts which hosts were
// contacted, why and how much (OC-06), and while the process is offline it refuses all but
// this machine. Whatever makes an HTTP client or dials passes through it, which
// internal/rules checks. It is process-wide, because so is the promise.
package outbound

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ContactPurpose is why a host is contacted.
type ContactPurpose string

// The purposes.
const (
	Model   ContactPurpose = "model"   // a provider's API
	Server  ContactPurpose = "mcp"     // a server of the Model Context Protocol, with its sign-in
	Page    ContactPurpose = "fetch"   // a page that a session reads
	Search  ContactPurpose = "search"  // a search of the web
	Hook    ContactPurpose = "hook"    // a hook with an address
	Trace   ContactPurpose = "trace"   // a collector of OpenTelemetry
	Command ContactPurpose = "command" // a confined command
	Browser ContactPurpose = "browser" // a session's browser
)

// Contact is what went to one host for one purpose. The bytes are those of bodies, or of
// connections where no requests are seen.
type Contact struct {
	Host     string         `json:"host"`
	Purpose  ContactPurpose `json:"purpose"`
	Requests int64          `json:"requests"`
	Sent     int64          `json:"sent"`
	Received int64          `json:"received"`
	// Refused counts what was not begun because the process was offline.
	Refused int64 `json:"refused,omitempty"`
	First   int64 `json:"first"` // in milliseconds since 1970
	Last    int64 `json:"last"`
}

// Add adds what another entry of the same host and purpose has.
func (c *Contact) Add(more Contact) {
	c.Requests, c.Sent, c.Received, c.Refused = c.Requests+more.Requests, c.Sent+more.Sent, c.Received+more.Received, c.Refused+more.Refused
	if c.First == 0 || more.First != 0 && more.First < c.First {
		c.First = more.First
	}
	c.Last = max(c.Last, more.Last)
}

// ErrOffline is why nothing was sent.
var ErrOffline = errors.New("offline, as --offline or ATELIER_OFFLINE says: only this machine may be contacted")

var offline atomic.Bool

// GoOffline refuses new connections to other machines from now on, for as long as the process
// lives.
func GoOffline() { offline.Store(true) }

// Offline reports whether GoOffline was called.
func Offline() bool { return offline.Load() }

// most limits the list; what is beyond it is counted under the host "…".
const most = 1000

type key struct {
	host    string
	purpose ContactPurpose
}

var (
	mu       sync.Mutex
	contacts = map[key]*Contact{}
)

// note counts something.
func note(why ContactPurpose, host string, more Contact) {
	mu.Lock()
	defer mu.Unlock()
	k := key{strings.ToLower(host), why}
	c := contacts[k]
	if c == nil && len(contacts) >= most {
		k.host = "…"
		c = contacts[k]
	}
	if c == nil {
		c = &Contact{Host: k.host, Purpose: why}
		contacts[k] = c
	}
	more.First = time.Now().UnixMilli()
	more.Last = more.First
	c.Add(more)
}

// Take returns what was counted since the last Take.
func Take() []Contact {
	mu.Lock()
	defer mu.Unlock()
	out := make([]Contact, 0, len(contacts))
	for _, c := range contacts {
		out = append(out, *c)
	}
	clear(contacts)
	slices.SortFunc(out, func(a, b Contact) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Purpose, b.Purpose)) })
	return out
}

// here reports whether a host is this machine, without asking a resolver.
func here(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	at, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && at.Unmap().IsLoopback()
}

// Check returns [ErrOffline], and counts it, if a host may not be contacted.
func Check(why ContactPurpose, host string) error {
	if !offline.Load() || here(host) {
		return nil
	}
	note(why, host, Contact{Refused: 1})
	return ErrOffline
}

// Through counts the requests that base carries, and refuses what may not leave.
func Through(why ContactPurpose, base http.RoundTripper) http.RoundTripper {
	return &counted{why, base}
}

type counted struct {
	why  ContactPurpose
	base http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (c *counted) RoundTrip(req *http.Request) (*http.Response, error) {
	host := req.URL.Hostname()
	if err := Check(c.why, host); err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	note(c.why, host, Contact{Requests: 1, Sent: max(req.ContentLength, 0)})
	answer, err := c.base.RoundTrip(req)
	if err == nil && answer.Body != nil {
		if w, ok := answer.Body.(io.ReadWriteCloser); ok { // of a connection that was upgraded
			answer.Body = &upgraded{w, c.why, host}
		} else {
			answer.Body = &body{answer.Body, c.why, host}
		}
	}
	return answer, err
}

// CloseIdleConnections lets http.Client close those of the base.
func (c *counted) CloseIdleConnections() {
	if base, ok := c.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

type body struct {
	io.ReadCloser
	why  ContactPurpose
	host string
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	note(b.why, b.host, Contact{Received: int64(n)})
	return n, err
}

type upgraded struct {
	io.ReadWriteCloser
	why  ContactPurpose
	host string
}

func (u *upgraded) Read(p []byte) (int, error) {
	n, err := u.ReadWriteCloser.Read(p)
	note(u.why, u.host, Contact{Received: int64(n)})
	return n, err
}

func (u *upgraded) Write(p []byte) (int, error) {
	n, err := u.ReadWriteCloser.Write(p)
	note(u.why, u.host, Contact{Sent: int64(n)})
	return n, err
}

// Connection counts what goes over a connection to a host on which no requests are seen.
func Connection(why ContactPurpose, host string, conn net.Conn) net.Conn {
	note(why, host, Contact{Requests: 1})
	return &connection{conn, why, host}
}

type connection struct {
	net.Conn
	why  ContactPurpose
	host string
}

func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	note(c.why, c.host, Contact{Received: int64(n)})
	return n, err
}

func (c *connection) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	note(c.why, c.host, Contact{Sent: int64(n)})
	return n, err
}

// CloseWrite ends what is sent, as proxies do.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Dial wraps a function that dials, for connections that carry no HTTP of ours.
func Dial(why ContactPurpose, dial func(ctx context.Context, network, address string) (net.Conn, error)) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		if err := Check(why, host); err != nil {
			return nil, err
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return Connection(why, host, conn), nil
	}
}
