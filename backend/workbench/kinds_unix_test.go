//go:build unix

package workbench_test

import (
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/agents"
)

// OAS-505: all files of agents are listed with what is wrong with them: one that cannot be read
// hides no other, and keys without effect are named.
func TestKindsOfAgents(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), everyProvider(llmtest.Serve(t)))
	for name, text := range map[string]string{
		"good":   "---\nname: good\ndescription: Reviews.\n---\nBe strict.",
		"broken": "no frontmatter",
		"odd":    "---\nname: odd\ndescription: Odd.\ntools: Read, Frobnicate\nmemory: user\n---\n",
		"none":   "---\nname: none\ndescription: None.\ntools: " + strings.Repeat("Nope, ", 200) + "Nope\n---\n",
		"hooked": "---\nname: hooked\ndescription: Hooked.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: echo\n---\n",
	} {
		put(t, filepath.Join(p.folder, ".claude/agents", name+".md"), text)
	}
	found := map[string]agents.AgentKind{}
	for _, kind := range must[agents.AgentKinds](p, "agents.kinds", backend.Empty{}).Kinds {
		name := strings.TrimSuffix(filepath.Base(kind.File), ".md")
		if kind.File == "" {
			name = kind.Name
		}
		found[name] = kind
	}
	for name, want := range map[string]struct{ use, finding string }{
		"Explore": {agents.KindUsable, ""}, "good": {agents.KindUsable, ""}, "broken": {agents.KindBroken, "agent_no_front"},
		"odd": {agents.KindUsable, "agent_no_effect"}, "none": {agents.KindBroken, "agent_no_tools"}, "hooked": {agents.KindWaiting, ""},
	} {
		got, ids := found[name], ""
		for _, f := range found[name].Findings {
			ids += f.ID + " "
		}
		if got.Use != want.use || !strings.Contains(ids, want.finding) {
			t.Errorf("%s is %s with %s, want %+v", name, got.Use, ids, want)
		}
	}
}
