package cli

import (
	"fmt"

	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/backend/guard"
	"atelier.dev/atelier/cmd/cli/output"
)

// tellOfRules names the rules of the settings files and of a run that match no call.
func (c *command) tellOfRules(a *app, rules []rule.Rule) error {
	reply, err := ask[guard.RulesReply](c.ctx, a, "permissions.rules", guard.RulesRequest{})
	if err != nil {
		return err
	}
	c.tellUnmatched(append(reply.Rules, entriesOf(rules)...))
	return nil
}

func entriesOf(rules []rule.Rule) (out []guard.RuleEntry) {
	for _, r := range rules {
		out = append(out, guard.RuleEntry{Rule: r.String(), Words: guard.Words(r)})
	}
	return out
}

// tellUnmatched names the rules about agents of a name. Agents are started without
// one, so that nothing is denied by such a rule.
func (c *command) tellUnmatched(rules []guard.RuleEntry) {
	for _, e := range rules {
		if e.Words.Means != rule.MeansAgent {
			continue
		}
		where := ""
		if e.File != "" {
			where = fmt.Sprintf(" in line %d of %s", e.Line, output.OneLine(e.File))
		}
		fmt.Fprintf(c.err, "The rule %s%s matches no call, because agents are started without a name. A rule about all of them is written Agent.\n", line(e.Rule), where)
	}
}
