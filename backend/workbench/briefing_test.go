package workbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// The product tells a model who follows its work: the user of a window, the
// agent that started it, or nobody.
func TestBriefedForTheAudience(t *testing.T) {
	t.Parallel()
	const user, report, nobody = "The user sees each step", "Your last message is your report", "Nobody watches this run"
	tell := func(body string, want string) {
		t.Helper()
		for _, text := range []string{user, report, nobody} {
			if strings.Contains(body, text) != (text == want) {
				t.Errorf("%q is told wrongly; want only %q", text, want)
			}
		}
	}
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	server.Script("helper", llmtest.Round{Text: "Found."})
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look around.", nil)}})
	p.send(p.session("openai"), "go")
	child, _ := agentOf(p, "Agent")
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Wait", map[string]any{"agent_id": child})}}, llmtest.Round{Text: "Done."})
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "Done." })
	tell(asked(server, model)[0], user)
	tell(asked(server, "helper")[0], report)

	alone := llmtest.Serve(t, llmtest.Round{Text: "Done."})
	q := openPage(t, t.TempDir(), t.TempDir(), environment(alone, "sk-test"), func(s *storage.Store) backend.Store { return s },
		func(c *workbench.Config) { c.Unattended, c.ReadOnly = true, true })
	q.send(q.session("openai"), "go")
	await(q, anyOf[agent.ProcessingEnd])
	body := asked(alone, model)[0]
	tell(body, nobody)
	if !strings.Contains(body, "This run is read-only") || !strings.Contains(body, "Permission mode: default.") {
		t.Error("the mode is not told")
	}
}

// K-45: a session that continues, also in another process, is told of changes
// in the project's documents, and the beginning of its requests stays the same.
func TestBriefingIsRenewed(t *testing.T) {
	t.Parallel()
	folder, home := t.TempDir(), t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, "AGENTS.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("Use tabs.")
	server := llmtest.Serve(t, llmtest.Round{Text: "one"}, llmtest.Round{Text: "two"}, llmtest.Round{Text: "three"})
	p := newPage(t, folder, home, environment(server, "sk-test"))
	session := p.session("openai")
	p.send(session, "hello")
	await(p, anyOf[agent.ProcessingEnd])
	p.close()
	write("Use spaces.")
	p = newPage(t, folder, home, environment(server, "sk-test"))
	for range 2 {
		p.send(session, "again")
		await(p, anyOf[agent.ProcessingEnd])
	}
	bodies := asked(server, model)
	if strings.Contains(bodies[0], "Use spaces.") || !strings.Contains(bodies[1], "Use tabs.") {
		t.Error("the system prompt changed")
	}
	for _, body := range bodies[1:] {
		if strings.Count(body, "Use spaces.") != 1 {
			t.Errorf("the change is told %d times", strings.Count(body, "Use spaces."))
		}
	}
}
