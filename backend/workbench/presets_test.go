package workbench_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/backend/workbench"
)

// variables returns an environment with the given pairs only.
func variables(pairs ...string) func(string) string {
	env := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return env[name] }
}

func offered(list models.ModelList, id string) models.ProviderInfo {
	i := slices.IndexFunc(list.Providers, func(p models.ProviderInfo) bool { return p.ID == id })
	if i < 0 {
		return models.ProviderInfo{}
	}
	return list.Providers[i]
}

// talk returns the first request of a server that is not a question about
// its models.
func talk(t *testing.T, s *llmtest.Server) llmtest.Request {
	t.Helper()
	requests := s.Requests()
	i := slices.IndexFunc(requests, func(r llmtest.Request) bool { return len(r.Body) > 0 })
	if i < 0 {
		t.Fatal("the server was asked nothing")
	}
	return requests[i]
}

// LLM-02 LLM-04 OAS-709 COM-50: the key of a well-known endpoint is enough for
// a first session with it, in its own dialect and at the catalogue's price.
func TestPresetSession(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ provider, keyVar, urlVar, model, sent string }{
		{"deepseek", "DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL", "deepseek-flash", `"thinking":{"type":"enabled"}`},
		{"openrouter", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", "openrouter/auto", `"reasoning":{"effort":"high"}`},
		{"glm", "ZHIPUAI_API_KEY", "ZHIPU_BASE_URL", "glm-5.3", `"reasoning_effort":"high"`},
		{"groq", "GROQ_API_KEY", "GROQ_BASE_URL", "openai/gpt-oss-120b", `"reasoning_effort":"high"`},
	} {
		t.Run(tt.provider, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t, llmtest.Round{Text: "Hello."})
			p := newPage(t, t.TempDir(), t.TempDir(), variables(tt.keyVar, "the-secret-key", tt.urlVar, server.URL))
			info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
			if info.Settings.Provider != tt.provider || info.Settings.Model != tt.model {
				t.Fatalf("a first session uses %+v", info.Settings)
			}
			info.Settings.Effort = "high"
			must[backend.Empty](p, "conversation.configure", conversation.ConfigureRequest{Session: info.ID, Settings: info.Settings})
			p.send(info.ID, "hi")
			await(p, func(agent.ProcessingEnd) bool { return true })
			r := talk(t, server)
			if !strings.Contains(string(r.Body), tt.sent) || r.Header.Get("Authorization") != "Bearer the-secret-key" {
				t.Errorf("%s is missing in %s", tt.sent, r.Body)
			}
		})
	}
}

// LLM-04: a server on this machine is looked for on request, listed with its
// models, and never used unless the user chooses it. A missing server is not
// listed.
func TestLocalModels(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "Hello."})
	p := newPage(t, t.TempDir(), t.TempDir(), variables("OLLAMA_API_KEY", "the-secret-key"))
	p.bench.MoveLocal("ollama", server.URL, "llamacpp", "http://127.0.0.1:1/v1", "lmstudio", "http://127.0.0.1:1/v1")
	before := offered(must[models.ModelList](p, "models.list", backend.Empty{}), "ollama")
	if asked := len(server.Requests()); before.Ready || !before.Local || asked != 0 {
		t.Errorf("asked %d times unasked: %+v", asked, before)
	}
	list := must[models.ModelList](p, "models.local", backend.Empty{})
	found := offered(list, "ollama")
	if len(list.Providers) != 1 || !found.Ready || !found.Local || len(found.Models) != 1 || found.Models[0].ID != llmtest.ModelID || *found.Models[0].Price != (models.ModelPrice{}) {
		t.Errorf("found %+v", list)
	}
	checks, err := p.bench.CheckProviders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if wanted := c.Provider == "ollama"; c.Configured != wanted || c.Connection.Reachable != wanted || c.Connection.Problem != nil || c.Model != "" {
			t.Errorf("the check-up finds %+v", c)
		}
	}
	info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	if info.Settings.Provider != "demo" {
		t.Errorf("a new session uses %s by itself", info.Settings.Provider)
	}
	for _, r := range server.Requests() {
		if r.Header.Get("Authorization") != "" || r.Body != nil {
			t.Errorf("%s was sent to another program on that port", r.Path)
		}
	}
	info.Settings.Provider, info.Settings.Model = "ollama", llmtest.ModelID
	must[backend.Empty](p, "conversation.configure", conversation.ConfigureRequest{Session: info.ID, Settings: info.Settings})
	p.send(info.ID, "hi")
	if end := await(p, func(agent.TextEnd) bool { return true }); end.Message.Text() != "Hello." || end.Cost == nil || *end.Cost != 0 {
		t.Errorf("%+v", end)
	}
	await(p, func(agent.ProcessingEnd) bool { return true })
}

