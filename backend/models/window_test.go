package models

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
)

// OAS-709, OAS-108: the window with which a server of one's own runs a model
// holds if it is smaller than what is known of the model, and only as long as the
// server says so.
func TestServedWindows(t *testing.T) {
	t.Parallel()
	var asked, loaded atomic.Int64
	mux := http.NewServeMux()
	answer := func(path, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(body))
		})
	}
	answer("/v1/models", `{"object":"list","data":[{"id":"big:128k","object":"model"},{"id":"gpt-oss:20b","object":"model"},{"id":"own:latest","object":"model"},{"id":"small","object":"model"}]}`)
	answer("/api/show", `{"model_info":{"llama.context_length":131072}}`)
	mux.HandleFunc("/api/ps", func(w http.ResponseWriter, _ *http.Request) {
		if loaded.Load() == 0 {
			_, _ = w.Write([]byte(`{"models":[]}`))
			return
		}
		_, _ = w.Write([]byte(`{"models":[{"name":"big:128k","context_length":4096},{"name":"gpt-oss:20b","context_length":8192},` +
			`{"name":"own:latest","context_length":16384},{"name":"small","context_length":32768}]}`))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	home := t.TempDir()
	rows := `{"models":[{"provider":"ollama","id":"big:128k","context_window":128000},{"provider":"ollama","id":"small","context_window":2048}]}`
	if err := os.WriteFile(filepath.Join(home, ModelsFile), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"OLLAMA_BASE_URL", server.URL, "DEEPSEEK_API_KEY", "k"}
	p := New(Config{Home: home, Keys: noKeys{}, Settings: noSettings{}, Getenv: func(name string) string {
		if i := slices.Index(env, name); i >= 0 {
			return env[i+1]
		}
		return ""
	}})
	if _, err := p.catalogue(); err != nil {
		t.Fatal(err)
	}
	unknown := p.Limits("ollama", "gpt-oss:20b").Window
	for _, tt := range []struct {
		loaded int64
		model  string
		want   int64
	}{
		{0, "big:128k", 128_000}, {1, "big:128k", 4096}, {1, "gpt-oss:20b", 8192}, {1, "own", 16_384},
		{1, "own:latest", 16_384}, {1, "small", 2048}, {1, "absent", 0}, {0, "big:128k", 128_000},
	} {
		loaded.Store(tt.loaded)
		p.Refresh(t.Context(), "ollama")
		if got := p.Limits("ollama", tt.model).Window; got != tt.want {
			t.Errorf("%s, loaded %d: %d, want %d (%d before it was asked)", tt.model, tt.loaded, got, tt.want, unknown)
		}
	}
	before := asked.Load()
	for _, id := range []string{"deepseek", "openai", "anthropic", "nobody", "demo", ""} {
		if p.Refresh(t.Context(), id); p.Widening(id, 16_384) != "" {
			t.Errorf("%s is taken for a server of one's own", id)
		}
	}
	if asked.Load() != before {
		t.Error("a hosted provider's turn asked a local server")
	}
}

// What to do is said in the words of each server.
func TestWidening(t *testing.T) {
	t.Parallel()
	address := "http://127.0.0.1:9/v1"
	p := New(Config{Home: t.TempDir(), Keys: noKeys{}, Settings: noSettings{}, Getenv: func(name string) string {
		switch name {
		case "COMPAT_BASE_URL", "MISTRAL_BASE_URL":
			return address
		}
		return ""
	}})
	if err := p.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"ollama":   "OLLAMA_CONTEXT_LENGTH=32768 / PARAMETER num_ctx 32768",
		"llamacpp": "llama-server -c 32768",
		"lmstudio": "Context Length 32768",
		"compat":   "llama-server -c 32768 / OLLAMA_CONTEXT_LENGTH=32768 / vllm serve --max-model-len 32768",
		"deepseek": "",
		"groq":     "",
	} {
		if got := p.Widening(id, 32_768); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}
