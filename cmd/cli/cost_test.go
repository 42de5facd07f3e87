package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// priced returns an answer that costs 0.03 dollars on gpt-6.1-sol.
func priced(calls ...llmtest.Call) llmtest.Round {
	return llmtest.Round{Text: "So far.", Calls: calls, Usage: llm.Usage{Input: 10_000, Output: 1000, Known: true}}
}

// OAS-101, OAS-114: the result has the cost of the run, model by model, and
// says how much of it is unknown.
func TestRunReportsCost(t *testing.T) {
	t.Parallel()
	look := llmtest.Use("Glob", map[string]string{"pattern": "*"})
	p := newPlace(t, priced(look), priced())
	out, errs, code := p.run("run", "--model", "openai/gpt-6.1-sol", "--output", "json", "go")
	want := `"total_cost_usd":0.06,"cost_unknown":false,"cost_by_model":[{"model":"openai/gpt-6.1-sol","requests":2,` +
		`"usage":{"input":20000,"cache_read":0,"cache_write":0,"output":2000,"reasoning":0,"known":true},"cost_usd":0.06,"cost_unknown":false}]`
	if code != 0 || !strings.Contains(out, want) {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	p = newPlace(t, llmtest.Round{Text: "Uncounted."})
	out, errs, code = p.run("run", "--model", "openai/gpt-6.1-sol", "--output", "json", "go")
	var result struct {
		Cost    float64 `json:"total_cost_usd"`
		Unknown bool    `json:"cost_unknown"`
	}
	if err := json.Unmarshal([]byte(out), &result); code != 0 || err != nil || result.Cost != 0 || !result.Unknown {
		t.Errorf("exit %d: %s%s (%v)", code, out, errs, err)
	}
}

// OAS-115: a run stops at its budget with an exit code of its own and keeps its
// results. The cost of earlier runs of the session counts.
func TestRunBudget(t *testing.T) {
	t.Parallel()
	look := llmtest.Use("Glob", map[string]string{"pattern": "*"})
	model := []string{"run", "--model", "openai/gpt-6.1-sol"}
	p := newPlace(t, priced(look), priced(look), priced(look))
	out, errs, code := p.run(append(model, "--max-budget-usd", "0.05", "go")...)
	if code != 3 || !strings.Contains(out, "So far.") || !strings.Contains(errs, "Stopped: $0.03 of the budget of $0.05 is spent") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if n := len(p.server.Requests()); n != 1 {
		t.Errorf("%d requests were made", n)
	}
	out, errs, code = p.run("run", "--continue", "--max-budget-usd", "0.05", "--output", "json", "on")
	if code != 3 || !strings.Contains(out, `"status":"budget"`) || len(p.server.Requests()) != 1 {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if _, errs, code = p.run("run", "--continue", "--max-budget-usd", "0.1", "on"); code != 3 || !strings.Contains(errs, "$0.09 of this session's budget of $0.10 is spent") {
		t.Errorf("exit %d: %s", code, errs)
	}
	for _, bad := range []string{"-1", "nan", "1e300", "much"} {
		if _, errs, code := p.run("run", "--max-budget-usd", bad, "go"); code != 2 {
			t.Errorf("%s: exit %d: %s", bad, code, errs)
		}
	}
}
