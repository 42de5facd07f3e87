package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend/contexts"
)

// COM-94: the command line has the figures of a context that the panel has, for people and as
// JSON.
func TestSessionsShowContext(t *testing.T) {
	t.Parallel()
	p := newPlace(t, priced(llmtest.Use("Glob", map[string]string{"pattern": "*"})), priced())
	if _, errs, code := p.run("run", "--model", "openai/gpt-6.1-sol", "go"); code != 0 {
		t.Fatal(errs)
	}
	list, _, _ := p.run("sessions", "list")
	id, _, _ := strings.Cut(list, " ")
	out, errs, code := p.run("sessions", "show", "--context", "--json", id)
	var report contexts.ContextReport
	if err := json.Unmarshal([]byte(out), &report); code != 0 || err != nil {
		t.Fatalf("exit %d: %s%s (%v)", code, out, errs, err)
	}
	if report.Used != 11_000 || report.Spent.Tokens != 22_000 || report.Spent.Requests != 2 || report.Spent.Cost.Cost.String() != "$0.06" || report.Total != 4 {
		t.Errorf("%+v", report)
	}
	out, errs, code = p.run("sessions", "show", "--context", id)
	for _, want := range []string{"context  11000 of ", "items    4, 0 pinned", "used     22000 tokens in 2 requests, $0.06\n", "results "} {
		if !strings.Contains(out, want) {
			t.Errorf("exit %d: no %q in %s%s", code, want, out, errs)
		}
	}
}
