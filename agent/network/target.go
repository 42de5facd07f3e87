package network

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Target is a host and a port. It is made by [Parse] or [NewTarget] only, so
// that its host is always in its one plain form.
type Target struct {
	name string     // in lower case; empty for an address
	addr netip.Addr // never an IPv4 address inside an IPv6 one
	port uint16
}

// Host returns the name or the address.
func (t Target) Host() string {
	if t.name != "" {
		return t.name
	}
	return t.addr.String()
}

// String returns the host and the port, with the brackets of an IPv6 address.
func (t Target) String() string {
	return net.JoinHostPort(t.Host(), strconv.Itoa(int(t.port)))
}

// Parse parses a host with a port: "example.com:443" or "[::1]:80". A host
// without a port gets the given one; with 0 it is refused. The error is a
// [*Refusal].
func Parse(text string, port uint16) (Target, error) {
	host, digits, ok := splitPort(text)
	if ok && digits != "" {
		port, ok = parsePort(digits)
	}
	if !ok || port == 0 {
		return Target{}, refuse(text, Malformed)
	}
	target, err := parseHost(host)
	if err != nil {
		return Target{}, refuse(text, Malformed)
	}
	target.port = port
	return target, nil
}

// NewTarget is [Parse] for a host and a port that are already apart. An IPv6
// address has no brackets.
func NewTarget(host string, port uint16) (Target, error) {
	target, err := parseHost(host)
	if err != nil || port == 0 {
		return Target{}, refuse(host, Malformed)
	}
	target.port = port
	return target, nil
}

// splitPort separates the host from what follows its colon, which is empty if
// there is none. Only an IPv6 address may, and must, be in brackets.
func splitPort(text string) (host, port string, ok bool) {
	rest := ""
	if inner, found := strings.CutPrefix(text, "["); found {
		if host, rest, found = strings.Cut(inner, "]"); !found || !strings.Contains(host, ":") {
			return "", "", false
		}
	} else {
		host = text
		if colon := strings.IndexByte(text, ':'); colon >= 0 {
			host, rest = text[:colon], text[colon:]
		}
	}
	if rest == "" {
		return host, "", true
	}
	port, ok = strings.CutPrefix(rest, ":")
	return host, port, ok && port != ""
}

// parsePort accepts the decimal digits of a port, without a sign or leading
// zeros.
func parsePort(digits string) (uint16, bool) {
	n, err := strconv.ParseUint(digits, 10, 16)
	return uint16(n), err == nil && n > 0 && strconv.FormatUint(n, 10) == digits
}

// parseHost parses a name or an address.
func parseHost(host string) (Target, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return Target{}, errHost
		}
		return Target{addr: addr.Unmap()}, nil
	}
	name, ok := plainName(host)
	if !ok {
		return Target{}, errHost
	}
	return Target{name: name}, nil
}

// plainName returns a name in lower case if it consists of letters, digits and
// hyphens only, as host names do: no other byte, no empty label and therefore no
// trailing dot. A name in another script is accepted in its ASCII form ("xn--…")
// only. A name whose last label begins like a number is not accepted, because
// some programs read it as an IPv4 address: "2130706433", "127.1", "0x7f.1".
func plainName(host string) (string, bool) {
	if len(host) > 253 {
		return "", false
	}
	name := []byte(host)
	label := 0 // where the label begins
	for i, c := range name {
		switch {
		case c >= 'A' && c <= 'Z':
			name[i] = c + 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-':
		case c == '.':
			if !plainLabel(name[label:i]) {
				return "", false
			}
			label = i + 1
		default:
			return "", false
		}
	}
	last := name[label:]
	return string(name), plainLabel(last) && (last[0] < '0' || last[0] > '9')
}

func plainLabel(label []byte) bool {
	return len(label) > 0 && len(label) <= 63 && label[0] != '-' && label[len(label)-1] != '-'
}
