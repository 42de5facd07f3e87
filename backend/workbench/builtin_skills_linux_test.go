package workbench_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

// OAS-802, OAS-803: the built-in skills read the state of the repository before they are sent, and
// nobody is asked about that.
func TestBuiltInSkillsKnowTheRepository(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "Nothing to commit."}, llmtest.Round{Text: "Reviewed."})
	folder := t.TempDir()
	put(t, filepath.Join(folder, "a.txt"), "one\n")
	for _, args := range []string{"init -q -b topic", "add .", "-c user.name=x -c user.email=x@y commit -qm docs:+begin"} {
		cmd := exec.CommandContext(t.Context(), "git", strings.Fields(args)...)
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v %s", args, err, out)
		}
	}
	put(t, filepath.Join(folder, "a.txt"), "one\ntwo\n")
	p := openPage(t, folder, t.TempDir(), environment(server, "k"), func(s *storage.Store) backend.Store { return s })
	id := p.session("openai")
	p.command(id, "/ci only the text")
	in := await(p, anyOf[agent.UserInput])
	for _, part := range []string{"only the text", "## topic\n M a.txt", "a.txt | 1 +", "docs:+begin"} {
		if !strings.Contains(in.Text, part) {
			t.Errorf("%q is missing from the prompt:\n%s", part, in.Text)
		}
	}
	await(p, anyOf[agent.ProcessingEnd])
	p.command(id, "/cr")
	if in = await(p, anyOf[agent.UserInput]); !strings.Contains(in.Text, "## topic") || !strings.Contains(in.Text, "a.txt | 1 +") || in.Skill.Name != "review" {
		t.Errorf("the review begins with\n%s", in.Text)
	}
	await(p, anyOf[agent.ProcessingEnd])
}
