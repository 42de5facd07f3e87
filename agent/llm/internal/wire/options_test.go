package wire_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// sent sends one request and returns it.
func sent(t *testing.T, a api, req llm.Request) (llmtest.Request, *llm.Answer) {
	t.Helper()
	server := llmtest.Serve(t, llmtest.Round{Text: "{}"})
	_, got, err := llmtest.Collect(a.adapter(a.url(server), secret, 0).Stream(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	return server.Requests()[0], got
}

// LLM-39: each choice is sent in each provider's form, and the tools stay in
// the request even if none may be called.
func TestToolChoice(t *testing.T) {
	t.Parallel()
	want := map[string]map[llm.ToolMode]string{
		"responses": {
			"": ``, llm.ToolAuto: `"auto"`, llm.ToolNone: `"none"`, llm.ToolRequired: `"required"`,
			llm.ToolNamed: `{"name":"Look","type":"function"}`,
		},
		"chat": {
			"": ``, llm.ToolAuto: `"auto"`, llm.ToolNone: `"none"`, llm.ToolRequired: `"required"`,
			llm.ToolNamed: `{"function":{"name":"Look"},"type":"function"}`,
		},
		"messages": {
			"": ``, llm.ToolAuto: `{"type":"auto"}`, llm.ToolNone: `{"type":"none"}`, llm.ToolRequired: `{"type":"any"}`,
			llm.ToolNamed: `{"name":"Look","type":"tool"}`,
		},
		"generate": {
			"": ``, llm.ToolAuto: `{"functionCallingConfig":{"mode":"AUTO"}}`, llm.ToolNone: `{"functionCallingConfig":{"mode":"NONE"}}`,
			llm.ToolRequired: `{"functionCallingConfig":{"mode":"ANY"}}`,
			llm.ToolNamed:    `{"functionCallingConfig":{"allowedFunctionNames":["Look"],"mode":"ANY"}}`,
		},
	}
	each(t, func(t *testing.T, a api) {
		field := "tool_choice"
		if a.name == "generate" {
			field = "toolConfig"
		}
		for mode, choice := range want[a.name] {
			req := ask("hi")
			req.Tools = []llm.ToolSpec{{Name: "Look", Description: "looks", Schema: json.RawMessage(`{"type":"object"}`)}}
			req.ToolChoice = llm.ToolChoice{Mode: mode, Tool: "Look"}
			r, _ := sent(t, a, req)
			body := members(t, r.Body)
			if diff := cmp.Diff(choice, canonical(t, body[field])); diff != "" {
				t.Errorf("%q: %s", mode, diff)
			}
			if body["tools"] == nil {
				t.Errorf("%q: the tools are gone", mode)
			}
		}
	})
}

// LLM-34: the schema of an answer is sent in the provider's own form.
func TestFormat(t *testing.T) {
	t.Parallel()
	const schema = `{"properties":{"n":{"type":"integer"}},"type":"object"}`
	want := map[string]map[string]string{
		"responses": {"text": `{"format":{"name":"answer","schema":` + schema + `,"type":"json_schema"}}`},
		"chat":      {"response_format": `{"json_schema":{"name":"answer","schema":` + schema + `},"type":"json_schema"}`},
		"messages":  {"output_config": `{"format":{"schema":` + schema + `,"type":"json_schema"}}`},
		"generate":  {"generationConfig": `{"responseJsonSchema":` + schema + `,"responseMimeType":"application/json"}`},
	}
	each(t, func(t *testing.T, a api) {
		req := ask("hi")
		req.Format = &llm.Format{Name: "answer", Schema: json.RawMessage(schema)}
		r, _ := sent(t, a, req)
		body := members(t, r.Body)
		for field, value := range want[a.name] {
			if diff := cmp.Diff(value, canonical(t, body[field])); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// LLM-08, LLM-25: a caller's headers and members are sent, with several values
// of a header joined by commas, and override the adapter's.
func TestCallersOwn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, a api) {
		req := ask("hi")
		req.Tools = []llm.ToolSpec{{Name: "Look", Schema: json.RawMessage(`{"type":"object"}`)}}
		req.Temperature, req.TopP, req.Stop = new(0.25), new(0.5), []string{"END"}
		req.Header = http.Header{"Anthropic-Beta": {"one", "two"}}
		req.Body = map[string]json.RawMessage{
			"metadata": json.RawMessage(`{"user_id":"u1"}`), "tools": json.RawMessage(`[{"type":"web_search"}]`),
		}
		r, _ := sent(t, a, req)
		if got := r.Header.Get("Anthropic-Beta"); got != "one,two" {
			t.Errorf("header %q", got)
		}
		body := members(t, r.Body)
		if got := canonical(t, body["metadata"]); got != `{"user_id":"u1"}` {
			t.Errorf("metadata %s", got)
		}
		if got := canonical(t, body["tools"]); got != `[{"type":"web_search"}]` {
			t.Errorf("tools %s", got)
		}
		if a.name == "generate" {
			body = members(t, body["generationConfig"])
			body["top_p"] = body["topP"]
		}
		if string(body["temperature"]) != "0.25" || string(body["top_p"]) != "0.5" {
			t.Errorf("sampling: %s %s", body["temperature"], body["top_p"])
		}
	})
}

// LLM-16: caching can be switched off where it has to be requested.
func TestNoCache(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, a api) {
		req := ask("hi")
		req.System, req.CacheKey = "be brief", "session"
		marked, _ := sent(t, a, req)
		req.NoCache = true
		plain, _ := sent(t, a, req)
		asks := a.name == "messages" || a.name == "responses" // the others always cache
		if cached(marked.Body) != asks || cached(plain.Body) {
			t.Errorf("marked: %s\nplain: %s", marked.Body, plain.Body)
		}
	})
}

func cached(body []byte) bool {
	s := string(body)
	return strings.Contains(s, "cache_control") || strings.Contains(s, "prompt_cache_key")
}

// A key that a server echoes in a header is in no error.
func TestKeyIsInNoRequestID(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, a api) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Request-Id", "for "+r.Header.Get(a.authorization))
			w.WriteHeader(http.StatusInternalServerError)
		}))
		defer server.Close()
		_, _, err := llmtest.Collect(a.adapter(server.URL, secret, 0).Stream(t.Context(), ask("hi")))
		if e := failure(t, err); strings.Contains(e.RequestID, secret) || !strings.Contains(e.RequestID, "[key]") {
			t.Errorf("request %q", e.RequestID)
		}
	})
}

