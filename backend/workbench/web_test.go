package workbench_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/guard"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// OAS-309, K-12, K-17: a page is fetched once a person allowed its host, for the session or
// by a rule; a question about it is answered by the small model, whose cost is in the
// ledger. What this computer serves is reached because a rule names it.
func TestWebFetch(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "There are 12 rows at "+r.URL.Path)
	}))
	t.Cleanup(site.Close)
	fetches := func(path, prompt string) llmtest.Round {
		return llmtest.Round{Calls: []llmtest.Call{llmtest.Use("web_fetch", args{"url": site.URL + path, "prompt": prompt})}}
	}
	server := llmtest.Serve(t, fetches("/a", ""), fetches("/b", "How many?"), llmtest.Round{Text: "Twelve.", Usage: small}, llmtest.Round{Text: "Done."})
	reached, err := rule.Parse("Network(domain:" + strings.TrimPrefix(site.URL, "http://") + ")")
	if err != nil {
		t.Fatal(err)
	}
	reached.Decision, reached.Scope = agent.Allow, agent.ScopeUser
	p := openPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"), func(s *storage.Store) backend.Store { return s },
		func(cfg *workbench.Config) { cfg.RunRules = []rule.Rule{reached} })
	prefer(p, func(prefs *backend.Preferences) { prefs.Levels.Low, prefs.PlainTitles = "openai/gpt-6-luna", true })
	id := p.session("compat")
	p.send(id, "go")

	request := await(p, anyOf[agent.ApprovalRequest])
	if request.Tool != "WebFetch" || request.ReasonCode != agent.ReasonWeb || request.Access.Web != "127.0.0.1" || request.EachTime {
		t.Errorf("asked %+v", request)
	}
	suggested := must[guard.SuggestReply](p, "permissions.suggest", guard.SuggestRequest{Session: id, Approval: request.ID})
	if texts := fmt.Sprint(suggested.Rules); !strings.Contains(texts, "WebFetch(domain:127.0.0.1)") {
		t.Errorf("suggested %s", texts)
	}
	p.answer(backend.Approval{Session: id, Request: request}, agent.Answer{Decision: agent.Allow, Scope: agent.ScopeSession})
	if end := await(p, anyOf[agent.ToolCallEnd]); end.IsError || !strings.Contains(end.Output, "There are 12 rows at /a") {
		t.Errorf("%+v", end)
	}
	side := await(p, anyOf[agent.SideRequest]) // without another question
	if side.Purpose != agent.PurposeFetch || side.Model != "gpt-6-luna" || side.Cost == nil || *side.Cost == 0 {
		t.Errorf("%+v", side)
	}
	if end := await(p, anyOf[agent.ToolCallEnd]); !strings.Contains(end.Output, "What gpt-6-luna answers from the page:\n\nTwelve.") {
		t.Errorf("%+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
	costs := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{Session: id})
	if costs.Total.Cost.Cost != *side.Cost {
		t.Errorf("the ledger has %+v", costs.Total)
	}
}
