package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
)

const (
	mostRedirects = 3
	answerTime    = 30 * time.Second // to send the answer to a request of a server
	claudeHeader  = "X-ClaudeAI-Server-ID"
)

// NewTransport returns what carries requests to servers if nothing else does. It
// never reaches the addresses where clouds keep the secrets of their machines.
func NewTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err == nil && at.Addr().Unmap().IsLinkLocalUnicast() {
			return &Fault{Kind: FaultRefused, Detail: "a link-local address: " + at.Addr().String()}
		}
		return err
	}}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second, MaxIdleConnsPerHost: 4, ExpectContinueTimeout: time.Second,
	}
}

// httpLink is a server that is reached over HTTP: mcp-go's transport with a
// client of ours.
type httpLink struct {
	transport.Interface
	client  *http.Client
	headers map[string]string
	version atomic.Value // string
	excess  atomic.Bool  // the server sent more than is accepted
	shelf   *shelf
	quit    context.CancelFunc
	life    context.Context
	address func() string // where messages are sent
}

func newHTTPLink(s Server, cfg Config, p peer, sse bool) (*httpLink, error) {
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
	l := &httpLink{headers: map[string]string{}, shelf: newShelf()}
	for name, value := range s.Remote.Headers {
		l.headers[name] = value
	}
	if s.Transport == TransportClaudeAI {
		l.headers[claudeHeader] = s.Remote.ID
	}
	l.version.Store("")
	l.life, l.quit = context.WithCancel(context.Background())
	l.client = &http.Client{
		Transport:     &siftedTripper{base: base, link: l, sift: sift{peer: p, link: l}},
		CheckRedirect: checkRedirect,
	}
	quiet := slog.New(slog.DiscardHandler)
	if sse {
		t, err := transport.NewSSE(s.Remote.URL, transport.WithHTTPClient(l.client), transport.WithHeaders(l.headers), transport.WithSSELogger(quiet),
			transport.WithResponseTimeout(mostCall))
		if err != nil {
			return nil, &Fault{Kind: FaultConfig, Detail: err.Error(), Err: err}
		}
		l.Interface, l.address = t, func() string {
			if at := t.GetEndpoint(); at != nil {
				return at.String()
			}
			return s.Remote.URL
		}
		return l, nil
	}
	//lint:ignore SA1019 older servers announce changes there; tap hides from the client that this wants an older protocol
	listening := transport.WithContinuousListening()
	t, err := transport.NewStreamableHTTP(s.Remote.URL, transport.WithHTTPBasicClient(l.client), transport.WithHTTPHeaders(l.headers),
		transport.WithHTTPLogger(quiet), listening)
	if err != nil {
		return nil, &Fault{Kind: FaultConfig, Detail: err.Error(), Err: err}
	}
	l.Interface, l.address = t, func() string { return s.Remote.URL }
	return l, nil
}

// SetProtocolVersion implements [transport.HTTPConnection].
func (l *httpLink) SetProtocolVersion(version string) {
	l.version.Store(version)
	if t, ok := l.Interface.(transport.HTTPConnection); ok {
		t.SetProtocolVersion(version)
	}
}

// Close ends the session and lets go of everything that is open.
func (l *httpLink) Close() error {
	err := l.Interface.Close()
	l.quit()
	l.client.CloseIdleConnections()
	return err
}

// answer sends the answer to a request of the server. It is called on a goroutine
// of the question.
func (l *httpLink) answer(r reply) {
	text, err := json.Marshal(r)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(l.life, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.address(), bytes.NewReader(text))
	if err != nil {
		return
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if id := l.GetSessionId(); id != "" {
		request.Header.Set(transport.HeaderKeySessionID, id)
	}
	if version, _ := l.version.Load().(string); version != "" {
		request.Header.Set(transport.HeaderKeyProtocolVersion, version)
	}
	for name, value := range l.headers {
		request.Header.Set(name, value)
	}
	response, err := l.client.Do(request)
	if err != nil {
		return // the server asks again, or its call fails
	}
	_ = response.Body.Close()
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

// siftedTripper limits what a server may send, and takes out what is not for
// mcp-go.
type siftedTripper struct {
	base http.RoundTripper
	link *httpLink
	sift sift
}

func (t *siftedTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	sift := t.sift
	if h := heldIn(request.Context()); h != nil {
		h.status.Store(int32(response.StatusCode))
		if request.Method == http.MethodPost {
			sift.only = h.id.Load()
		}
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case response.StatusCode < 200 || response.StatusCode > 299:
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, bigResult), response.Body}
	case kind == "text/event-stream":
		response.Body = newSiftedBody(response.Body, sift, true)
	case kind == "application/json":
		response.Body = newSiftedBody(response.Body, sift, false)
		response.ContentLength = -1
	default:
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, bigResult), response.Body}
	}
	return response, nil
}

// CloseIdleConnections lets http.Client close those of the base.
func (t *siftedTripper) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// fault names what went wrong over HTTP with the request of ctx, if it has one.
func (l *httpLink) fault(ctx context.Context, err error) *Fault {
	var status int32
	if h := heldIn(ctx); h != nil {
		status = h.status.Load()
	}
	var network *net.OpError
	var name *net.DNSError
	switch {
	case l.excess.Swap(false):
		return &Fault{Kind: FaultTooLarge, Detail: bytesText(mostBody), Err: err}
	case errors.Is(err, transport.ErrAuthorizationRequired), errors.Is(err, transport.ErrUnauthorized), status == http.StatusUnauthorized:
		return &Fault{Kind: FaultAuth, Err: ErrNeedsAuth}
	case errors.As(err, &name), errors.As(err, &network):
		return &Fault{Kind: FaultRefused, Detail: shorten(rootOf(err).Error(), shownOf), Err: err}
	case status >= 300:
		return &Fault{Kind: FaultHTTP, Detail: fmt.Sprint(status), Err: err}
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
