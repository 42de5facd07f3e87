package rule

import (
	"testing"

	"atelier.dev/atelier/agent"
)

// A rule for Bash holds for the commands that Monitor watches.
func TestRulesForWatchedCommands(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	for text, want := range map[string]agent.Decision{
		"Bash(git push *)": agent.Deny, "Monitor(git push *)": agent.Deny, "Bash": agent.Deny, "Bash(git pull *)": "", "Read": "",
	} {
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Decision = agent.Deny
		call := agent.GateCall{Tool: "Monitor", Input: []byte("{}"), Access: agent.Access{Command: "git push origin main"}, Mode: agent.ModeDefault}
		if got := New(Place{Project: project, Home: project}, []Rule{r}).Judge(call, nil); got.Decision != want {
			t.Errorf("%s: %q, want %q", text, got.Decision, want)
		}
	}
	for text, want := range map[string]bool{"Monitor": true, "Bash": true, "Monitor(git status)": false} {
		if r, err := Parse(text); err != nil || (Rule{Tool: r.Tool, Selector: r.Selector, Decision: agent.Allow}).TooWide() != want {
			t.Errorf("%s: %v, too wide is not %t", text, err, want)
		}
	}
}
