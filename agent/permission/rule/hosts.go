package rule

import (
	"net/netip"
	"strings"

	"atelier.dev/atelier/agent"
)

// Hosts returns the hosts that confined commands may reach, and those that they may
// not, whatever else allows them: those of rules such as Network(domain:go.dev).
func (s *Set) Hosts() (allowed, denied []string) {
	if s == nil {
		return nil, nil
	}
	now := s.now().UnixMilli()
	for _, r := range s.rules {
		if r.kind() != kindReached || r.Selector == "" || r.Unread != "" || r.Expired(now) {
			continue
		}
		_, host := Describe(r.Rule)
		switch r.Decision {
		case agent.Allow:
			allowed = append(allowed, host)
		case agent.Deny:
			denied = append(denied, host)
			if _, err := netip.ParseAddr(host); err != nil && strings.Contains(host, ".") && !strings.ContainsAny(host, "*:/") {
				denied = append(denied, "*."+host)
			}
		}
	}
	return allowed, denied
}

// allowsHosts returns a rule if rules allow every host that a command needs.
func (v *view) allowsHosts(rules []compiled) *Rule {
	var by *Rule
	for _, host := range v.call.Access.Hosts {
		found := false
		for _, r := range rules {
			if r.kind() == kindReached && r.Selector != "" && r.hostMatches(host) {
				by, found = &r.Rule, true
				break
			}
		}
		if !found {
			return nil
		}
	}
	return by
}

func hostRules(hosts []string) (texts []string) {
	for _, host := range hosts {
		texts = append(texts, "Network(domain:"+host+")")
	}
	return texts
}
