package network

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Settings are the lists of hosts. Nothing is allowed that is not listed: here a
// list that is not set allows as little as an empty one. A denied host stays
// denied, whatever else allows it (K-17, K-33).
//
// An entry is a name ("example.com"), all names below one ("*.example.com", which
// does not include example.com), an address or a block of addresses
// ("10.1.0.0/16", "[fd00::/8]:22"). An allowed entry means ports 80 and 443 unless it ends with a
// port ("example.com:8443") or with ":*" for every port; a denied one means every
// port. "localhost" means this computer.
type Settings struct {
	AllowedDomains []string `json:"allowedDomains"`
	DeniedDomains  []string `json:"deniedDomains"`
	// AllowLocalBinding lets allowed names lead to this computer. Without it,
	// only "localhost" or an address of this computer in AllowedDomains does. It
	// also lets confined commands listen on this computer's own ports where they
	// have no network of their own.
	AllowLocalBinding bool `json:"allowLocalBinding"`
}

// Rules are settings that were read. They do not change and are safe for
// concurrent use. The zero value allows nothing.
type Rules struct {
	allowed, denied []rule
	local           bool
	unreadable      bool // an entry of DeniedDomains
	exposed         bool
}

// Shut returns rules that allow nothing, because secrets cannot be hidden.
func Shut() *Rules { return &Rules{exposed: true} }

// rule is one entry.
type rule struct {
	name  string // without the "*."
	below bool   // every name below it rather than itself
	block netip.Prefix
	port  uint16 // 0 without one
	any   bool   // every port
}

// localhost is the one name that is not looked up.
const localhost = "localhost"

// New reads settings. The error names every entry that cannot be read; the rules
// can be used all the same. An unreadable entry allows nothing, and as long as
// one of DeniedDomains is unreadable, nothing is allowed.
func New(s Settings) (*Rules, error) {
	r := &Rules{local: s.AllowLocalBinding}
	var problems []error
	read := func(list string, entries []string) (rules []rule, ok bool) {
		ok = true
		for _, entry := range entries {
			one, err := parseRule(entry)
			if err != nil {
				problems = append(problems, fmt.Errorf("read %s: %w", list, err))
				ok = false
				continue
			}
			rules = append(rules, one)
		}
		return rules, ok
	}
	r.allowed, _ = read("allowedDomains", s.AllowedDomains)
	denied, ok := read("deniedDomains", s.DeniedDomains)
	r.denied, r.unreadable = denied, !ok
	return r, errors.Join(problems...)
}

func parseRule(entry string) (rule, error) {
	wrong := func(why string) (rule, error) {
		return rule{}, fmt.Errorf("%q is not a host: %s", printable(entry), why)
	}
	if strings.Contains(entry, "://") {
		return wrong("leave out the scheme and the path")
	}
	host, digits, ok := splitPort(entry)
	if strings.Count(entry, ":") > 1 && entry[0] != '[' {
		host, digits, ok = entry, "", true // an IPv6 address needs no brackets without a port
	}
	port, any := uint16(0), digits == "*"
	if ok && digits != "" && !any {
		port, ok = parsePort(digits)
	}
	if !ok {
		return wrong("its port is a number from 1 to 65535 or *")
	}
	if block, err := netip.ParsePrefix(host); err == nil && !block.Addr().Is4In6() {
		return rule{block: block.Masked(), port: port, any: any}, nil
	}
	host, below := strings.CutPrefix(host, "*.")
	target, err := parseHost(host)
	switch {
	case err != nil && slices.ContainsFunc([]byte(host), func(c byte) bool { return c >= 0x80 }):
		return wrong(`write a name in another script in its ASCII form, which begins with "xn--"`)
	case err != nil:
		return wrong("a name has letters, digits, hyphens and dots, and does not end with a dot")
	case below && (target.name == "" || !strings.Contains(target.name, ".")):
		return wrong(`after "*." comes a name with a dot`)
	}
	one := ruleOf(target)
	one.below, one.port, one.any = below, port, any
	return one, nil
}

func ruleOf(t Target) rule {
	if t.name != "" {
		return rule{name: t.name}
	}
	return rule{block: netip.PrefixFrom(t.addr, t.addr.BitLen())}
}

// Any reports whether there is a host that may be reached.
func (r *Rules) Any() bool { return r != nil && len(r.allowed) > 0 && !r.unreadable }

// Local reports whether the rules name this computer, so that a request for
// localhost is meant for it and not for a command's own network.
func (r *Rules) Local() bool {
	return r.Any() && slices.ContainsFunc(r.allowed, func(one rule) bool {
		return one.name == localhost || one.block.IsValid() && one.block.Addr().IsLoopback()
	})
}

// Check returns nil if a target may be reached, as far as that can be told
// before its name is looked up, or else a [*Refusal].
func (r *Rules) Check(t Target) error {
	switch {
	case !r.Any():
		if r != nil && r.unreadable {
			return refuse(t.String(), Unreadable)
		}
		if r != nil && r.exposed {
			return refuse(t.String(), Exposed)
		}
		return refuse(t.String(), Closed)
	case matchAny(r.denied, t, (rule).denies):
		return refuse(t.String(), Denied)
	case matchAny(r.allowed, t, (rule).allows):
		return nil
	case matchAny(r.allowed, t, (rule).covers):
		return refuse(t.String(), Port)
	}
	return refuse(t.String(), Unlisted)
}

// checkAddress returns nil if a name that is allowed may lead to an address.
func (r *Rules) checkAddress(t Target, addr netip.Addr) error {
	at := Target{addr: addr.Unmap(), port: t.port}
	switch {
	case matchAny(r.denied, at, (rule).denies):
		return refuse(t.String(), Denied)
	case matchAny(r.allowed, at, (rule).allows):
		return nil
	case at.addr.IsLoopback():
		if r.local || t.name == localhost {
			return nil
		}
		return refuse(t.String(), Local)
	case !Public(at.addr):
		return refuse(t.String(), Private)
	}
	return nil
}

func matchAny(rules []rule, t Target, match func(rule, Target) bool) bool {
	return slices.ContainsFunc(rules, func(one rule) bool { return match(one, t) })
}

// covers reports whether a rule is about a host, whatever the port.
func (one rule) covers(t Target) bool {
	switch {
	case t.name == "":
		return one.block.IsValid() && one.block.Contains(t.addr)
	case one.below:
		return len(t.name) > len(one.name)+1 && strings.HasSuffix(t.name, "."+one.name)
	}
	return one.name == t.name
}

func (one rule) allows(t Target) bool {
	if one.port == 0 && !one.any {
		return one.covers(t) && (t.port == 80 || t.port == 443)
	}
	return one.covers(t) && (one.any || one.port == t.port)
}

// denies also covers the other names of this computer: a server listens on all of
// them, so whoever denies one means all.
func (one rule) denies(t Target) bool {
	covers := one.covers(t) || t.addr.IsLoopback() && one.name == localhost ||
		slices.Contains(thisComputer, Target{name: t.name, addr: t.addr}) && slices.ContainsFunc(thisComputer, one.covers)
	return covers && (one.port == 0 || one.port == t.port)
}

// thisComputer has what "localhost" stands for.
var thisComputer = []Target{{name: localhost}, {addr: netip.AddrFrom4([4]byte{127, 0, 0, 1})}, {addr: netip.IPv6Loopback()}}
