package permission

import (
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission/rule"
)

// K-47, K-34: hosts that a confined command does not reach yet are asked for in every
// mode, whatever allows the command; only an answer or a rule about them lifts that.
func TestHostsAreAskedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	npmRule := rule.Rule{Tool: "Bash", Selector: "npm ci", Decision: agent.Allow}
	p, err := New(dir, Rules{Allow: []string{"Bash"}, Set: func() *rule.Set { return rule.New(rule.Place{Project: dir}, []rule.Rule{npmRule}) }})
	if err != nil {
		t.Fatal(err)
	}
	call := func(mode agent.Mode, hosts ...string) agent.GateCall {
		return agent.GateCall{Tool: "Bash", Mode: mode, Access: agent.Access{Command: "npm ci", Confinement: agent.ConfinedFree, Hosts: hosts}}
	}
	for _, mode := range agent.Modes() {
		want := agent.Ask
		if mode == agent.ModeDontAsk {
			want = agent.Deny
		}
		v := p.Decide(t.Context(), call(mode, "registry.npmjs.org", "b.example"))
		if v.Decision != want || v.Code != agent.ReasonHosts || v.Args[0] != "registry.npmjs.org, b.example" || !v.Final || v.EachTime != (mode == agent.ModePlan) {
			t.Errorf("%s: %+v", mode, v)
		}
		if v := p.Decide(t.Context(), call(mode)); v.Decision != agent.Allow && mode != agent.ModePlan {
			t.Errorf("%s without hosts: %+v", mode, v)
		}
	}
	p.Grant(call(agent.ModeAuto, "registry.npmjs.org"))
	if v := p.Decide(t.Context(), call(agent.ModeAuto, "registry.npmjs.org")); v.Decision != agent.Allow {
		t.Errorf("granted: %+v", v)
	}
	if v := p.Decide(t.Context(), call(agent.ModeAuto, "registry.npmjs.org", "evil.example")); v.Decision != agent.Ask {
		t.Errorf("another host: %+v", v)
	}
}
