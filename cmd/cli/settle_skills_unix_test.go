//go:build unix

package cli_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// A project's skill that runs something is offered to the model of a run only if the user
// says so, for that run alone.
func TestRunTrustsSkills(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Done."})
	p.put(".claude/skills/deploying/SKILL.md", "---\nname: deploying\ndescription: Deploys it. Use when it is deployed.\n---\n!`date`\n")
	for i, tt := range []struct {
		args []string
		says bool
	}{{nil, true}, {[]string{"--trust-skills"}, false}, {nil, true}} {
		_, errs, code := p.run(append([]string{"run", "--model", "openai/m", "go"}, tt.args...)...)
		if says := strings.Contains(errs, "1 skill of this project is not offered") && strings.Contains(errs, "--trust-skills"); code != 0 || says != tt.says {
			t.Errorf("%v: code %d, %s", tt.args, code, errs)
		}
		requests := p.server.Requests()
		if offered := strings.Contains(string(requests[i].Body), "deploying"); offered == tt.says {
			t.Errorf("%v: offered: %t", tt.args, offered)
		}
	}
}
