package cli_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// OAS-605, OAS-610: a session is forked from the command line, after a number of
// messages or at an event, with another model; the fork is continued by itself.
func TestSessionsFork(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	if _, errs, code := p.run("run", "--model", "openai/m", "first thing"); code != 0 {
		t.Fatal(errs)
	}
	id := p.sessions("list", "--json")[0].ID
	whole := p.sessions("fork", "--json", "--id", "mine", "--model", "openai/other", "--label", "b", id)[0]
	if whole.ID != "mine" || whole.Settings.Model != "other" || whole.Marks.Label != "b" || whole.Origin.Session != id || whole.Messages != 2 {
		t.Errorf("%+v", whole)
	}
	if one := p.sessions("fork", "--json", "--messages", "1", id)[0]; one.Messages != 1 {
		t.Errorf("%+v", one)
	}
	if out, errs, code := p.run("run", "--session", "mine", "and on"); code != 0 || strings.TrimSpace(out) != "Two." {
		t.Errorf("exit %d: %s %s", code, out, errs)
	}
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--at", "999", id}, 1, "does not have this message"},
		{[]string{"--messages", "9", id}, 1, "does not have this message"},
		{[]string{"--id", "mine", id}, 1, "already"},
		{[]string{"--worktree", id}, 1, "worktree could not be made"},
		{[]string{"--at", "1", "--messages", "1", id}, 2, "exclude"},
		{[]string{"--worktree", "--project", id}, 2, "exclude"},
		{[]string{"--model", "m", id}, 2, "PROVIDER/ID"},
		{nil, 2, "name one session"},
	} {
		if _, errs, code := p.run(append([]string{"sessions", "fork"}, tt.args...)...); code != tt.code || !strings.Contains(errs, tt.says) {
			t.Errorf("%v: exit %d: %s", tt.args, code, errs)
		}
	}
}
