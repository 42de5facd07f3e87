package workbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
)

// ask runs one turn of a new session on a model and returns the answer's end.
func ask(t *testing.T, p *page, provider, model string) (string, agent.TextEnd) {
	t.Helper()
	info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: info.ID, Settings: agent.Settings{Provider: provider, Model: model, Mode: agent.ModeDefault, Effort: llm.EffortMinimal},
	})
	p.send(info.ID, "hello")
	end := await(p, anyOf[agent.TextEnd])
	await(p, anyOf[agent.ProcessingEnd])
	return info.ID, end
}

// LLM-16: input that Anthropic keeps for an hour, only if the user chose that,
// is priced as such, and no other provider is asked for it.
func TestLongCache(t *testing.T) {
	t.Parallel()
	usage := llm.Usage{Input: 10, CacheWrite: 1000, CacheWriteLong: 900, Output: 10, Known: true}
	rounds := []llmtest.Round{{Text: "One."}, {Text: "Two.", Usage: usage}, {Text: "Three."}}
	server := llmtest.Serve(t, rounds...)
	p := newPage(t, t.TempDir(), t.TempDir(), func(name string) string {
		return map[string]string{
			"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.Root, "COMPAT_BASE_URL": server.URL,
		}[name]
	})
	ask(t, p, "anthropic", "claude-opus-4-6")
	preferences := must[backend.Preferences](p, "preferences.get", backend.Empty{})
	preferences.PlainTitles, preferences.LongCache = true, true
	must[backend.Preferences](p, "preferences.change", workbench.PreferencesChange{After: preferences})
	id, end := ask(t, p, "anthropic", "claude-opus-4-6")
	ask(t, p, "compat", "local-model")

	const cost = llm.Cost(10*5_000_000 + 100*6_250_000 + 900*10_000_000 + 10*25_000_000)
	if end.Usage != usage || end.Cost == nil || *end.Cost != cost {
		t.Errorf("%+v cost %v, want %v", end.Usage, end.Cost, cost)
	}
	one := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{Session: id})
	if one.Total.Cost != (llm.Spending{Cost: cost}) || one.Total.Usage.CacheWrite != 1000 {
		t.Errorf("the ledger says %+v", one.Total)
	}
	for i, r := range server.Requests() {
		body := string(r.Body)
		marks, long := strings.Count(body, `"cache_control"`), strings.Count(body, `"ttl":"1h"`)
		if want := i == 1; (long > 0) != want || want && long != marks {
			t.Errorf("request %d: %d marks, %d of them for an hour", i, marks, long)
		}
	}
}

// OAS-114, LOOP-16: requests are priced by the catalogue, local models cost
// nothing, and other costs are unknown. The catalogue also limits the effort.
func TestCosts(t *testing.T) {
	t.Parallel()
	usage := llm.Usage{Input: 1000, CacheRead: 10_000, Output: 100, Reasoning: 50, Known: true}
	server := llmtest.Serve(t, llmtest.Round{Text: "One.", Usage: usage}, llmtest.Round{Text: "Two.", Usage: usage}, llmtest.Round{Text: "Three.", Usage: usage})
	home := t.TempDir()
	own := `{"models": [{"provider": "compat", "id": "gateway", "input": 1, "output": 0}]}` // a row's price overrides the zero of a local model
	if err := os.WriteFile(filepath.Join(home, models.ModelsFile), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPage(t, t.TempDir(), home, environment(server, "sk-test"))
	const cost = 4000 * llm.Dollar / 1_000_000 // 2 + 0.1·10 + 10/10, in thousandths

	id, end := ask(t, p, "openai", "gpt-6.1-sol")
	if end.Cost == nil || *end.Cost != cost {
		t.Errorf("gpt-6.1-sol cost %v", end.Cost)
	}
	if body := string(server.Requests()[0].Body); !strings.Contains(body, `"effort":"low"`) {
		t.Errorf("an effort that the model does not take was sent: %s", body)
	}
	if _, end := ask(t, p, "compat", "local-model"); end.Cost == nil || *end.Cost != 0 {
		t.Errorf("a model on this machine cost %v", end.Cost)
	}
	if _, end := ask(t, p, "compat", "gateway"); end.Cost == nil || *end.Cost != 11_000*llm.Dollar/1_000_000 {
		t.Errorf("a model with a price of its own cost %v", end.Cost)
	}
	if _, end := ask(t, p, "demo", "tour"); end.Cost == nil || *end.Cost != 0 {
		t.Errorf("the script cost %v", end.Cost)
	}
	all := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{})
	if all.Total.Requests != 4 || all.Total.Cost != (llm.Spending{Cost: cost + 11_000*llm.Dollar/1_000_000}) || len(all.Models) != 4 || len(all.Sessions) != 4 {
		t.Errorf("%+v", all)
	}
	one := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{Session: id})
	if one.Total.Requests != 1 || len(one.Models) != 1 || one.Models[0].Model != "gpt-6.1-sol" || one.Models[0].Usage != usage {
		t.Errorf("%+v", one)
	}
	for _, s := range must[backend.SessionPage](p, "sessions.list", backend.Empty{}).Sessions {
		if s.ID == id && s.Cost != (llm.Spending{Cost: cost}) {
			t.Errorf("the session's list shows %+v", s.Cost)
		}
	}
}

// An unknown model can be used; its cost is unknown, not 0.
func TestUnknownCost(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "One.", Usage: llm.Usage{Input: 1, Output: 1, Known: true}})
	remote := strings.Replace(server.URL, "127.0.0.1", "0.0.0.0", 1) // it answers here, but its address is not a loopback one
	p := newPage(t, t.TempDir(), t.TempDir(), func(name string) string {
		if name == "COMPAT_BASE_URL" {
			return remote
		}
		return ""
	})
	if _, end := ask(t, p, "compat", "anything"); end.Cost != nil {
		t.Errorf("the request cost %s", end.Cost)
	}
	if all := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{}); all.Total.Cost != (llm.Spending{Unknown: 1}) {
		t.Errorf("%+v", all.Total)
	}
}
