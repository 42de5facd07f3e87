package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/anthropic"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/gemini"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/llm/openai"
)

func TestUnreachable(t *testing.T) {
	t.Parallel()
	closed := "http://127.0.0.1:1/v1" // a port that no server of another test gets
	tests := map[string]struct {
		url, key string
		class    llm.Class
		says     string
	}{
		"refused":      {closed, secret, llm.ClassNetwork, "could not reach " + strings.TrimSuffix(closed, "/v1")},
		"no such name": {"http://no-such-host.invalid/v1", secret, "", "no-such-host.invalid"},
		"scheme":       {"ftp://example.com", secret, llm.ClassConfig, "http or https"},
		"no address":   {"example.com/v1", secret, llm.ClassConfig, "http or https"},
		"key":          {closed, "two\nlines", llm.ClassConfig, "line break"},
	}
	each(t, func(t *testing.T, a api) {
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				model := a.adapter(tt.url, tt.key, 0)
				_, _, err := llmtest.Collect(model.Stream(t.Context(), ask("hi")))
				_, modelsErr := model.Models(t.Context())
				for _, err := range []error{err, modelsErr} {
					e := failure(t, err)
					if tt.class != "" && e.Class != tt.class {
						t.Errorf("class %s, want %s", e.Class, tt.class)
					}
					if !strings.Contains(e.Message, tt.says) {
						t.Errorf("message %q does not say %q", e.Message, tt.says)
					}
				}
			})
		}
	})
}

// LLM-35
func TestSilenceAndAbort(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, a api) {
		t.Parallel()
		server := llmtest.Serve(t, llmtest.Round{Text: "a b", Hang: true}, llmtest.Round{Text: "a b", Hang: true})
		_, _, err := llmtest.Collect(a.adapter(a.url(server), secret, time.Second).Stream(t.Context(), ask("hi")))
		if e := failure(t, err); e.Class != llm.ClassTimeout || !e.Sent {
			t.Errorf("silence gives %+v, want a timeout", e)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for ev, err := range a.adapter(a.url(server), secret, 0).Stream(ctx, ask("hi")) {
			last = err
			if ev.Type == llm.EventTextDelta {
				cancel()
			}
		}
		if e := failure(t, last); e.Class != llm.ClassAbort || e.Retryable || !errors.Is(e, context.Canceled) {
			t.Errorf("abort gives %+v", e)
		}
	})
}

func TestSlowReaderIsNotSilence(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, a api) {
		t.Parallel()
		server := llmtest.Serve(t, llmtest.Round{Text: "a b c"})
		for ev, err := range a.adapter(a.url(server), secret, 1500*time.Millisecond).Stream(t.Context(), ask("hi")) {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Type == llm.EventTextDelta {
				<-time.After(1800 * time.Millisecond)
			}
		}
	})
}

func TestBreakingOffClosesTheConnection(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, a api) {
		gone := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := a.stream(llmtest.Round{Text: "one two three four five six"}, 1)
			_, _ = w.Write([]byte(body[:len(body)*2/3]))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			close(gone)
		}))
		defer server.Close()
		for range a.adapter(server.URL, secret, 0).Stream(t.Context(), ask("hi")) {
			break
		}
		select {
		case <-gone:
		case <-time.After(10 * time.Second):
			t.Error("the connection stayed open")
		}
	})
}

// OAS-704: no error shows the key, whole, quoted or masked.
func TestKeyIsInNoError(t *testing.T) {
	t.Parallel()
	echo := "Incorrect API key provided: " + secret + ", or sk-sec*******6789"
	quoted, err := json.Marshal(echo)
	if err != nil {
		t.Fatal(err)
	}
	rounds := []llmtest.Round{
		{Status: 401, Body: `{"error":{"message":` + string(quoted) + `,"code":` + string(quoted) + `}}`},
		{Status: 500, Body: echo},
		{Status: 502, Body: "<title>" + echo + "</title>"},
		{Body: `{"error":` + string(quoted) + `}`},
	}
	each(t, func(t *testing.T, a api) {
		inStream := []llmtest.Round{
			{Body: a.event("error", `{"error":{"message":`+string(quoted)+`}}`)},
			{Body: a.event("error", `{"type":"error","message":`+string(quoted)+`}`)},
			{Body: a.event("error", echo)},
		}
		for _, r := range append(inStream, rounds...) {
			server := llmtest.Serve(t, r)
			_, _, err := llmtest.Collect(a.adapter(a.url(server), secret, 0).Stream(t.Context(), ask("hi")))
			for e := err; e != nil; e = errors.Unwrap(e) {
				if text := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(text, "secret") || strings.Contains(text, "sk-sec") {
					t.Errorf("the key is in %s", text)
				}
			}
			if err == nil {
				t.Errorf("%+v gave no error", r)
			}
		}
		withPassword := "http://user:" + "hidden-password" + "@127.0.0.1:1/v1"
		_, _, err := llmtest.Collect(a.adapter(withPassword, "", 0).Stream(t.Context(), ask("hi")))
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(fmt.Sprintf("%v %+v", e, e), "hidden-password") {
				t.Errorf("the password is in %v", e)
			}
		}
	})
}

