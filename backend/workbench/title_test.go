package workbench_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
)

var small = llm.Usage{Input: 100, Output: 10, Known: true}

// prefer changes the preferences.
func prefer(p *page, change func(*backend.Preferences)) {
	p.t.Helper()
	before := must[backend.Preferences](p, "preferences.get", backend.Empty{})
	after := before
	change(&after)
	must[backend.Preferences](p, "preferences.change", workbench.PreferencesChange{Before: before, After: after})
}

// COM-51, LLM-33: the model for small jobs names a session after its first
// turn; what that costs is in the ledger, apart from the conversation.
func TestTitle(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t,
		llmtest.Round{Text: "I fixed the login.", Usage: small},
		llmtest.Round{Text: "\"Login \n mended\"", Usage: small},
		llmtest.Round{Text: "Sure.", Usage: small},
	)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	prefer(p, func(prefs *backend.Preferences) { prefs.Levels.Low = "openai/gpt-6-luna" })
	id := p.session("compat")
	p.send(id, "Please fix the login, which fails")
	first := await(p, anyOf[agent.Title])
	if !strings.HasPrefix(first.Text, "Please fix") {
		t.Errorf("the first title is %q", first.Text)
	}
	side := await(p, anyOf[agent.SideRequest])
	if side.Purpose != agent.PurposeTitle || side.Provider != "openai" || side.Model != "gpt-6-luna" || side.Cost == nil || *side.Cost == 0 {
		t.Errorf("%+v", side)
	}
	if got := await(p, anyOf[agent.Title]); got.Text != "Login" || got.ByUser {
		t.Errorf("called %+v", got)
	}
	asked := server.Requests()[1]
	if body := string(asked.Body); !strings.Contains(body, "which fails") || !strings.Contains(body, "I fixed the login.") {
		t.Errorf("the session was named after %s", body)
	}
	p.send(id, "And now the logout")
	await(p, anyOf[agent.ProcessingEnd])
	if n := len(server.Requests()); n != 3 {
		t.Errorf("%d requests: a session is named once", n)
	}
	costs := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{Session: id})
	if costs.Total.Requests != 3 || len(costs.Models) != 2 || costs.Total.Cost.Cost != *side.Cost {
		t.Errorf("%+v", costs)
	}
}

// settle returns when a session's owner has done everything that follows a
// turn.
func settle(p *page, id string) {
	p.t.Helper()
	set := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Session.Settings
	set.ThinkingTokens++
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: set})
	await(p, func(s agent.SettingsChange) bool { return s.Settings == set })
	p.bench.Sessions().Find(id).AwaitJobs()
}

// A name that a person gave stays. No model is asked if nobody is there, if the
// user does not want it, or without a small model.
func TestNoTitle(t *testing.T) {
	t.Parallel()
	mapped := func(prefs *backend.Preferences) { prefs.Levels.Low = "openai/gpt-6-luna" }
	for name, tt := range map[string]struct {
		prefer func(*backend.Preferences)
		before func(p *page, id string)
	}{
		"an address of one's own has no vendor's models": {},
		"a name of a person's": {mapped, func(p *page, id string) {
			must[backend.SessionInfo](p, "sessions.rename", sessionlist.RenameRequest{Session: id, Title: "Mine"})
		}},
		"not wanted": {func(prefs *backend.Preferences) { mapped(prefs); prefs.PlainTitles = true }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t, llmtest.Round{Text: "Done.", Usage: small})
			p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
			if tt.prefer != nil {
				prefer(p, tt.prefer)
			}
			id := p.session("openai")
			if tt.before != nil {
				tt.before(p, id)
			}
			p.send(id, "go")
			await(p, anyOf[agent.ProcessingEnd])
			settle(p, id)
			for _, r := range server.Requests()[1:] {
				t.Errorf("unexpected request: %s %s", r.Path, r.Body)
			}
		})
	}
}

// COM-51: a level's model is the user's choice, else one of the session's
// provider, else the session's own. Another provider is never asked.
func TestLevels(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	vendor := func(name string) string {
		if name == "OPENAI_API_KEY" {
			return "sk-test"
		}
		return ""
	}
	elsewhere := environment(server, "sk-test")
	told := func(name string) string {
		if name == "COMATE_AGENT_SDK_LLM_LOW" {
			return "openai/gpt-5.4-mini"
		}
		return vendor(name)
	}
	for name, tt := range map[string]struct {
		getenv     func(string) string
		prefer     backend.Levels
		set        agent.Settings
		level      catalogue.Level
		want, from string
	}{
		"the provider's small one": {vendor, backend.Levels{}, agent.Settings{Provider: "openai", Model: "gpt-6.1-sol"}, catalogue.LevelLow, "gpt-6-luna", "openai"},
		"its best":                 {vendor, backend.Levels{}, agent.Settings{Provider: "openai", Model: "gpt-6-luna"}, catalogue.LevelHigh, "gpt-6.1-sol", "openai"},
		"an unknown model":         {vendor, backend.Levels{}, agent.Settings{Provider: "openai", Model: "house"}, catalogue.LevelLow, "house", "openai"},
		"an address of one's own":  {elsewhere, backend.Levels{}, agent.Settings{Provider: "openai", Model: "gpt-6.1-sol"}, catalogue.LevelLow, "gpt-6.1-sol", "openai"},
		"the user's":               {vendor, backend.Levels{Low: "openai/gpt-5.5"}, agent.Settings{Provider: "openai", Model: "gpt-6.1-sol"}, catalogue.LevelLow, "gpt-5.5", "openai"},
		"of another level":         {vendor, backend.Levels{Mid: "openai/gpt-5.5"}, agent.Settings{Provider: "openai", Model: "gpt-6.1-sol"}, catalogue.LevelLow, "gpt-6-luna", "openai"},
		"no key for the user's":    {vendor, backend.Levels{Low: "anthropic/claude-haiku-5-5"}, agent.Settings{Provider: "openai", Model: "gpt-6.1-sol"}, catalogue.LevelLow, "gpt-6-luna", "openai"},
		"the environment's":        {told, backend.Levels{Low: "openai/gpt-5.5"}, agent.Settings{Provider: "openai", Model: "gpt-6.1-sol"}, catalogue.LevelLow, "gpt-5.4-mini", "openai"},
		"the script":               {vendor, backend.Levels{}, agent.Settings{Provider: "demo", Model: "tour"}, catalogue.LevelLow, "tour", "demo"},
	} {
		p := newPage(t, t.TempDir(), t.TempDir(), tt.getenv)
		prefer(p, func(prefs *backend.Preferences) { prefs.Levels = tt.prefer })
		if got := p.bench.Providers().AtLevel(t.Context(), tt.set, tt.level); got.Model != tt.want || got.Provider != tt.from {
			t.Errorf("%s: %s/%s", name, got.Provider, got.Model)
		}
	}
}

// A name that a person gives while the first turn runs is not lost.
func TestRenameDuringATurn(t *testing.T) {
	t.Parallel()
	p, id, request := hanging(t, llmtest.Round{Text: "Done.", Usage: small}, llmtest.Round{Text: "A model's name"})
	prefer(p, func(prefs *backend.Preferences) { prefs.Levels.Low = "openai/gpt-6-luna" })
	must[backend.SessionInfo](p, "sessions.rename", sessionlist.RenameRequest{Session: id, Title: "Mine"})
	p.allow(id, request)
	await(p, anyOf[agent.ProcessingEnd])
	settle(p, id)
	settle(p, id) // by now a model's name would be recorded
	if got := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Session.Title; got != "Mine" {
		t.Errorf("called %q", got)
	}
}
