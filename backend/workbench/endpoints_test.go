package workbench_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
	"atelier.dev/atelier/storage/keystore"
)

// house is an endpoint with every kind of value.
func house(address string) models.SetEndpointRequest {
	return models.SetEndpointRequest{
		Name: "The House, Inc.", BaseURL: address, Key: "canary-key",
		Headers: []models.EndpointHeader{{Name: "x-team", Value: "canary-header"}},
		Body:    `{"top_k": 40, "chat_template_kwargs": {"deep": true}}`,
	}
}

// A user's own endpoint is a provider like any other: it is listed, checked,
// chosen, called with its own key, headers and members, and in the ledger, also
// in the next process, until it is removed.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "Hello.", Usage: small})
	home := t.TempDir()
	p := newPage(t, t.TempDir(), home, variables())
	list := must[models.EndpointList](p, "endpoints.set", house(server.URL))
	if len(list.Endpoints) != 1 || list.Endpoints[0].ID != "the-house-inc" || !list.Endpoints[0].HasKey || !slices.Equal(list.Endpoints[0].Headers, []string{"X-Team"}) {
		t.Fatalf("%+v", list)
	}
	second := must[models.EndpointList](p, "endpoints.set", models.SetEndpointRequest{Name: "OpenAI", BaseURL: "http://127.0.0.1:1/v1"})
	if len(second.Endpoints) != 2 || second.Endpoints[1].ID != "openai-2" || second.Endpoints[1].HasKey {
		t.Errorf("%+v", second)
	}
	p.close()

	p = newPage(t, t.TempDir(), home, variables())
	find(t, must[models.ModelList](p, "models.list", models.ModelsRequest{}), "the-house-inc", llmtest.ModelID)
	if got := must[models.ConnectionTest](p, "models.test", models.ModelRef{Provider: "the-house-inc"}); !got.Reachable || got.Models != 1 {
		t.Errorf("%+v", got)
	}
	checks, err := p.bench.CheckProviders(t.Context())
	if err != nil || !slices.ContainsFunc(checks, func(c models.ProviderCheck) bool {
		return c.Provider == "the-house-inc" && c.Configured && c.Connection.Reachable
	}) {
		t.Errorf("%+v (%v)", checks, err)
	}
	info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	info.Settings.Provider, info.Settings.Model = "the-house-inc", llmtest.ModelID
	must[backend.Empty](p, "conversation.configure", conversation.ConfigureRequest{Session: info.ID, Settings: info.Settings})
	p.send(info.ID, "hi")
	await(p, anyOf[agent.ProcessingEnd])
	requests := server.AllRequests()
	last := talk(t, server)
	for _, r := range requests {
		if r.Header.Get("X-Team") != "canary-header" || r.Header.Get("Authorization") != "Bearer canary-key" {
			t.Errorf("%s is sent %v", r.Path, r.Header)
		}
	}
	for _, want := range []string{`"top_k":40`, `"chat_template_kwargs":{"deep":true}`, `"stream":true`} {
		if !strings.Contains(string(last.Body), want) {
			t.Errorf("%s is missing in %s", want, last.Body)
		}
	}
	costs := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{Session: info.ID})
	if len(costs.Models) != 1 || costs.Models[0].Provider != "the-house-inc" {
		t.Errorf("the ledger says %+v", costs.Models)
	}
	for _, k := range must[models.KeyList](p, "keys.list", backend.Empty{}).Keys {
		if k.Provider == "the-house-inc" {
			t.Error("its key is set in two places")
		}
	}
	if _, err := call[models.KeyList](p, "keys.set", models.SetKeyRequest{Provider: "the-house-inc", Key: "k"}); err == nil {
		t.Error("its key is set in two places")
	}
	must[models.EndpointList](p, "endpoints.remove", models.ProviderRef{Provider: "the-house-inc"})
	if got := offered(must[models.ModelList](p, "models.list", models.ModelsRequest{}), "the-house-inc"); got.ID != "" {
		t.Errorf("the endpoint is still listed: %+v", got)
	}
	if b, err := os.ReadFile(filepath.Join(home, "keys.json")); err != nil || strings.Contains(string(b), "canary") {
		t.Errorf("its secrets are kept: %s (%v)", b, err)
	}
}

