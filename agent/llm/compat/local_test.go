package compat_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm/compat"
)

// LLM-04: a local server is found by asking it, and only an exact answer is
// accepted.
func TestRunning(t *testing.T) {
	t.Parallel()
	const models = `{"object":"list","data":[{"id":"qwen3:8b","object":"model","owned_by":"library"},{"id":"/my models/a.gguf","object":"model"}]}`
	reply := func(kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if len(r.Header.Values("Authorization")) > 0 || r.URL.Path != "/v1/models" {
				t.Errorf("%s was asked with %v", r.URL, r.Header)
			}
			w.Header().Set("Content-Type", kind)
			_, _ = fmt.Fprint(w, body)
		}
	}
	elsewhere := httptest.NewServer(reply("application/json", models))
	t.Cleanup(elsewhere.Close)
	for name, tt := range map[string]struct {
		handler http.HandlerFunc
		want    []string
	}{
		"models":       {reply("application/json; charset=utf-8", models), []string{"qwen3:8b", "/my models/a.gguf"}},
		"none":         {reply("application/json", `{"object":"list","data":null}`), nil},
		"a web page":   {reply("text/html", models), nil},
		"other JSON":   {reply("application/json", `{"data":[{"id":"x","object":"model"}]}`), nil},
		"other things": {reply("application/json", `{"object":"list","data":[{"id":"x","object":"model"},{"id":"y","object":"user"}]}`), nil},
		"odd ids":      {reply("application/json", `{"object":"list","data":[{"id":"a\u001b[2J","object":"model"}]}`), nil},
		"two values":   {reply("application/json", models+models), nil},
		"too much":     {reply("application/json", models[:len(models)-1]+`,"x":"`+strings.Repeat("x", 1<<20)+`"}`), nil},
		"a refusal":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, nil},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/v1/models", http.StatusFound)
		}, nil},
		"silence": {func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(time.Minute):
			}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tt.handler)
			defer server.Close()
			begin := time.Now()
			got, err := compat.Preset{Name: "Local", BaseURL: server.URL + "/v1", Local: true}.Running(t.Context())
			if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != (tt.want != nil) {
				t.Errorf("%v %s", err, diff)
			}
			if took := time.Since(begin); took > 30*time.Second {
				t.Errorf("the check took %v", took)
			}
		})
	}
}

// A server on another machine is not asked, whatever its address says.
func TestRunningElsewhere(t *testing.T) {
	t.Parallel()
	for _, p := range []compat.Preset{
		{Name: "Remote", BaseURL: "http://127.0.0.1:1/v1"},
		{Name: "Fake", BaseURL: "http://192.0.2.1/v1", Local: true},
	} {
		if _, err := p.Running(t.Context()); err == nil || !strings.Contains(err.Error(), "not on this machine") {
			t.Errorf("%s was asked: %v", p.Name, err)
		}
	}
}
