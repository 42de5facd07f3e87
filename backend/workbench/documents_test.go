package workbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend/conversation"
)

// LOOP-47, LOOP-142, LOOP-143: the page learns from the session's events which
// documents a model was told and how much of each. The model has them.
func TestDocumentsAreShown(t *testing.T) {
	t.Parallel()
	folder, home := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(folder, "AGENTS.md"): "Use tabs." + strings.Repeat(" x", 20_000), filepath.Join(home, "AGENTS.md"): "Be kind.",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := llmtest.Serve(t, llmtest.Round{Text: "hi"})
	p := newPage(t, folder, home, environment(server, "sk-test"))
	session := p.session("openai")
	p.send(session, "hello")
	await(p, anyOf[agent.ProcessingEnd])
	var told []agent.Briefing
	for _, ev := range must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: session}).Events {
		if b, ok := ev.Data.(agent.Briefing); ok {
			told = append(told, b)
		}
	}
	if len(told) != 1 || told[0].Profile != "openai" || told[0].Size == 0 || len(told[0].System) >= int(told[0].Size) {
		t.Fatalf("%+v", told)
	}
	want := []agent.Document{
		{Path: "AGENTS.md", Size: 40_009, Told: 32 << 10}, {Path: filepath.Join(home, "AGENTS.md"), Size: 8, Told: 8},
	}
	if diff := cmp.Diff(want, told[0].Documents); diff != "" {
		t.Error(diff)
	}
	if body := string(server.Requests()[0].Body); !strings.Contains(body, "Use tabs.") || !strings.Contains(body, "Be kind.") {
		t.Error("the model was not told")
	}
}
