package confinement

import (
	"errors"
	"slices"
	"sync"

	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/network/proxy"
	"atelier.dev/atelier/agent/sandbox/confine"
)

// reach implements [env.Reach].
type reach struct {
	*refusals
	rules *network.Rules
	place func() confine.Place
}

// Reaches reports whether commands reach a host, or may never: a person is then not
// asked for it.
func (r reach) Reaches(host string) bool {
	target, err := network.Parse(host, 443)
	if err == nil {
		err = r.rules.Check(target)
	}
	var refusal *network.Refusal
	return err == nil || errors.As(err, &refusal) && refusal.Wanted() == ""
}

// Kept returns where commands keep what they change at a path in the user's home.
func (r reach) Kept(path string) []string { return r.place().Kept(path) }

// maxRefusals limits how many command lines of a session are remembered.
const maxRefusals = 32

// refusals remembers the proxies of a session's last command lines, for what they
// refused. It is safe for concurrent use.
type refusals struct {
	mu   sync.Mutex
	past []lineProxy // the oldest first
}

type lineProxy struct {
	line  string
	proxy *proxy.Proxy
	once  []string // the hosts that it reached because a person allowed it once
}

func (r *refusals) remember(line string, p *proxy.Proxy, once []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.past = slices.DeleteFunc(r.past, func(l lineProxy) bool { return l.line == line })
	r.past = append(r.past, lineProxy{line, p, once})
	r.past = r.past[max(0, len(r.past)-maxRefusals):]
}

// Refused returns the hosts that were refused to the same command line when it ran
// last, or allowed for that time.
func (r *refusals) Refused(line string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.past {
		if l.line == line {
			return append(l.proxy.Wanted(), l.once...)
		}
	}
	return nil
}