// LLM-32: a provider's report on the key's allowance comes with the answer.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	reset := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	tests := map[string]struct {
		header map[string]string
		want   *llm.RateLimit
	}{
		"none":      {map[string]string{}, nil},
		"half":      {map[string]string{"x-ratelimit-limit-tokens": "100"}, nil},
		"nonsense":  {map[string]string{"x-ratelimit-limit-tokens": "many", "x-ratelimit-remaining-tokens": "few"}, nil},
		"no moment": {map[string]string{"x-ratelimit-limit-tokens": "9", "x-ratelimit-remaining-tokens": "3", "x-ratelimit-reset-tokens": "soon"}, &llm.RateLimit{Tokens: &llm.Allowance{Limit: 9, Remaining: 3}}},
		"openai": {
			map[string]string{
				"x-ratelimit-limit-requests": "500", "x-ratelimit-remaining-requests": "499",
				"x-ratelimit-limit-tokens": "30000", "x-ratelimit-remaining-tokens": "29000",
			},
			&llm.RateLimit{Requests: &llm.Allowance{Limit: 500, Remaining: 499}, Tokens: &llm.Allowance{Limit: 30000, Remaining: 29000}},
		},
		"anthropic": {
			map[string]string{
				"anthropic-ratelimit-input-tokens-limit": "80000", "anthropic-ratelimit-input-tokens-remaining": "79000",
				"anthropic-ratelimit-input-tokens-reset": reset.Format(time.RFC3339),
			},
			&llm.RateLimit{Tokens: &llm.Allowance{Limit: 80000, Remaining: 79000, ResetAt: reset.UnixMilli()}},
		},
	}
	each(t, func(t *testing.T, a api) {
		for name, tt := range tests {
			server := llmtest.Serve(t, llmtest.Round{Text: "hi", Header: tt.header})
			_, got, err := llmtest.Collect(a.adapter(a.url(server), secret, 0).Stream(t.Context(), ask("hi")))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.RateLimit); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
}

func members(t *testing.T, object []byte) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(object, &m); err != nil {
		t.Fatalf("%v in %s", err, object)
	}
	return m
}

// canonical returns a JSON value with sorted keys; empty if there is none.
func canonical(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	if raw == nil {
		return ""
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
