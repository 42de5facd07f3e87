package proxy

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/internal/outbound"
)

// Limits of a proxy.
const (
	mostConnections = 256
	mostHeader      = 64 << 10 // bytes of a request's header
	mostReports     = 32
	handshake       = 10 * time.Second // to send a request's header
	idle            = 5 * time.Minute  // without a byte in either direction
	connecting      = 30 * time.Second // to look up and reach a host
)

// user is the user name that goes with a secret.
const user = "atelier"

// Proxy answers for one command. Use [New].
type Proxy struct {
	// Asks says that a person is asked for refused hosts. Set it before use.
	Asks bool

	dialer network.Dialer
	secret string // if it is not empty, clients must send it as their password

	mu      sync.Mutex
	open    map[net.Conn]struct{} // connections of clients
	refused []network.Refusal
}

// New returns a proxy that reaches what a dialer reaches.
func New(d network.Dialer) *Proxy {
	d.Why = cmp.Or(d.Why, outbound.Command)
	return &Proxy{dialer: d, open: map[net.Conn]struct{}{}}
}

// Refused returns what was refused so far, in clauses that name the host: each
// once, and no more than 32.
func (p *Proxy) Refused() (clauses []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.refused {
		clauses = append(clauses, r.Error())
	}
	return clauses
}

// Wanted returns the hosts among those for which a person is asked, as entries of a
// list of allowed hosts; none without Asks.
func (p *Proxy) Wanted() (hosts []string) {
	if !p.Asks {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.refused {
		if host := r.Wanted(); host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// Environ returns the variables that lead programs to this proxy at addr. If
// other programs can reach it, they do not know the secret in the variables.
// Call it before [Proxy.Serve].
//
// Requests for localhost do not go through the proxy, since they are meant for
// what the command itself has started, unless the rules say that they are meant
// for this computer.
func (p *Proxy) Environ(addr string, shared bool) []string {
	address := url.URL{Scheme: "http", Host: addr}
	if shared {
		p.secret = rand.Text()
		address.User = url.UserPassword(user, p.secret)
	}
	direct := "localhost,127.0.0.1,::1"
	if p.dialer.Rules.Local() {
		direct = ""
	}
	environ := []string{"NODE_USE_ENV_PROXY=1"}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		environ = append(environ, name+"="+address.String(), strings.ToLower(name)+"="+address.String())
	}
	return append(environ, "NO_PROXY="+direct, "no_proxy="+direct)
}

// Serve answers connections until the listener is closed or fails. Then it ends
// them, and returns when they have ended.
func (p *Proxy) Serve(l net.Listener) {
	ctx, cancel := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	for {
		conn, err := l.Accept()
		if err != nil {
			if passes(err) {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			break
		}
		if !p.enter(conn) {
			_ = conn.Close()
			continue
		}
		clients.Go(func() { // ends with the connection, which the end of Serve closes
			defer p.leave(conn)
			p.answer(ctx, conn)
		})
	}
	cancel()
	p.mu.Lock()
	for conn := range p.open {
		_ = conn.Close()
	}
	p.mu.Unlock()
	clients.Wait()
}

// passes reports whether a failure to accept a connection is not that of the
// listener.
func passes(err error) bool {
	return errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

func (p *Proxy) enter(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.open) >= mostConnections {
		return false
	}
	p.open[conn] = struct{}{}
	return true
}

func (p *Proxy) leave(conn net.Conn) {
	_ = conn.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, conn)
}

// answer answers the one request of a connection.
func (p *Proxy) answer(ctx context.Context, conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(handshake))
	c := &client{Conn: conn, in: bufio.NewReaderSize(conn, 4<<10), proxy: p}
	first, err := c.in.Peek(1)
	switch {
	case err != nil:
	case first[0] == socksVersion:
		c.answerSOCKS(ctx)
	default:
		c.answerHTTP(ctx)
	}
}

// client is a connection to the proxy.
type client struct {
	net.Conn
	in    *bufio.Reader // what it sends
	proxy *Proxy
}

// reach connects to a target and reports a refusal. The error is the one of
// parsing the target, if that failed.
func (c *client) reach(ctx context.Context, t network.Target, err error) (net.Conn, error) {
	if err == nil {
		_ = c.SetDeadline(time.Now().Add(connecting + handshake))
		var upstream net.Conn
		ctx, cancel := context.WithTimeout(ctx, connecting)
		defer cancel()
		if upstream, err = c.proxy.dialer.Dial(ctx, t); err == nil {
			return upstream, nil
		}
	}
	var refusal *network.Refusal
	if errors.As(err, &refusal) {
		c.proxy.report(*refusal)
	}
	return nil, err
}

// report remembers a refusal.
func (p *Proxy) report(r network.Refusal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.refused) < mostReports && !slices.Contains(p.refused, r) {
		p.refused = append(p.refused, r)
	}
}

// permits compares what a client sent with the secret.
func (p *Proxy) permits(name, password string) bool {
	same := subtle.ConstantTimeCompare([]byte(password), []byte(p.secret))
	return p.secret == "" || name == user && same == 1
}
