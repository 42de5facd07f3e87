package fetch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/fetch"
)

// What cannot be fetched is refused before anybody is asked about it.
func TestArguments(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://go.dev/doc":                   "",
		"http://[2606:4700::1]:8080/":          "",
		"https://xn--bcher-kva.example/":       "",
		"":                                     "not a whole one",
		"go.dev":                               "not a whole one",
		"https:///x":                           "not a whole one",
		"mailto:a@b.example":                   "not a whole one",
		"https://a b.example":                  "not a whole one",
		"ftp://go.dev/":                        "only addresses with http",
		"file:///etc/passwd":                   "not a whole one",
		"file://host/etc/passwd":               "only addresses with http",
		"https://a:b@go.dev/":                  "leave them out",
		"https://go.dev:99999/":                "port",
		"https://bücher.example/":              "ASCII form",
		"https://go.dev./":                     "cannot be fetched",
		"https://go.dev%00.evil/":              "not a whole one",
		"https://" + strings.Repeat("a", 3000): "more than 2000",
	} {
		raw, err := json.Marshal(fetch.Input{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		check(t, url, raw, want)
	}
	for in, want := range map[string]string{
		`{"url":"https://go.dev","offset":-1}`:                                    "negative",
		`{"url":"https://go.dev","headers":{"Cookie":"a"}}`:                       "cannot be sent",
		`{"url":"https://go.dev","headers":{"authorization":"a"}}`:                "cannot be sent",
		`{"url":"https://go.dev","headers":{"accept":"a\r\nCookie: b"}}`:          "control character",
		`{"url":"https://go.dev","headers":{"accept":"application/json"}}`:        "",
		`{"url":"https://go.dev","prompt":"` + strings.Repeat("a", 10_001) + `"}`: "characters",
	} {
		check(t, in, json.RawMessage(in), want)
	}
}

func check(t *testing.T, what string, raw json.RawMessage, want string) {
	t.Helper()
	err := fetch.Tool(fetch.Config{}).(agent.Validator).Validate(raw)
	if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%.100s: %v, want %q", what, err, want)
	}
}

// K-04, K-43: what models of any vendor write is the same call, and the gate judges the
// host that is asked.
func TestForms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ profile, in, url, prompt, host string }{
		"Claude":              {"anthropic", `{"url":"https://go.dev/doc#x","prompt":"What?"}`, "https://go.dev/doc", "What?", "go.dev"},
		"without a scheme":    {"anthropic", `{"url":"go.dev/doc"}`, "https://go.dev/doc", "", "go.dev"},
		"another script":      {"openai", `{"url":"http://BÜCHER.example:8080/ä"}`, "http://xn--bcher-kva.example:8080/%C3%A4", "", "xn--bcher-kva.example"},
		"Gemini, in a prompt": {"gemini", `{"prompt":"Sum up https://go.dev/doc."}`, "https://go.dev/doc", "Sum up https://go.dev/doc.", "go.dev"},
		"Gemini, alone":       {"gemini", `{"prompt":"https://go.dev/doc"}`, "https://go.dev/doc", "", "go.dev"},
		"IPv6":                {"spec", `{"url":"http://[::1]:80/"}`, "http://[::1]:80/", "", "::1"},
	} {
		raw, err := fetch.Tool(fetch.Config{}).Spec().Bindings[c.profile][0].Input(json.RawMessage(c.in))
		if err != nil {
			t.Fatal(err)
		}
		var got fetch.Input
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		access := fetch.Tool(fetch.Config{}).(agent.Accessor).Access(t.Context(), raw)
		if got.URL != c.url || got.Prompt != c.prompt || access.Web != c.host {
			t.Errorf("%s: %+v, %+v", name, got, access)
		}
	}
	for _, in := range []string{`{"prompt":"nothing"}`, `{"prompt":"https://a.example and https://b.example"}`} {
		if raw, err := fetch.Tool(fetch.Config{}).Spec().Bindings["gemini"][0].Input(json.RawMessage(in)); err == nil {
			t.Errorf("%s became %s", in, raw)
		}
	}
}