// An endpoint's key and headers are in the key store only, and are not sent to
// another host: a new address requires them again.
func TestEndpointSecrets(t *testing.T) {
	t.Parallel()
	first, second := llmtest.Serve(t), llmtest.Serve(t)
	home := t.TempDir()
	p := newPage(t, t.TempDir(), home, variables())
	in := house(first.URL)
	must[models.EndpointList](p, "endpoints.set", in)
	in.ID, in.Key, in.Headers[0].Value = "the-house-inc", "", ""
	in.Name = "The Other House"
	changed := must[models.EndpointList](p, "endpoints.set", in)
	if e := changed.Endpoints[0]; e.ID != "the-house-inc" || e.Name != "The Other House" || !e.HasKey {
		t.Errorf("%+v", e)
	}
	moved := in
	moved.BaseURL = second.URL
	if _, err := call[models.EndpointList](p, "endpoints.set", moved); err == nil || err.Code != backend.CodeKeyNeeded {
		t.Errorf("the key followed to another host: %v", err)
	}
	moved.Key = "another-key"
	if _, err := call[models.EndpointList](p, "endpoints.set", moved); err == nil || !strings.Contains(err.Message, "X-Team") {
		t.Errorf("the header followed to another host: %v", err)
	}
	must[models.ConnectionTest](p, "models.test", models.ModelRef{Provider: "the-house-inc"})
	if got := first.AllRequests()[0].Header; got.Get("Authorization") != "Bearer canary-key" || got.Get("X-Team") != "canary-header" {
		t.Errorf("sent %v", got)
	}
	moved.Headers = []models.EndpointHeader{{Name: "X-Team", Value: " "}}
	if _, err := call[models.EndpointList](p, "endpoints.set", moved); err == nil || !strings.Contains(err.Message, "X-Team") {
		t.Errorf("the header followed to another host, for a space: %v", err)
	}
	if n := len(second.AllRequests()); n != 0 {
		t.Errorf("%d requests to the other host", n)
	}
	p.close()
	entries, err := filepath.Glob(filepath.Join(home, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range entries {
		if b, _ := os.ReadFile(path); strings.Contains(string(b), "canary") && filepath.Base(path) != "keys.json" {
			t.Errorf("%s holds a secret", path)
		}
	}
}

// Secrets that a user removes from an endpoint are neither sent nor kept.
func TestEndpointSecretsAreRemoved(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"a key and a header": "canary-key", "a header alone": ""} {
		server := llmtest.Serve(t)
		home := t.TempDir()
		p := newPage(t, t.TempDir(), home, variables())
		in := house(server.URL)
		in.Key = key
		must[models.EndpointList](p, "endpoints.set", in)
		in.ID, in.Key, in.NoKey, in.Headers = "the-house-inc", "", true, nil
		if list := must[models.EndpointList](p, "endpoints.set", in); list.Endpoints[0].HasKey {
			t.Errorf("%s: %+v", name, list)
		}
		must[models.ConnectionTest](p, "models.test", models.ModelRef{Provider: "the-house-inc"})
		if got := server.AllRequests()[0].Header; got.Get("Authorization") != "" || got.Get("X-Team") != "" {
			t.Errorf("%s: sent %v", name, got)
		}
		if b, err := os.ReadFile(filepath.Join(home, "keys.json")); err != nil || strings.Contains(string(b), "canary") {
			t.Errorf("%s: its secrets are kept: %s (%v)", name, b, err)
		}
	}
}

// An endpoint whose secrets are garbled can be removed, and affects no other
// provider.
func TestGarbledEndpointSecrets(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	home := t.TempDir()
	p := newPage(t, t.TempDir(), home, variables())
	must[models.EndpointList](p, "endpoints.set", house(server.URL))
	p.close()
	keys := filepath.Join(home, "keys.json")
	b, err := os.ReadFile(keys)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keys, []byte(strings.Replace(string(b), `"{\"key`, `"{\"ke\"y`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}

	p = newPage(t, t.TempDir(), home, variables())
	if list := must[models.EndpointList](p, "endpoints.list", backend.Empty{}); len(list.Endpoints) != 1 || list.Endpoints[0].HasKey {
		t.Errorf("%+v", list)
	}
	must[models.ModelList](p, "models.list", models.ModelsRequest{})
	if got := must[models.ConnectionTest](p, "models.test", models.ModelRef{Provider: "the-house-inc"}); got.Problem == nil || got.Problem.ID != agent.FailureID(backend.ProblemKeyGarbled) {
		t.Errorf("%+v", got.Problem)
	}
	if n := len(server.AllRequests()); n != 0 {
		t.Errorf("%d requests without the key", n)
	}
	info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	p.send(info.ID, "hi")
	await(p, anyOf[agent.ProcessingEnd])
	if list := must[models.EndpointList](p, "endpoints.remove", models.ProviderRef{Provider: "the-house-inc"}); len(list.Endpoints) != 0 {
		t.Errorf("%+v", list)
	}
}

// A failed change changes nothing, and a value that cannot be sent is not
// accepted.
func TestEndpointsAreSetCompletelyOrNotAtAll(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	home := t.TempDir()
	keysLocked, storeLocked := false, false
	p := openPage(t, t.TempDir(), home, variables(), func(s *storage.Store) backend.Store {
		return lockedStore{s, &storeLocked}
	}, func(cfg *workbench.Config) { cfg.Keys = lockedKeys{keystore.New(home), &keysLocked} })
	must[models.EndpointList](p, "endpoints.set", house(server.URL))
	for name, change := range map[string]func(*models.SetEndpointRequest){
		"the key store":    func(*models.SetEndpointRequest) { keysLocked = true },
		"the database":     func(*models.SetEndpointRequest) { storeLocked = true },
		"no name":          func(in *models.SetEndpointRequest) { in.Name = " " },
		"a long name":      func(in *models.SetEndpointRequest) { in.Name = strings.Repeat("a", 61) },
		"no address":       func(in *models.SetEndpointRequest) { in.BaseURL = "" },
		"a password":       func(in *models.SetEndpointRequest) { in.BaseURL = "http://me:canary@host/v1" },
		"a foreign header": func(in *models.SetEndpointRequest) { in.Headers[0].Name = "Host" },
		"an odd header":    func(in *models.SetEndpointRequest) { in.Headers[0].Name = "a b" },
		"a line break":     func(in *models.SetEndpointRequest) { in.Headers[0].Value = "a\r\nB: c" },
		"a header twice": func(in *models.SetEndpointRequest) {
			in.Headers = append(in.Headers, models.EndpointHeader{Name: "X-TEAM", Value: "b"})
		},
		"no value":      func(in *models.SetEndpointRequest) { in.Headers[0] = models.EndpointHeader{Name: "X-New"} },
		"no object":     func(in *models.SetEndpointRequest) { in.Body = `[1]` },
		"null":          func(in *models.SetEndpointRequest) { in.Body = `null` },
		"no JSON":       func(in *models.SetEndpointRequest) { in.Body = `{"a":` },
		"the model":     func(in *models.SetEndpointRequest) { in.Body = `{"model": "x"}` },
		"the messages":  func(in *models.SetEndpointRequest) { in.Body = `{"messages": []}` },
		"the stream":    func(in *models.SetEndpointRequest) { in.Body = `{"stream": false}` },
		"the tools":     func(in *models.SetEndpointRequest) { in.Body = `{"tools": []}` },
		"another's id":  func(in *models.SetEndpointRequest) { in.ID = "openai" },
		"a missing one": func(in *models.SetEndpointRequest) { in.ID = "gone" },
	} {
		in := house(server.URL + "/other")
		in.ID, in.Key = "the-house-inc", "canary-new"
		change(&in)
		_, err := call[models.EndpointList](p, "endpoints.set", in)
		keysLocked, storeLocked = false, false
		if err == nil || strings.Contains(err.Error()+err.Details, "canary") {
			t.Errorf("%s: %v", name, err)
		}
		must[models.ConnectionTest](p, "models.test", models.ModelRef{Provider: "the-house-inc"})
		requests := server.AllRequests()
		if got := requests[len(requests)-1]; got.Header.Get("Authorization") != "Bearer canary-key" || got.Path != "/v1/models" {
			t.Fatalf("after %s the endpoint is called at %s with %q", name, got.Path, got.Header.Get("Authorization"))
		}
	}
}