// A local server whose address the user entered is configured like any other.
func TestLocalSetUp(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), variables("OLLAMA_BASE_URL", server.URL))
	list := must[models.ModelList](p, "models.list", backend.Empty{})
	if got := offered(list, "ollama"); !got.Ready || got.Local || len(got.Models) != 1 { // the models that it has, not the catalogue's
		t.Errorf("%+v", got)
	}
	if s := must[backend.SessionInfo](p, "sessions.create", backend.Empty{}).Settings; s.Provider != "ollama" || s.Model != llmtest.ModelID {
		t.Errorf("a new session uses %+v", s)
	}
}

// Azure lists models, but calls them by the names of the user's deployments.
func TestDeployments(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), variables("AZURE_OPENAI_API_KEY", "the-secret-key", "AZURE_OPENAI_ENDPOINT", server.URL))
	if got := offered(must[models.ModelList](p, "models.list", backend.Empty{}), "azure"); !got.Ready || len(got.Models) != 0 {
		t.Errorf("%+v", got)
	}
	if s := must[backend.SessionInfo](p, "sessions.create", backend.Empty{}).Settings; s.Provider != "demo" {
		t.Errorf("a new session uses %+v", s)
	}
	if got := must[models.ConnectionTest](p, "models.test", models.ModelRef{Provider: "azure", Model: "mine"}); !got.Reachable || got.Problem != nil {
		t.Errorf("%+v", got)
	}
}

// OAS-723: the environment's model overrides the stored one, and its key and
// address belong to its provider. A model that the user picks overrides it and
// is stored.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	stored := agent.Settings{Provider: "openai", Model: "gpt-6.1-sol", Mode: agent.ModeDefault}
	for _, tt := range []struct {
		name, stored string
		env          []string
		want         string
	}{
		{"a key", "", []string{"CODEANY_API_KEY", "k"}, "anthropic/claude-sonnet-4-6"},
		{"a key, and a stored choice", "stored", []string{"CODEANY_API_KEY", "k"}, "openai/gpt-6.1-sol"},
		{"a bare model", "stored", []string{"CODEANY_API_KEY", "k", "CODEANY_MODEL", "claude-x"}, "anthropic/claude-x"},
		{"a provider's model", "stored", []string{"CODEANY_API_KEY", "k", "CODEANY_MODEL", "deepseek/v9"}, "deepseek/v9"},
		{"a gateway's model", "", []string{"CODEANY_API_KEY", "k", "CODEANY_MODEL", "openrouter/a/b"}, "openrouter/a/b"},
		{"a model without its key", "stored", []string{"CODEANY_MODEL", "deepseek/v9"}, "openai/gpt-6.1-sol"},
		{"nothing", "", nil, "openai/gpt-6.1-sol"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			if tt.stored != "" {
				earlier := newPage(t, t.TempDir(), home, variables("OPENAI_API_KEY", "k"))
				must[backend.Preferences](earlier, "preferences.change", workbench.PreferencesChange{After: backend.Preferences{NewSession: stored}})
				earlier.close()
			}
			env := append(tt.env, "OPENAI_API_KEY", "other", "CODEANY_BASE_URL", server.Root)
			if tt.env == nil {
				env = env[:2]
			}
			p := newPage(t, t.TempDir(), home, variables(env...))
			s := must[backend.SessionInfo](p, "sessions.create", backend.Empty{}).Settings
			if got := s.Provider + "/" + s.Model; got != tt.want {
				t.Errorf("a new session uses %s, want %s", got, tt.want)
			}
			shown := must[backend.Preferences](p, "preferences.get", backend.Empty{})
			if got := shown.NewSession; got.Model != "" && got.Provider+"/"+got.Model != tt.want {
				t.Errorf("the page shows %s/%s, want %s", got.Provider, got.Model, tt.want)
			}
		})
	}
}