// LLM-02: an adapter does not read the environment of the process.
func TestEnvironmentDoesNotLeak(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET",
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_ORGANIZATION_ID",
		"GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"} {
		t.Setenv(name, "leak-me")
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/leak-me")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: leak-me")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/leak-me")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Leak: leak-me")
	t.Setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1/leak-me")
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	var logged bytes.Buffer
	log.SetOutput(&logged)
	t.Cleanup(func() {
		log.SetOutput(os.Stderr)
		if logged.Len() > 0 {
			t.Errorf("logged: %s", &logged)
		}
	})
	each(t, func(t *testing.T, a api) {
		server := llmtest.Serve(t, llmtest.Round{Text: "ok"}, llmtest.Round{Text: "ok"})
		for _, key := range []string{"", secret} {
			if _, _, err := llmtest.Collect(a.adapter(a.url(server), key, 0).Stream(t.Context(), ask("hi"))); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := a.adapter(a.url(server), "", 0).Models(t.Context()); err != nil {
			t.Fatal(err)
		}
		requests := server.Requests()
		for _, r := range requests {
			var head bytes.Buffer
			_ = r.Header.Write(&head)
			if strings.Contains(strings.ToLower(head.String()+string(r.Body)), "leak") {
				t.Errorf("the environment reached the server: %s", head.String())
			}
		}
		if got := requests[0].Header.Values(a.authorization); got != nil {
			t.Errorf("without a key, %s is %q", a.authorization, got)
		}
		if got := requests[1].Header.Get(a.authorization); got != a.scheme+secret {
			t.Errorf("with a key, %s is %q", a.authorization, got)
		}
	})
}

func TestModels(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, a api) {
		for body, want := range map[string][]string{
			`{"data":[{"id":"b"},{"id":"a"}]}`: {"a", "b"},
			`[{"id":"a"}]`:                     {"a"},
			`{"data":[]}`:                      {},
			`<html>`:                           nil,
		} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(body))
			}))
			got, err := a.adapter(server.URL, secret, 0).Models(t.Context())
			server.Close()
			if want == nil {
				if e := failure(t, err); e.Class != llm.ClassConfig {
					t.Errorf("%s: class %s", body, e.Class)
				}
				continue
			}
			if diff := cmp.Diff(want, llmtest.IDs(got)); diff != "" || err != nil {
				t.Errorf("%s: %v\n%s", body, err, diff)
			}
		}
	})
}

// LLM-17: the common part of two consecutive requests is equal, byte for byte.
func TestPrefixIsStable(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"zebra":{"type":"string"},"apple":{"type":"number","maximum":9007199254740993}},"required":["zebra"]}`)
	each(t, func(t *testing.T, a api) {
		server := llmtest.Serve(t,
			llmtest.Round{Reasoning: "a <b> c", Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"z": "<&>", "a": 1})}},
			llmtest.Round{Text: "done"})
		model := a.adapter(a.url(server), secret, 0)
		req := ask("read it")
		req.System, req.Effort, req.CacheKey = "Be brief.", llm.EffortLow, "session"
		req.Tools = []llm.ToolSpec{{Name: "Read", Description: "reads <b>", Schema: schema}}
		_, answer, err := llmtest.Collect(model.Stream(t.Context(), req))
		if err != nil {
			t.Fatal(err)
		}
		call := answer.Message.Calls()[0]
		req.Messages = append(req.Messages, answer.Message, llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{
			Kind: llm.PartToolResult,
			Result: &llm.ToolResult{
				CallID: call.ID, WireID: call.WireID, Name: call.Name,
				Parts: []llm.Part{{Kind: llm.PartText, Text: "content"}},
			},
		}}})
		if _, _, err := llmtest.Collect(model.Stream(t.Context(), req)); err != nil {
			t.Fatal(err)
		}
		first, second := fields(t, server.Requests()[0].Body), fields(t, server.Requests()[1].Body)
		for name, value := range first {
			if name != a.history && !bytes.Equal(value, second[name]) {
				t.Errorf("%s changed from %s to %s", name, value, second[name])
			}
		}
		if !bytes.Contains(first["tools"], schema) {
			t.Errorf("the schema's bytes changed: %s", first["tools"])
		}
		history := a.history
		shared := bytes.TrimSuffix(first[history], []byte("]"))
		if !bytes.HasPrefix(second[history], shared) {
			t.Errorf("the history changed from %s to %s", first[history], second[history])
		}
		if !bytes.Contains(second[history], []byte(call.WireID)) || bytes.Contains(second[history], []byte(call.ID)) {
			t.Errorf("calls must be named by the provider's id: %s", second[history])
		}
	})
}

func fields(t *testing.T, body []byte) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("request body %s: %v", body, err)
	}
	return m
}

// The headers that an adapter is given are sent with every request of every
// kind.
func TestHeader(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{}, llmtest.Round{}, llmtest.Round{}, llmtest.Round{})
	cfg := llm.AdapterConfig{BaseURL: server.URL, APIKey: secret, Header: http.Header{"X-Project": {"shop"}}}
	atRoot := cfg
	atRoot.BaseURL = server.Root
	for _, a := range []adapter{openai.New(cfg), compat.New(cfg), anthropic.New(cfg), gemini.New(atRoot)} {
		if _, _, err := llmtest.Collect(a.Stream(t.Context(), ask("hi"))); err != nil {
			t.Error(err)
		}
		if _, err := a.Models(t.Context()); err != nil {
			t.Error(err)
		}
	}
	requests := server.AllRequests()
	for _, r := range requests {
		if got := r.Header.Values("X-Project"); len(got) != 1 || got[0] != "shop" {
			t.Errorf("%s was sent %q", r.Path, got)
		}
	}
	if len(requests) != 8 {
		t.Errorf("%d requests", len(requests))
	}
}
