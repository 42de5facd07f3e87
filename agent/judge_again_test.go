package agent_test

import (
	"context"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
)

func byRule(d agent.Decision) agent.Verdict {
	return agent.Verdict{Decision: d, Reason: "A rule says so.", By: agent.ByRule, Rule: &agent.RuleRef{Text: "Note(*)", Decision: d, Scope: agent.ScopeUser}}
}

// OAS-630: a request that waits is judged again when rules may have changed, and after
// the session was reopened. A rule that decides about it answers it. Otherwise it
// keeps waiting, and the person's answer counts for what the person was shown.
func TestRequestIsJudgedAgain(t *testing.T) {
	t.Parallel()
	asks := agent.Verdict{Decision: agent.Ask, Reason: "It writes."}
	withoutRule := agent.Verdict{Decision: agent.Allow, Reason: "The mode allows it."}
	for name, tt := range map[string]struct {
		now     agent.Verdict
		changed bool // what the call would change
		hook    bool // a hook asked, not the gate
		asked   int  // how often the approver is called
		by      agent.Authoriser
		want    agent.Decision
	}{
		"a rule allows it":                     {byRule(agent.Allow), false, false, 1, agent.ByRule, agent.Allow},
		"a rule denies it":                     {byRule(agent.Deny), false, false, 1, agent.ByRule, agent.Deny},
		"a rule asks about it":                 {byRule(agent.Ask), false, false, 2, agent.ByPerson, agent.Deny},
		"a rule allows what was not shown":     {byRule(agent.Allow), true, false, 2, agent.ByPerson, agent.Deny},
		"a rule denies what was not shown":     {byRule(agent.Deny), true, false, 1, agent.ByRule, agent.Deny},
		"a rule allows what a hook asks about": {byRule(agent.Allow), false, true, 2, agent.ByPerson, agent.Deny},
		"a rule denies what a hook asks about": {byRule(agent.Deny), false, true, 1, agent.ByRule, agent.Deny},
		"something else allows it":             {withoutRule, false, false, 2, agent.ByPerson, agent.Deny},
		"nothing changed":                      {asks, false, false, 2, agent.ByPerson, agent.Deny},
	} {
		for _, reopened := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				diff := "+old"
				r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."}),
					sketch{note{name: "Note"}, &diff})
				g := &strict{asks}
				if tt.hook {
					g.verdict = withoutRule
					r.cfg.Hooks = at(agent.HookPreToolUse, agent.HookAdvice{Decision: agent.Ask, Reason: "Look."})
				}
				r.cfg.Gate = g
				change := func() {
					g.verdict = tt.now
					if tt.changed {
						diff = "+new"
					}
				}
				asked, again := 0, agent.Answer{Decision: agent.Ask}
				r.cfg.Approver = approver(func(ctx context.Context, _ agent.ApprovalRequest) (agent.Answer, error) {
					asked++
					switch {
					case asked > 1:
						return agent.Answer{Decision: agent.Deny}, nil
					case reopened:
						r.session.Suspend()
						<-ctx.Done()
					default:
						change()
					}
					return again, ctx.Err()
				})
				events := r.run("go")
				if reopened {
					change()
					events = r.resume()
				}
				ends, answers := find[agent.ToolCallEnd](events), find[agent.ApprovalAnswer](r.log)
				if len(ends) != 1 || len(answers) != 1 || asked != tt.asked {
					t.Fatalf("asked %d times, %+v, %+v", asked, ends, answers)
				}
				a := ends[0].Authority
				if a.By != tt.by || a.Decision != tt.want || (a.Approval == "") != (tt.by == agent.ByRule) || answers[0].Answer.Decision != tt.want {
					t.Errorf("%+v by %+v", answers[0], a)
				}
				if rule := answers[0].Rule; (rule != nil) != (tt.by == agent.ByRule) || rule != nil && *rule != *tt.now.Rule {
					t.Errorf("the log names the rule %+v", rule)
				}
			})
		}
	}
}
