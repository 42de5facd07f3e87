package workbench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/backend/sessionlist"
)

func find(t *testing.T, list models.ModelList, provider, id string) models.ModelInfo {
	t.Helper()
	for _, p := range list.Providers {
		if p.ID == provider {
			if i := slices.IndexFunc(p.Models, func(m models.ModelInfo) bool { return m.ID == id }); i >= 0 {
				return p.Models[i]
			}
		}
	}
	t.Fatalf("%s/%s is not listed: %+v", provider, id, list)
	return models.ModelInfo{}
}

// LLM-15, OAS-722: the picker has a model's price and abilities, its shutdown
// and its replacement. Unknown values are absent.
func TestModelsList(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	list := must[models.ModelList](p, "models.list", backend.Empty{})
	if list.Problem != nil {
		t.Error(list.Problem)
	}
	m := find(t, list, "openai", "gpt-6.1-sol")
	if m.Price == nil || m.Price.Input != 2 || m.Price.Output != 10 || *m.Price.CacheRead != 0.1 || *m.Price.CacheWrite != 2.5 ||
		!slices.Contains(m.Abilities, models.AbilityImages) || m.Shutdown != "" {
		t.Errorf("%+v", m)
	}
	if want := []llm.Effort{"low", "medium", "high", "xhigh", "max"}; !slices.Equal(m.Efforts, want) || !slices.Contains(m.Abilities, models.AbilityReasoning) {
		t.Errorf("the model has the efforts %q and the abilities %q", m.Efforts, m.Abilities)
	}
	if m := find(t, list, "openai", "gpt-4o"); len(m.Efforts) != 0 || slices.Contains(m.Abilities, models.AbilityReasoning) {
		t.Errorf("a model that does not reason: %+v", m)
	}
	if m := find(t, list, "openai", "gpt-6.2-sol"); m.Price == nil || m.Price.CacheRead != nil {
		t.Errorf("an unknown price is not absent: %+v", m.Price)
	}
	if m := find(t, list, "openai", "gpt-4o"); m.Shutdown != "2027-01-14" || m.Replacement != "gpt-6-luna" {
		t.Errorf("a model with a shutdown: %+v", m)
	}
	for _, m := range list.Providers[slices.IndexFunc(list.Providers, func(p models.ProviderInfo) bool { return p.ID == "compat" })].Models {
		if m.Price == nil || *m.Price != (models.ModelPrice{}) {
			t.Errorf("a model on this machine costs %+v", m.Price)
		}
	}
}

// OAS-713: the user's own models are read from the home folder. A bad file is
// reported and changes nothing.
func TestUserModels(t *testing.T) {
	t.Parallel()
	for file, check := range map[string]func(models.ModelList){
		`{"models": [{"provider": "openai", "id": "gpt-6.1-sol", "input": 0.5}, {"provider": "openai", "id": "house", "display_name": "House"}]}`: func(l models.ModelList) {
			if m := find(t, l, "openai", "gpt-6.1-sol"); m.Price.Input != 0.5 || m.Price.Output != 10 || l.Problem != nil {
				t.Errorf("%+v, %v", m.Price, l.Problem)
			}
			if m := find(t, l, "openai", "house"); m.Name != "House" || m.Price != nil && m.Price.Input != 0 {
				t.Errorf("%+v", m)
			}
		},
		"{\"models\": [\n{\"provider\": \"openai\", \"id\": \"gpt-6.1-sol\", \"inptu\": 1}]}": func(l models.ModelList) {
			if m := find(t, l, "openai", "gpt-6.1-sol"); m.Price.Input != 2 || l.Problem == nil || !strings.Contains(l.Problem.Message, "line 2") || !strings.Contains(l.Problem.Message, "inptu") {
				t.Errorf("%+v, %v", m.Price, l.Problem)
			}
		},
	} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, models.ModelsFile), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		p := newPage(t, t.TempDir(), home, environment(llmtest.Serve(t), "sk-test"))
		check(must[models.ModelList](p, "models.list", backend.Empty{}))
	}
}

// A connection test says whether the provider answers, accepts the key and has
// the model, and what to do if not.
func TestModelsTest(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	nowhere := func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "sk-test", "COMPAT_BASE_URL": "http://127.0.0.1:1/v1"}[name]
	}
	for _, tt := range []struct {
		name, provider, model string
		getenv                func(string) string
		reachable             bool
		says                  string
	}{
		{"there", "openai", "", environment(server, "sk-test"), true, ""},
		{"without the model", "openai", "gpt-99", environment(server, "sk-test"), true, "does not list the model gpt-99"},
		{"unreachable", "compat", "m", nowhere, false, "connection refused"},
		{"without a key", "openai", "m", environment(server, ""), false, "OpenAI has no key"},
		{"the demo", "demo", "tour", nowhere, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPage(t, t.TempDir(), t.TempDir(), tt.getenv)
			got := must[models.ConnectionTest](p, "models.test", models.ModelRef{Provider: tt.provider, Model: tt.model})
			if got.Reachable != tt.reachable || (tt.says == "") != (got.Problem == nil) {
				t.Errorf("%+v", got)
			}
			if p := got.Problem; p != nil && (!strings.Contains(p.Message, tt.says) || p.Next == "" || p.ID == "" || strings.Contains(p.Kept, "up to here")) {
				t.Errorf("%+v", p)
			}
		})
	}
}

// A new session begins with the model that the picker shows first, even if all
// rows are the user's own.
func TestNewSessionUsesTheFirstModel(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, models.ModelsFile), []byte(`{"models": [{"provider": "compat", "id": "house"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPage(t, t.TempDir(), home, environment(llmtest.Serve(t), ""))
	session := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	if session.Settings.Provider != "compat" || session.Settings.Model != "house" {
		t.Errorf("settings: %+v", session.Settings)
	}
}

// OAS-710: any name of a model can be chosen, without surrounding spaces. An
// empty name is refused and changes nothing.
func TestSwitchModel(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "Hi."})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := p.session("openai")
	set := agent.Settings{Provider: " openai ", Model: "\tanything-at-all ", Mode: agent.ModeDefault}
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: set})
	await(p, func(s agent.SettingsChange) bool {
		return s.Settings.Model == "anything-at-all" && s.Settings.Provider == "openai"
	})
	for _, wrong := range []agent.Settings{
		{Provider: "openai", Model: " ", Mode: agent.ModeDefault},
		{Provider: "openai", Model: "m", Mode: agent.ModeDefault, ThinkingTokens: -1}, // OAS-721
		{Provider: "openai", Model: "m", Mode: agent.ModeDefault, Budget: -1},
	} {
		if _, err := call[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: wrong}); err == nil {
			t.Errorf("%+v was taken", wrong)
		}
	}
	p.send(id, "hello")
	if end := await(p, anyOf[agent.TextEnd]); end.Model != "anything-at-all" {
		t.Errorf("%s answered", end.Model)
	}
}

// Settings that are requested right after another event was stored, which makes
// the session be read again, are not lost.
func TestConfigureAfterARename(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), "sk-test"))
	id := p.session("openai")
	for i := range 5 {
		must[backend.SessionInfo](p, "sessions.rename", sessionlist.RenameRequest{Session: id, Title: "Another name"})
		set := agent.Settings{Provider: "openai", Model: fmt.Sprintf("model-%d", i), Mode: agent.ModeDefault}
		must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: set})
		await(p, func(s agent.SettingsChange) bool { return s.Settings == set })
	}
}
