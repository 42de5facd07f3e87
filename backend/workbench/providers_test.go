package workbench_test

import (
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/models"
)

// LLM-51 LLM-52: a key in the environment is enough for a first session with
// its provider, which is sent the catalogue's facts about the model.
func TestFirstSession(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		keyVar, urlVar  string
		provider, model string
		header          string
		sent            []string
	}{
		"Anthropic": {
			"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "anthropic", "claude-sonnet-5-5", "X-Api-Key",
			[]string{`"max_tokens":128000`, `"model":"claude-sonnet-5-5"`, `"type":"adaptive"`, `"cache_control"`},
		},
		"Gemini": {
			"GEMINI_API_KEY", "GEMINI_BASE_URL", "gemini", "gemini-4-argon", "X-Goog-Api-Key",
			[]string{`"includeThoughts":true`, `"functionDeclarations"`},
		},
		"Gemini by Google's other name": {
			"GOOGLE_API_KEY", "GEMINI_BASE_URL", "gemini", "gemini-4-argon", "X-Goog-Api-Key", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t, llmtest.Round{Text: "Hello."})
			env := map[string]string{tt.keyVar: "the-secret-key", tt.urlVar: server.Root}
			p := newPage(t, t.TempDir(), t.TempDir(), func(name string) string { return env[name] })
			info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
			p.send(info.ID, "hi")
			end := await(p, func(agent.TextEnd) bool { return true })
			if end.Provider != tt.provider || end.Model != tt.model || end.Message.Text() != "Hello." {
				t.Errorf("%s/%s answers %q", end.Provider, end.Model, end.Message.Text())
			}
			r := server.Requests()[0]
			if got := r.Header.Get(tt.header); got != "the-secret-key" {
				t.Errorf("key %q", got)
			}
			for _, want := range append(tt.sent, "hi") {
				if !strings.Contains(string(r.Body), want) {
					t.Errorf("%s is missing in %s", want, r.Body)
				}
			}
			await(p, func(agent.ProcessingEnd) bool { return true })
		})
	}
}

// K-20: a pause that one session was told holds for every session. A new key is
// used at once.
func TestSessionsShareAPause(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Status: 429, RetryAfter: time.Minute}, llmtest.Round{Text: "Hi."})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, ""))
	ask := func() agent.EndReason {
		t.Helper()
		p.send(p.session("compat"), "hello")
		return await(p, anyOf[agent.ProcessingEnd]).Reason
	}
	first, second := ask(), ask()
	asked := 0
	for _, r := range server.Requests() { // which are asked for their models too
		if strings.HasSuffix(r.Path, "/completions") {
			asked++
		}
	}
	if first != agent.EndFailed || second != agent.EndFailed || asked != 1 {
		t.Errorf("ended as %s and %s after %d requests", first, second, asked)
	}
	must[models.KeyList](p, "keys.set", models.SetKeyRequest{Provider: "compat", Key: "sk-another"})
	if got := ask(); got != agent.EndDone {
		t.Errorf("with another key the turn ended as %s", got)
	}
}
