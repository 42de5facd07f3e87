package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"atelier.dev/atelier/internal/outbound"
)

// attempt is how long one address of a name may take to answer, so that a dead
// one leaves time for the others.
const attempt = 10 * time.Second

// mostAddresses is how many addresses of one name are tried.
const mostAddresses = 8

// Dialer connects to targets that its rules allow. It is safe for concurrent
// use.
type Dialer struct {
	Rules *Rules
	// Why is what the connections are counted as; empty if requests over them are.
	Why outbound.ContactPurpose
	// Lookup returns the addresses of a name. Nil means the system's resolver.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
}

// Dial connects to a target by TCP. The error is a [*Refusal] if the rules do
// not allow it.
func (d Dialer) Dial(ctx context.Context, t Target) (net.Conn, error) {
	if err := d.Rules.Check(t); err != nil {
		return nil, err
	}
	if err := outbound.Check(d.Why, t.Host()); err != nil {
		return nil, err
	}
	addrs, err := d.addresses(ctx, t)
	if err != nil {
		return nil, err
	}
	var failures []error
	for _, addr := range addrs[:min(len(addrs), mostAddresses)] {
		conn, err := dialAddress(ctx, netip.AddrPortFrom(addr, t.port))
		if err == nil && d.Why != "" {
			conn = outbound.Connection(d.Why, t.Host(), conn)
		}
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
	}
	return nil, fmt.Errorf("reach %s: %w", t, errors.Join(failures...))
}

// DialContext is [Dialer.Dial] in the form that an http.Transport takes.
func (d Dialer) DialContext(ctx context.Context, _, hostport string) (net.Conn, error) {
	t, err := Parse(hostport, 0)
	if err != nil {
		return nil, err
	}
	return d.Dial(ctx, t)
}

func dialAddress(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
	dialer := net.Dialer{Timeout: attempt}
	return dialer.DialContext(ctx, "tcp", at.String())
}

// addresses returns the addresses of a target that may be dialled. A name may
// have some that are refused; if it has no other, the first refusal is the error.
func (d Dialer) addresses(ctx context.Context, t Target) ([]netip.Addr, error) {
	if t.name == "" {
		return []netip.Addr{t.addr}, nil // Check has matched the address itself
	}
	found, err := d.lookup(ctx, t.name)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", t.name, err)
	}
	var addrs []netip.Addr
	var refused error
	for _, addr := range found {
		addr = addr.Unmap()
		if err := d.Rules.checkAddress(t, addr); err == nil {
			addrs = append(addrs, addr)
		} else if refused == nil {
			refused = err
		}
	}
	switch {
	case len(addrs) > 0:
		return addrs, nil
	case refused != nil:
		return nil, refused
	}
	return nil, fmt.Errorf("look up %s: no address", t.name)
}

func (d Dialer) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	switch {
	case name == localhost:
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	case d.Lookup != nil:
		return d.Lookup(ctx, name)
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}
