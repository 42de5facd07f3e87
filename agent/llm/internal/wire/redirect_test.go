package wire_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/anthropic"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/gemini"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/llm/openai"
)

// A key does not follow a redirect to another host.
func TestNoRedirectToAnotherHost(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(elsewhere.Close)
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	each(t, func(t *testing.T, a api) {
		model := a.adapter(server.URL, secret, 0)
		_, _, err := llmtest.Collect(model.Stream(t.Context(), ask("hi")))
		_, modelsErr := model.Models(t.Context())
		for _, err := range []error{err, modelsErr} {
			if e := failure(t, err); e.Class != llm.ClassConfig || e.Retryable || reached.Load() {
				t.Errorf("got %v, reached: %v", e, reached.Load())
			}
		}
	})
}

// redirects is a network in which every address redirects to the same one.
type redirects struct {
	to      string
	reached []string // addresses that received a key
}

func (n *redirects) RoundTrip(req *http.Request) (*http.Response, error) {
	for _, values := range req.Header {
		if strings.Contains(strings.Join(values, ""), secret) {
			n.reached = append(n.reached, req.URL.Scheme+"://"+req.URL.Host)
		}
	}
	w := httptest.NewRecorder()
	if len(n.reached) == 1 {
		w.Header().Set("Location", n.to)
		w.WriteHeader(http.StatusPermanentRedirect)
	}
	return w.Result(), nil
}

// A redirect is followed only within an origin, with any client: one from https
// to http would show the key and the conversation to everybody on the way.
func TestRedirectsStayWithinTheOrigin(t *testing.T) {
	t.Parallel()
	for to, follow := range map[string]bool{
		"https://api.example.com/elsewhere":     true,
		"http://api.example.com/":               false,
		"http://api.example.com:443/":           false,
		"https://api.example.com:444/":          false,
		"https://user@evil.example.com/":        false,
		"https://api.example.com.evil.example/": false,
	} {
		for _, models := range []bool{false, true} {
			for _, make := range []func(llm.AdapterConfig) adapter{
				func(c llm.AdapterConfig) adapter { return openai.New(c) }, func(c llm.AdapterConfig) adapter { return compat.New(c) },
				func(c llm.AdapterConfig) adapter { return anthropic.New(c) }, func(c llm.AdapterConfig) adapter { return gemini.New(c) },
			} {
				network := &redirects{to: to}
				model := make(llm.AdapterConfig{BaseURL: "https://api.example.com", APIKey: secret, HTTPClient: &http.Client{Transport: network}})
				var err error
				if models {
					_, err = model.Models(t.Context())
				} else {
					_, _, err = llmtest.Collect(model.Stream(t.Context(), ask("hi")))
				}
				want := []string{"https://api.example.com"}
				if follow {
					want = append(want, want[0])
				}
				if strings.Join(network.reached, " ") != strings.Join(want, " ") {
					t.Errorf("%s: redirected to %s, the key reached %v", model.Name(), to, network.reached)
				}
				if e := failure(t, err); !follow && (e.Class != llm.ClassConfig || e.Retryable) {
					t.Errorf("%s: %s gives %v", model.Name(), to, e)
				}
			}
		}
	}
}
