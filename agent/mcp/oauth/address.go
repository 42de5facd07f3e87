package oauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/internal/outbound"
)

const (
	maxURL       = 8 << 10 // bytes of an address that somebody tells us
	maxRedirects = 5       // of one request for metadata
	maxAddresses = 8       // of one name that are tried
	dialTime     = 10 * time.Second
)

// place is where on the network something is.
type place int

const (
	placePublic place = iota
	placePrivate
	placeLoopback
	placeReserved // link-local and other addresses that are never a server's
)

func placeOf(addr netip.Addr) place {
	addr = addr.Unmap()
	switch {
	case addr.IsLoopback():
		return placeLoopback
	case network.Public(addr):
		return placePublic
	case addr.IsPrivate() || carrier.Contains(addr):
		return placePrivate
	}
	return placeReserved
}

// carrier is the block that overlay networks give to their computers.
var carrier = netip.MustParsePrefix("100.64.0.0/10")

// addressError says why an address that somebody told us is not used. It never has the
// address's path or query.
type addressError struct{ what, host, why string }

func (e *addressError) Error() string {
	if e.host == "" {
		return fmt.Sprintf("the %s %s", e.what, e.why)
	}
	return fmt.Sprintf("the %s at %s %s", e.what, e.host, e.why)
}

// checkURL parses an address that a server tells us: https, or http on this
// computer, with a plain host, without a user or a fragment.
func checkURL(what, text string) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, &addressError{what: what, why: "is too long"}
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Host == "" {
		return nil, &addressError{what: what, why: "is not a web address"}
	}
	port := map[string]uint16{"https": 443, "http": 80}[u.Scheme]
	if port == 0 {
		return nil, &addressError{what: what, why: "is not a web address"}
	}
	target, err := network.Parse(u.Host, port)
	switch {
	case err != nil:
		return nil, &addressError{what: what, why: "has a host that is not a plain name or address"}
	case u.User != nil:
		return nil, &addressError{what: what, host: target.String(), why: "has a user name in it"}
	case u.Fragment != "" || strings.Contains(text, "#"):
		return nil, &addressError{what: what, host: target.String(), why: "has a fragment"}
	case u.Scheme == "http" && !isLoopback(target.Host()):
		return nil, &addressError{what: what, host: target.String(), why: "is not encrypted (https)"}
	}
	return u, nil
}

// isLoopback reports whether a host is this computer by its spelling alone.
func isLoopback(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

// reach is where requests on behalf of one server may go: to public hosts, to the
// server itself, and to the private network or this computer only if the server
// is there, too. So a server cannot use us to reach what it cannot reach itself.
type reach struct {
	lookup lookup
	server string // its host, in lower case
	at     place
}

type lookup func(ctx context.Context, host string) ([]netip.Addr, error)

func systemLookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// reachOf finds out where a server is. A name is where all of its addresses are.
func reachOf(ctx context.Context, server *url.URL, look lookup) (reach, error) {
	r := reach{lookup: look, server: strings.ToLower(server.Hostname())}
	addrs, err := r.addresses(ctx, r.server)
	if err != nil {
		return r, err
	}
	r.at = placeOf(addrs[0])
	for _, addr := range addrs {
		if placeOf(addr) != r.at {
			r.at = placePublic
		}
	}
	return r, nil
}

func (r reach) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	if isLoopback(host) {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	addrs, err := r.lookup(ctx, host)
	switch {
	case err != nil:
		return nil, fmt.Errorf("look up %s: %w", host, err)
	case len(addrs) == 0:
		return nil, fmt.Errorf("look up %s: no address", host)
	}
	return addrs[:min(len(addrs), maxAddresses)], nil
}

// allows reports whether an address of a host may be reached.
func (r reach) allows(host string, addr netip.Addr) bool {
	switch at := placeOf(addr); at {
	case placePublic:
		return true
	case placePrivate, placeLoopback:
		return at == r.at || strings.EqualFold(host, r.server)
	}
	return strings.EqualFold(host, r.server) && r.at == placeReserved
}

// dial connects to an address that was checked, so that a name cannot lead
// elsewhere between the check and the connection.
func (r reach) dial(ctx context.Context, _, hostport string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	addrs, err := r.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	var failures []error
	for _, addr := range addrs {
		if !r.allows(host, addr) {
			failures = append(failures, errElsewhere(host))
			continue
		}
		conn, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", net.JoinHostPort(addr.Unmap().String(), port))
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

func errElsewhere(host string) error {
	return &addressError{what: "host", host: host, why: "is in a private network or on this computer, where the server is not"}
}

// checkHost refuses what can be refused without a look-up. It is all that is
// checked behind a proxy, which looks names up itself.
func (r reach) checkHost(host string) error {
	addr, err := netip.ParseAddr(host)
	if err != nil && isLoopback(host) {
		addr, err = netip.IPv6Loopback(), nil
	}
	if err == nil && !r.allows(host, addr) {
		return errElsewhere(host)
	}
	return nil
}

// client returns an HTTP client for requests on behalf of the server. It follows
// no redirects, because requests that carry secrets must not.
func (r reach) client() *http.Client {
	direct := &http.Transport{DialContext: r.dial}
	proxied := &http.Transport{Proxy: http.ProxyFromEnvironment}
	for _, t := range []*http.Transport{direct, proxied} {
		t.DisableKeepAlives = true
		t.TLSHandshakeTimeout = dialTime
		t.MaxResponseHeaderBytes = 64 << 10
	}
	return &http.Client{
		Transport:     outbound.Through(outbound.Server, route{reach: r, direct: direct, proxied: proxied}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// route sends a request through the user's proxy if there is one for it.
type route struct {
	reach           reach
	direct, proxied http.RoundTripper
}

func (r route) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := r.reach.checkHost(req.URL.Hostname()); err != nil {
		return nil, err
	}
	if proxy, err := http.ProxyFromEnvironment(req); err == nil && proxy != nil {
		return r.proxied.RoundTrip(req)
	}
	return r.direct.RoundTrip(req)
}
