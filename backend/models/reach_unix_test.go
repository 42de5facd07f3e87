//go:build unix

package models

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
)

// Issue 39: the command of the user's file prints the key; the key is used until it expires or
// is refused, and a command that fails is said instead of "no key".
func TestKeyHelper(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	server := llmtest.Serve(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."},
		llmtest.Round{Status: 401, Body: `{"error":{"message":"expired"}}`}, llmtest.Round{Text: "Three."})
	count := filepath.Join(home, "count")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, "endpoints.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(`{"openai": {"apiKeyHelper": "echo >> ` + count + `; echo sk-helped-$(wc -l < ` + count + `)", "apiKeyHelperTtlMs": 3600000}}`)
	getenv := func(name string) string { return map[string]string{"OPENAI_BASE_URL": server.URL}[name] }
	providers := func() *Providers {
		return New(Config{Home: home, Settings: noSettings{}, Keys: noKeys{}, Getenv: getenv})
	}
	p := providers()
	ask := func() (text string, err error) {
		req := llm.Request{Provider: "openai", Model: llmtest.ModelID, Messages: []llm.Message{llm.Text(llm.RoleUser, "go")}}
		for ev, e := range p.Stream(context.Background(), req) {
			if e != nil {
				return text, e
			}
			if ev.Type == llm.EventTextDelta {
				text += ev.Delta
			}
		}
		return text, nil
	}
	if err := p.Ready(t.Context(), "openai"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"One.", "Two.", "Three."} {
		if text, err := ask(); text != want || err != nil {
			t.Errorf("%q, %v, want %q", text, err, want)
		}
	}
	var keys []string
	for _, r := range server.Requests() {
		keys = append(keys, r.Header.Get("Authorization"))
	}
	if got := strings.Join(keys, " "); got != "Bearer sk-helped-1 Bearer sk-helped-1 Bearer sk-helped-1 Bearer sk-helped-2" {
		t.Errorf("the keys were %s", got)
	}

	put(`{"openai": {"apiKeyHelper": "echo sk-secret; exit 3"}}`)
	p = providers()
	err := p.Ready(t.Context(), "openai")
	if e := backend.AsError(err); err == nil || !strings.Contains(e.Details+e.Cause.Error(), "exit code 3") || strings.Contains(e.Details+e.Cause.Error(), "sk-secret") {
		t.Errorf("a command that fails: %v", err)
	}
}

// Issue 39: nothing is sent around an endpoint that cannot be set up.
func TestBrokenEndpointSendsNothing(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	server := llmtest.Serve(t, llmtest.Round{Text: "One."})
	if err := os.WriteFile(filepath.Join(home, "endpoints.json"), []byte(`{"openai": {"caBundle": "/none"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := New(Config{Home: home, Settings: noSettings{}, Keys: noKeys{}, Getenv: func(name string) string {
		return map[string]string{"OPENAI_BASE_URL": server.URL, "OPENAI_API_KEY": "sk-test"}[name]
	}})
	var failed error
	for _, err := range p.Stream(t.Context(), llm.Request{Provider: "openai", Model: llmtest.ModelID, Messages: []llm.Message{llm.Text(llm.RoleUser, "go")}}) {
		failed = err
	}
	if failed == nil || !strings.Contains(failed.Error(), "certificate authorities") || len(server.Requests()) != 0 {
		t.Errorf("%v, %d requests", failed, len(server.Requests()))
	}
}