// OAS-723: the environment's model may be one of the user's own endpoint, which
// is called with its own key. No other provider gets the environment's key.
func TestEnvironmentNamesAnEndpoint(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "Hello."})
	home := t.TempDir()
	earlier := newPage(t, t.TempDir(), home, variables())
	must[models.EndpointList](earlier, "endpoints.set", models.SetEndpointRequest{Name: "The House", BaseURL: server.URL, Key: "own-key"})
	earlier.close()
	p := newPage(t, t.TempDir(), home, variables("CODEANY_MODEL", "the-house/org/model", "CODEANY_API_KEY", "another-key", "OPENAI_API_KEY", "k"))
	info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	if s := info.Settings; s.Provider != "the-house" || s.Model != "org/model" {
		t.Errorf("a new session uses %+v", s)
	}
	p.send(info.ID, "hi")
	await(p, anyOf[agent.ProcessingEnd])
	if got := server.Requests()[0].Header.Get("Authorization"); got != "Bearer own-key" {
		t.Errorf("the endpoint is called with %q", got)
	}
	for _, k := range must[models.KeyList](p, "keys.list", backend.Empty{}).Keys {
		if k.Variable == "CODEANY_API_KEY" {
			t.Errorf("%s is given the key of another", k.Provider)
		}
	}
}

// OAS-703 OAS-723: the environment's key and address reach the provider, and
// the page learns which variable they come from.
func TestEnvironmentIsUsed(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "Hello."})
	p := newPage(t, t.TempDir(), t.TempDir(), variables(
		"CODEANY_API_KEY", "the-secret-key", "CODEANY_BASE_URL", server.Root, "ANTHROPIC_API_KEY", "another-key"))
	info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	p.send(info.ID, "hi")
	await(p, func(agent.ProcessingEnd) bool { return true })
	r := talk(t, server)
	if r.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != "the-secret-key" || r.Header.Get("Anthropic-Version") != "2023-06-01" {
		t.Errorf("%s with %v", r.Path, r.Header)
	}
	for _, k := range must[models.KeyList](p, "keys.list", backend.Empty{}).Keys {
		if k.Provider == "anthropic" && (k.Variable != "CODEANY_API_KEY" || k.BaseURL != server.Root) {
			t.Errorf("%+v", k)
		}
	}
}

// The user's choice overrides the environment until the program ends. Only the
// choice is stored.
func TestPickedOverEnvironment(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := newPage(t, t.TempDir(), home, variables("CODEANY_API_KEY", "k", "CODEANY_MODEL", "deepseek/v9", "OPENAI_API_KEY", "k"))
	shown := must[backend.Preferences](p, "preferences.get", backend.Empty{})
	shown.Theme = "dark"
	must[backend.Preferences](p, "preferences.change", workbench.PreferencesChange{After: shown})
	if stored, err := p.store.Setting(t.Context(), "preferences"); err != nil || strings.Contains(stored, "deepseek") {
		t.Errorf("the environment's model was stored: %s %v", stored, err)
	}
	shown.NewSession.Provider, shown.NewSession.Model = "openai", "gpt-6.1-sol"
	must[backend.Preferences](p, "preferences.change", workbench.PreferencesChange{After: shown})
	if s := must[backend.SessionInfo](p, "sessions.create", backend.Empty{}).Settings; s.Provider != "openai" {
		t.Errorf("a new session uses %+v, not the picked model", s)
	}
}

// All providers are asked for their models at once: here each answers only when
// the other was asked too.
func TestModelsAreAskedForAtOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	both := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 2 {
			close(both)
		}
		select {
		case <-both:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
	}))
	t.Cleanup(server.Close)
	p := newPage(t, t.TempDir(), t.TempDir(), variables(
		"COMPAT_BASE_URL", server.URL, "OPENROUTER_BASE_URL", server.URL, "OPENROUTER_API_KEY", "k"))
	list := must[models.ModelList](p, "models.list", backend.Empty{})
	for _, id := range []string{"compat", "openrouter"} {
		if got := offered(list, id); got.Problem != nil || len(got.Models) != 1 {
			t.Errorf("%+v", got)
		}
	}
}
