package rule

import (
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
)

// K-47: rules about hosts that confined commands reach decide about calls that need
// them, and name them for the proxy. What they allow is strict, what they deny holds
// for the hosts below as well.
func TestHostsOfRules(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_000_000)
	for _, row := range []struct {
		rule     string
		decision agent.Decision
		expires  int64
		hosts    string
		want     agent.Decision
		named    string
	}{
		{"Network(domain:go.dev)", agent.Allow, 0, "go.dev", agent.Allow, "go.dev"},
		{"Network(domain:go.dev)", agent.Allow, 0, "a.go.dev", "", "go.dev"},
		{"Network(domain:go.dev)", agent.Allow, 0, "go.dev evil.example", "", "go.dev"},
		{"Network(domain:*.go.dev)", agent.Allow, 0, "a.go.dev", agent.Allow, "*.go.dev"},
		{"Network(domain:go.dev:8443)", agent.Allow, 0, "go.dev:8443", agent.Allow, "go.dev:8443"},
		{"Network(domain:go.dev)", agent.Allow, 999_999, "go.dev", "", ""},
		{"Network(domain:go.dev)", agent.Deny, 0, "go.dev", agent.Deny, "-go.dev -*.go.dev"},
		{"Network(domain:go.dev)", agent.Deny, 0, "ok.example a.go.dev", agent.Deny, "-go.dev -*.go.dev"},
		{"Network(domain:10.0.0.1)", agent.Deny, 0, "10.0.0.1", agent.Deny, "-10.0.0.1"},
		{"Network(domain:go.dev)", agent.Ask, 0, "go.dev", agent.Ask, ""},
		{"Network", agent.Allow, 0, "go.dev", "", ""},
		{"WebFetch(domain:go.dev)", agent.Allow, 0, "go.dev", "", ""},
		{"Bash(npm *)", agent.Allow, 0, "go.dev", "", ""},
		{"Bash(npm *)", agent.Deny, 0, "go.dev", agent.Deny, ""},
		{"Bash", agent.Allow, 0, "go.dev", "", ""},
	} {
		r, err := Parse(row.rule)
		if err != nil {
			t.Fatal(err)
		}
		r.Decision, r.Expires = row.decision, row.expires
		s := New(Place{Project: t.TempDir(), Now: func() time.Time { return now }}, []Rule{r})
		call := agent.GateCall{Tool: "Bash", Access: agent.Access{Command: "npm ci", Hosts: strings.Fields(row.hosts)}}
		if got := s.Judge(call, nil); got.Decision != row.want {
			t.Errorf("%s %s, %s: %+v", row.decision, row.rule, row.hosts, got)
		}
		allowed, denied := s.Hosts()
		for _, host := range denied {
			allowed = append(allowed, "-"+host)
		}
		if got := strings.Join(allowed, " "); got != row.named {
			t.Errorf("%s %s: names %q", row.decision, row.rule, got)
		}
	}
}

func TestSuggestHosts(t *testing.T) {
	t.Parallel()
	at := Place{Project: t.TempDir()}
	call := agent.GateCall{Tool: "Bash", Access: agent.Access{Command: "pip install x", Hosts: []string{"pypi.org", "files.pythonhosted.org"}}}
	if got := Suggest(call, at); len(got) != 0 {
		t.Errorf("one rule: %v", got)
	}
	var texts []string
	for _, r := range SuggestParts(call, at) {
		texts = append(texts, r.String())
	}
	if got := strings.Join(texts, " "); got != "Network(domain:files.pythonhosted.org) Network(domain:pypi.org)" {
		t.Error(got)
	}
}
