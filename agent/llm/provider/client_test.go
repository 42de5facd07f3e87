package provider_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/generate"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/llm/provider"
)

// environment holds the variables that a test's client reads.
type environment map[string]string

func (e environment) get(name string) string { return e[name] }

func request(id string) llm.Request {
	return llm.Request{Provider: id, Model: llmtest.ModelID, Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}
}

// LLM-01, LLM-02, LLM-03: each provider is called with its own key at its own
// address, and the first configured one answers requests that name none.
func TestClientFromEnvironment(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "1"}, llmtest.Round{Text: "2"}, llmtest.Round{Text: "3"}, llmtest.Round{Text: "4"})
	c := provider.Client(environment{
		"ANTHROPIC_API_KEY": " sk-anthropic ", "ANTHROPIC_BASE_URL": server.Root,
		"GOOGLE_API_KEY": "sk-google", "GEMINI_BASE_URL": server.Root,
		"DEEPSEEK_API_KEY": "sk-deepseek", "DEEPSEEK_BASE_URL": server.URL,
		"OPENAI_API_KEY": "  ",
	}.get)
	for i, tt := range []struct{ provider, path, header, value string }{
		{"", "/v1/messages", "X-Api-Key", "sk-anthropic"},
		{"anthropic", "/v1/messages", "X-Api-Key", "sk-anthropic"},
		{"gemini", "/v1beta/models/", "X-Goog-Api-Key", "sk-google"},
		{"deepseek", "/v1/chat/completions", "Authorization", "Bearer sk-deepseek"},
	} {
		if _, err := llm.Complete(c.Stream(t.Context(), request(tt.provider))); err != nil {
			t.Fatalf("%q: %v", tt.provider, err)
		}
		if r := server.Requests()[i]; !strings.HasPrefix(r.Path, tt.path) || r.Header.Get(tt.header) != tt.value {
			t.Errorf("%q: %s with %q", tt.provider, r.Path, r.Header.Get(tt.header))
		}
	}
	for _, absent := range []string{"openai", "ollama", "compat"} {
		_, err := llm.Complete(c.Stream(t.Context(), request(absent)))
		var e *llm.Error
		if !errors.As(err, &e) || e.Class != llm.ClassConfig {
			t.Errorf("%s, which is not configured: %v", absent, err)
		}
	}
}

// The error for a provider that is not configured names the variables to set. A
// provider's own error is unchanged.
func TestAdvice(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Status: 400, Body: `{"error":{"message":"no"}}`})
	c := provider.Client(environment{"OPENAI_API_KEY": "sk", "OPENAI_BASE_URL": server.URL}.get)
	for id, want := range map[string]string{
		"anthropic": `no provider "anthropic" is configured: set ANTHROPIC_API_KEY`,
		"gemini":    "set GEMINI_API_KEY or GOOGLE_API_KEY",
		"azure":     "set AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT",
		"compat":    "set COMPAT_BASE_URL",
		"ollama":    "set OLLAMA_BASE_URL",
		"unheard":   `no provider "unheard" is configured`,
		"openai":    "no",
	} {
		_, err := llm.Complete(c.Stream(t.Context(), request(id)))
		var e *llm.Error
		if !errors.As(err, &e) || !strings.HasSuffix(e.Message, want) || errors.Is(err, llm.ErrNoProvider) == (id == "openai") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// A user's endpoint is called over Chat Completions, or over Responses if its
// host is known to need that, under its own name either way.
func TestCompatible(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://api.openai.com/v1":         "https://api.openai.com/v1/responses",
		"https://shop.openai.azure.com":     "https://shop.openai.azure.com/openai/v1/responses",
		"https://gateway.example/openai/v1": "https://gateway.example/openai/v1/chat/completions",
	} {
		var asked string
		client := &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
			asked = req.URL.String()
			return nil, errors.New("recorded")
		})}
		a := provider.Compatible("mine")(llm.AdapterConfig{BaseURL: address, HTTPClient: client})
		_, _ = llm.Complete(a.Stream(t.Context(), request("mine"))) // the transport refuses
		if asked != want || a.Name() != "mine" {
			t.Errorf("%s: %s asks %s", address, a.Name(), asked)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

// LLM-07: the process's client is created once, when it is needed, and can be
// replaced.
func TestDefault(t *testing.T) {
	server := llmtest.Serve(t, llmtest.Round{Text: "Hello."})
	t.Setenv("OPENAI_API_KEY", "sk-test")
	t.Setenv("OPENAI_BASE_URL", server.URL)
	provider.SetDefault(nil)
	defer provider.SetDefault(nil)
	if first := provider.Default(); first != provider.Default() {
		t.Error("the client was created twice")
	}
	if _, err := llm.Complete(provider.Default().Stream(t.Context(), request(""))); err != nil {
		t.Error(err)
	}
	own := llm.NewClient()
	provider.SetDefault(own)
	if provider.Default() != own {
		t.Error("the client was not replaced")
	}
}

// Every row can be called once it has what it needs, and says how to provide
// that.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, row := range provider.Table() {
		if row.ID == "" || row.Name == "" || row.URLVariable == "" || seen[row.ID] {
			t.Errorf("%+v", row)
		}
		seen[row.ID] = true
		if got := row.New(llm.AdapterConfig{APIKey: "sk-test", BaseURL: "https://x.example/v1"}).Name(); got != row.ID {
			t.Errorf("the adapter of %s is called %s", row.ID, got)
		}
		if !row.Usable("sk-test", "https://x.example/v1") || row.Needs.Key && row.Usable("", "https://x.example/v1") {
			t.Errorf("%s: usable with less than it needs, or not with all of it", row.ID)
		}
	}
}

// A program without settings of its own uses the provider whose key the
// environment has.
func ExampleClient() {
	client := provider.Client(func(string) string { return "" }) // os.Getenv in a program
	_, err := generate.Text(context.Background(), client, generate.Call{
		Request: llm.Request{Model: "claude-sonnet-5-5"},
		Prompt:  "Name three rivers.",
	})
	fmt.Println(err)
	// Output: no provider is configured: set OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or the variable of another provider (config)
}
