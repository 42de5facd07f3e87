package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"atelier.dev/atelier/internal/outbound"
	"github.com/mark3labs/mcp-go/client/transport"
)

const (
	mostRedirects = 3
	answerTime    = 30 * time.Second // to send the answer to a request of a server
	claudeHeader  = "X-ClaudeAI-Server-ID"
)

// NewTransport returns what carries requests to servers if nothing else does. It
// never reaches the addresses where clouds keep the secrets of their machines.
func NewTransport() http.RoundTripper {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err == nil && at.Addr().Unmap().IsLinkLocalUnicast() {
			return &Fault{Kind: FaultRefused, Detail: "a link-local address: " + at.Addr().String()}
		}
		return err
	}}
	return outbound.Through(outbound.Server, &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second, MaxIdleConnsPerHost: 4, ExpectContinueTimeout: time.Second,
	})
}

// remote is a server that is reached over HTTP: mcp-go's transport with a client of
// ours.
type remote struct {
	transport.HTTPConnection
	client  *http.Client
	limits  *limiter
	headers map[string]string
	version atomic.Value // string
	quit    context.CancelFunc
	life    context.Context
	address func() string // where messages are sent
}

func newRemote(s Server, cfg Config, h host, sse bool) (*remote, error) {
	at, err := url.Parse(s.Remote.URL)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return nil, &Fault{Kind: FaultConfig, Detail: "not an address of HTTP: " + beginning(s.Remote.URL, shownOf), Err: err}
	}
	var base http.RoundTripper
	if cfg.RoundTripper != nil {
		base = cfg.RoundTripper(s)
	}
	if base == nil {
		base = NewTransport()
	}
	r := &remote{headers: map[string]string{}}
	maps.Copy(r.headers, s.Remote.Headers)
	if s.Transport == TransportClaudeAI {
		r.headers[claudeHeader] = s.Remote.ID
	}
	r.version.Store("")
	r.life, r.quit = context.WithCancel(context.Background())
	r.limits = &limiter{base: base, host: h, answer: r.answer, sse: sse}
	r.client = &http.Client{Transport: r.limits, CheckRedirect: checkRedirect}
	if sse {
		err = r.useSSE(s)
	} else {
		err = r.useStreamable(s)
	}
	if err != nil {
		return nil, &Fault{Kind: FaultConfig, Detail: err.Error(), Err: err}
	}
	return r, nil
}

func (r *remote) useSSE(s Server) error {
	t, err := transport.NewSSE(s.Remote.URL, transport.WithHTTPClient(r.client), transport.WithHeaders(r.headers),
		transport.WithSSELogger(slog.New(slog.DiscardHandler)), transport.WithResponseTimeout(mostCall))
	if err != nil {
		return err
	}
	r.HTTPConnection, r.address = t, func() string {
		if at := t.GetEndpoint(); at != nil {
			return at.String()
		}
		return s.Remote.URL
	}
	return nil
}

func (r *remote) useStreamable(s Server) error {
	//lint:ignore SA1019 older servers announce changes there; wire hides from the client that this wants an older protocol
	listening := transport.WithContinuousListening()
	t, err := transport.NewStreamableHTTP(s.Remote.URL, transport.WithHTTPBasicClient(r.client), transport.WithHTTPHeaders(r.headers),
		transport.WithHTTPLogger(slog.New(slog.DiscardHandler)), listening)
	if err != nil {
		return err
	}
	r.HTTPConnection, r.address = t, func() string { return s.Remote.URL }
	return nil
}

// SetProtocolVersion implements [transport.HTTPConnection].
func (r *remote) SetProtocolVersion(version string) {
	r.version.Store(version)
	r.HTTPConnection.SetProtocolVersion(version)
}

// Close ends the session and lets go of everything that is open.
func (r *remote) Close() error {
	err := r.HTTPConnection.Close()
	r.quit()
	r.client.CloseIdleConnections()
	return err
}

// answer sends the answer to a request of the server. It is called on a goroutine
// of the request.
func (r *remote) answer(response *transport.JSONRPCResponse) {
	text, err := json.Marshal(response)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(r.life, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.address(), bytes.NewReader(text))
	if err != nil {
		return
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if id := r.GetSessionId(); id != "" {
		request.Header.Set(transport.HeaderKeySessionID, id)
	}
	if version, _ := r.version.Load().(string); version != "" {
		request.Header.Set(transport.HeaderKeyProtocolVersion, version)
	}
	for name, value := range r.headers {
		request.Header.Set(name, value)
	}
	reply, err := r.client.Do(request)
	if err != nil {
		return // the server asks again, or its call fails
	}
	_ = reply.Body.Close()
}

// checkRedirect follows a redirect to the same host only, because headers of the
// configuration are sent along.
func checkRedirect(request *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	sameHost := strings.EqualFold(request.URL.Hostname(), from.Hostname())
	samePlace := sameHost && request.URL.Scheme == from.Scheme && request.URL.Port() == from.Port()
	safer := sameHost && from.Scheme == "http" && request.URL.Scheme == "https"
	if !samePlace && !safer || len(via) > mostRedirects {
		return &Fault{Kind: FaultRedirect, Detail: beginning(request.URL.Redacted(), shownOf)}
	}
	return nil
}

// fault names what went wrong over HTTP, or returns nil.
func (r *remote) fault(err error) *Fault {
	var network *net.OpError
	var name *net.DNSError
	switch {
	case errors.Is(err, transport.ErrAuthorizationRequired), errors.Is(err, transport.ErrUnauthorized):
		return &Fault{Kind: FaultAuth, Err: ErrNeedsAuth}
	case errors.As(err, &name), errors.As(err, &network):
		return &Fault{Kind: FaultRefused, Detail: shorten(rootOf(err).Error(), shownOf), Err: err}
	case errors.Is(err, transport.ErrLegacySSEServer):
		return &Fault{Kind: FaultHTTP, Detail: fmt.Sprint(r.limits.refused.Load()), Err: err}
	}
	return nil
}

// rootOf returns the innermost error, without the addresses and methods around it.
func rootOf(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// limitedBody is a body of which no more than the limit is read.
func limitedBody(body io.ReadCloser, most int64) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(body, most), body}
}
