package compat_test

import (
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/llmtest"
)

func preset(t *testing.T, id string) compat.Preset {
	t.Helper()
	presets := compat.Presets()
	i := slices.IndexFunc(presets, func(p compat.Preset) bool { return p.ID == id })
	if i < 0 {
		t.Fatalf("there is no preset %q", id)
	}
	return presets[i]
}

// COM-50 OAS-709: the well-known endpoints have the right addresses.
func TestPresets(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"openrouter": "https://openrouter.ai/api/v1", "deepseek": "https://api.deepseek.com",
		"glm": "https://open.bigmodel.cn/api/paas/v4", "zai": "https://api.z.ai/api/paas/v4",
		"groq": "https://api.groq.com/openai/v1", "xai": "https://api.x.ai/v1", "mistral": "https://api.mistral.ai/v1",
		"moonshot": "https://api.moonshot.ai/v1", "qwen": "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
		"minimax": "https://api.minimax.io/v1", "cerebras": "https://api.cerebras.ai/v1", "together": "https://api.together.xyz/v1",
		"fireworks": "https://api.fireworks.ai/inference/v1", "huggingface": "https://router.huggingface.co/v1",
		"ollama": "http://localhost:11434/v1", "llamacpp": "http://127.0.0.1:8080/v1", "lmstudio": "http://localhost:1234/v1",
	}
	got, variables := map[string]string{}, map[string]bool{}
	for _, p := range compat.Presets() {
		got[p.ID] = p.BaseURL
		for _, v := range append(p.KeyVariables, p.URLVariable) {
			if v == "" || variables[v] {
				t.Errorf("%s: the variable %q is missing or another's too", p.ID, v)
			}
			variables[v] = true
		}
		u, err := url.Parse(p.BaseURL)
		if err != nil || p.Name == "" || !p.Local && p.BaseURL != "" && u.Scheme != "https" {
			t.Errorf("%+v", p)
		}
		if name := p.New(compat.Config{}).Name(); name != p.ID {
			t.Errorf("%s is called %s", p.ID, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// sent sends one request and returns it.
func sent(t *testing.T, server *llmtest.Server, a llm.Adapter, req llm.Request) llmtest.Request {
	t.Helper()
	req.Model = llmtest.ModelID
	server.Add(llmtest.Round{Text: "ok"})
	if _, _, err := llmtest.Collect(a.Stream(t.Context(), req)); err != nil {
		t.Fatal(err)
	}
	requests := server.Requests()
	return requests[len(requests)-1]
}

// settings returns the members of a request except its model and messages.
func settings(t *testing.T, r llmtest.Request) string {
	t.Helper()
	var body map[string]json.RawMessage
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"model", "messages", "stream"} {
		delete(body, name)
	}
	out, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// LLM-04 LOOP-16: the cap, the effort and the request for usage are sent in
// each endpoint's own form, and left out if it would refuse them.
func TestSettings(t *testing.T) {
	t.Parallel()
	const usage = `"stream_options":{"include_usage":true}`
	toggle := llm.ReasoningControl{Modes: []llm.ReasoningMode{llm.ReasoningToggle}}
	levels := llm.ReasoningControl{Modes: []llm.ReasoningMode{llm.ReasoningEffort}, Levels: []llm.Effort{llm.EffortLow, llm.EffortHigh, llm.EffortMax}}
	both := levels
	both.Modes = append([]llm.ReasoningMode{llm.ReasoningToggle}, levels.Modes...)
	unknown := llm.ReasoningControl{}
	for _, tt := range []struct {
		preset  string
		effort  llm.Effort
		control llm.ReasoningControl
		cap     int
		want    string
	}{
		{"openrouter", "", unknown, 9, `{"max_tokens":9,` + usage + `}`},
		{"openrouter", llm.EffortMax, unknown, 0, `{"reasoning":{"effort":"max"},` + usage + `}`},
		{"openrouter", llm.EffortNone, unknown, 0, `{"reasoning":{"effort":"none"},` + usage + `}`},
		{"openrouter", llm.EffortLow, toggle, 0, `{"reasoning":{"enabled":true},` + usage + `}`},
		{"deepseek", llm.EffortMedium, both, 9, `{"max_tokens":9,"reasoning_effort":"low",` + usage + `,"thinking":{"type":"enabled"}}`},
		{"deepseek", llm.EffortNone, both, 0, `{` + usage + `,"thinking":{"type":"disabled"}}`},
		{"deepseek", llm.EffortMax, unknown, 0, `{"reasoning_effort":"max",` + usage + `,"thinking":{"type":"enabled"}}`},
		{"glm", llm.EffortHigh, toggle, 0, `{` + usage + `,"thinking":{"type":"enabled"}}`},
		{"glm", llm.EffortMinimal, toggle, 0, `{` + usage + `,"thinking":{"type":"disabled"}}`},
		{"zai", llm.EffortNone, levels, 0, `{"reasoning_effort":"low",` + usage + `}`}, // it cannot be switched off
		{"groq", llm.EffortHigh, levels, 9, `{"max_completion_tokens":9,"reasoning_effort":"high",` + usage + `}`},
		{"groq", llm.EffortHigh, toggle, 0, `{` + usage + `}`}, // it thinks anyway
		{"groq", llm.EffortNone, toggle, 0, `{"reasoning_effort":"none",` + usage + `}`},
		{"xai", llm.EffortLow, unknown, 9, `{"max_completion_tokens":9,"reasoning_effort":"low",` + usage + `}`},
		{"mistral", llm.EffortMax, unknown, 9, `{"max_tokens":9,"reasoning_effort":"high"}`},
		{"moonshot", llm.EffortMedium, levels, 9, `{"max_tokens":9,"reasoning_effort":"low",` + usage + `}`},
		{"moonshot", llm.EffortNone, toggle, 0, `{` + usage + `,"thinking":{"type":"disabled"}}`},
		{"qwen", llm.EffortHigh, toggle, 9, `{"enable_thinking":true,"max_tokens":9,` + usage + `}`},
		{"qwen", llm.EffortNone, toggle, 0, `{"enable_thinking":false,` + usage + `}`},
		{"qwen", llm.EffortMax, levels, 0, `{"reasoning_effort":"max",` + usage + `}`},
		{"qwen", llm.EffortHigh, unknown, 0, `{"enable_thinking":true,` + usage + `}`},
		{"qwen", "", unknown, 0, `{` + usage + `}`},
		{"cerebras", llm.EffortLow, unknown, 9, `{"max_completion_tokens":9,"reasoning_effort":"low",` + usage + `}`},
		{"ollama", llm.EffortMinimal, unknown, 9, `{"max_tokens":9,"reasoning_effort":"none",` + usage + `}`},
		{"ollama", llm.EffortXHigh, unknown, 0, `{"reasoning_effort":"high",` + usage + `}`},
		{"llamacpp", llm.EffortHigh, unknown, 9, `{"chat_template_kwargs":{"enable_thinking":true,"reasoning_effort":"high"},"max_tokens":9,` + usage + `}`},
		{"llamacpp", llm.EffortNone, unknown, 0, `{"chat_template_kwargs":{"enable_thinking":false},` + usage + `}`},
		{"lmstudio", llm.EffortLow, unknown, 9, `{"max_tokens":9,"reasoning_effort":"low",` + usage + `}`},
	} {
		server := llmtest.Serve(t)
		a := preset(t, tt.preset).New(compat.Config{BaseURL: server.URL})
		got := settings(t, sent(t, server, a, llm.Request{Effort: tt.effort, Reasoning: tt.control, MaxOutput: tt.cap}))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s at %q: %s", tt.preset, tt.effort, diff)
		}
	}
}

// LLM-08: members that a caller adds to a request are sent beside the dialect's
// own, or in their place.
func TestOwnMembers(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	a := preset(t, "deepseek").New(compat.Config{BaseURL: server.URL})
	for _, tt := range []struct{ name, value, want string }{
		{"top_k", `1`, `"thinking":{"type":"disabled"},"top_k":1}`},
		{"thinking", `"mine"`, `"thinking":"mine"}`},
	} {
		req := llm.Request{Effort: llm.EffortNone}
		req.Options.Body = map[string]json.RawMessage{tt.name: json.RawMessage(tt.value)}
		if got := settings(t, sent(t, server, a, req)); !strings.HasSuffix(got, tt.want) {
			t.Errorf("with %s: %s", tt.name, got)
		}
	}
}

// OAS-705 OAS-709: an endpoint whose host is known gets the host's dialect,
// whatever its name.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ adapter, address, want string }{
		{"deepseek", "", "https://api.deepseek.com/chat/completions"},
		{"glm", "", "https://open.bigmodel.cn/api/paas/v4/chat/completions"},
		{"compat", "https://api.deepseek.com/v1", "https://api.deepseek.com/v1/chat/completions"},
		{"compat", "http://gateway.example/v1", "http://gateway.example/v1/chat/completions"},
	} {
		record := &recorder{}
		cfg := compat.Config{BaseURL: tt.address, APIKey: "the-secret-key", HTTPClient: record.client()}
		a := compat.New(cfg)
		if tt.adapter != "compat" {
			a = preset(t, tt.adapter).New(cfg)
		}
		_, _, _ = llmtest.Collect(a.Stream(t.Context(), llm.Request{Model: "m", Effort: llm.EffortHigh})) // the recorder refuses
		if record.url != tt.want {
			t.Errorf("%s at %q asks %s", tt.adapter, tt.address, record.url)
		}
		isDeepSeek := strings.Contains(tt.address+tt.adapter, "deepseek")
		if isDeepSeek != strings.Contains(record.body, `"thinking"`) && tt.adapter != "glm" || record.header.Get("Authorization") != "Bearer the-secret-key" {
			t.Errorf("%s at %q is sent %s with %v", tt.adapter, tt.address, record.body, record.header)
		}
	}
}

// Settings lead to the page where each endpoint issues keys.
func TestKeyPages(t *testing.T) {
	t.Parallel()
	pages, err := os.ReadFile("../../../frontend/src/lib/settings/keyPages.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range compat.Presets() {
		if has := regexp.MustCompile(`(?m)^  ` + p.ID + `: 'https://`).Match(pages); has == p.Local {
			t.Errorf("%s: a page of keys: %v", p.ID, has)
		}
	}
}
