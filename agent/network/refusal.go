package network

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Reason says why a host may not be reached.
type Reason string

// The reasons.
const (
	// Malformed is a host that is neither a plain name nor an address.
	Malformed Reason = "malformed"
	// Unlisted is a host that no rule allows.
	Unlisted Reason = "unlisted"
	// Closed is any host while no rule allows one.
	Closed Reason = "closed"
	// Exposed is any host while secrets cannot be hidden from who asks.
	Exposed Reason = "exposed"
	// Port is a port that the host's rules do not allow.
	Port Reason = "port"
	// Denied is a host, or the address of a name, that a rule denies.
	Denied Reason = "denied"
	// Local is an allowed name that leads to this machine.
	Local Reason = "local"
	// Private is an allowed name that leads to an address which is not public.
	Private Reason = "private"
	// Unreadable is any host while a rule that denies cannot be read.
	Unreadable Reason = "unreadable"
)

// Refusal is the error for a host that may not be reached.
type Refusal struct {
	// Host is the host, with the port if it is known: printable ASCII of at most
	// a hundred characters, whatever was asked for.
	Host   string
	Reason Reason
}

// Error returns one clause that names the host: "evil.example:443 is not in
// allowedDomains".
func (r *Refusal) Error() string { return fmt.Sprintf(refusals[r.Reason], r.Host) }

// Wanted returns the entry of AllowedDomains that would let the host be reached;
// empty if a person is not to be asked for it, because it is denied, or is this
// computer or one of its network.
func (r *Refusal) Wanted() string {
	t, err := Parse(r.Host, 0)
	switch {
	case err != nil || !slices.Contains([]Reason{Unlisted, Closed, Port}, r.Reason):
		return ""
	case t.name == "" && !Public(t.addr), t.name != "" && !strings.Contains(t.name, "."):
		return ""
	case t.port == 80 || t.port == 443:
		return t.Host()
	}
	return t.String()
}

var refusals = map[Reason]string{
	Malformed:  "%s is not a plain host name or address",
	Unlisted:   "%s is not in allowedDomains",
	Closed:     "%s is not reachable, because commands have no network here",
	Exposed:    "%s is refused, because the project has more files that may hold secrets than can be hidden from commands",
	Port:       "%s has a port that allowedDomains does not list for this host",
	Denied:     "%s is in deniedDomains",
	Local:      "%s leads to this computer, and neither allowLocalBinding nor the address allows that",
	Private:    "%s leads to an address that is not public and not in allowedDomains",
	Unreadable: "%s is refused because an entry of deniedDomains cannot be read",
}

var errHost = errors.New("not a plain host name or address")

func refuse(host string, reason Reason) *Refusal {
	return &Refusal{Host: printable(host), Reason: reason}
}

// printable replaces every byte that could do something to a terminal or a page,
// and leaves out a user and a password.
func printable(host string) string {
	const most = 100
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = "..." + host[at:]
	}
	cut := min(len(host), most)
	var out strings.Builder
	for _, c := range []byte(host[:cut]) {
		if c <= ' ' || c >= 0x7f {
			c = '?'
		}
		out.WriteByte(c)
	}
	return out.String()
}
