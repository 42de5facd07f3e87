package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend/trees"
)

// OAS-331, OAS-332: the worktrees of a project are listed with who works there and what
// would be lost; one with something in it goes only by a second wish.
func TestWorktrees(t *testing.T) {
	t.Parallel()
	if sandbox.LookPath("git") == "" {
		t.Skip("no git")
	}
	p := newPlace(t, llmtest.Round{Text: "One."})
	if err := os.WriteFile(filepath.Join(p.folder, "f"), []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"}} {
		if r, err := sandbox.Run(t.Context(), sandbox.Spec{Dir: p.folder, Argv: append([]string{"git"}, args...)}); err != nil || r.ExitCode != 0 {
			t.Fatalf("%v %s", err, r.Stderr)
		}
	}
	if _, errs, code := p.run("run", "--model", "openai/m", "first thing"); code != 0 {
		t.Fatal(errs)
	}
	fork := p.sessions("fork", "--json", "--worktree", p.sessions("list", "--json")[0].ID)[0]
	name := filepath.Base(fork.Worktree)
	if err := os.WriteFile(filepath.Join(p.folder, fork.Worktree, "note"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := p.run("worktrees")
	for _, says := range []string{fork.Worktree, "session " + fork.ID, "not committed: 1, 4 bytes, such as note"} {
		if code != 0 || !strings.Contains(out, says) {
			t.Errorf("exit %d, %q is missing in %s", code, says, out)
		}
	}
	if !strings.Contains(errs, "1 of at most 64 worktrees.") {
		t.Errorf("said %s", errs)
	}
	var listed trees.WorktreeInfo
	if out, _, _ := p.run("worktrees", "list", "--json"); json.Unmarshal([]byte(out), &listed) != nil || listed.Name != name || listed.Files != 1 {
		t.Errorf("%+v", listed)
	}
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"remove"}, 2, "name a worktree"},
		{[]string{"prune"}, 2, "Usage"},
		{[]string{"remove", "../" + name}, 1, "cannot be the name"},
		{[]string{"remove", "nosuch"}, 1, ".worktrees has no folder nosuch"},
		{[]string{"remove", name}, 1, "atelier worktrees remove --all " + name},
		{[]string{"remove", fork.Worktree + "/"}, 1, "atelier worktrees remove --all " + name},
		{[]string{"remove", "--all", name}, 0, "removed " + fork.Worktree},
	} {
		out, errs, code := p.run(append([]string{"worktrees"}, tt.args...)...)
		if code != tt.code || !strings.Contains(out+errs, tt.says) {
			t.Errorf("%v: exit %d: %s %s", tt.args, code, out, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(p.folder, fork.Worktree)); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
