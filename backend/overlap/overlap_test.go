package overlap_test

import (
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/overlap"
)

// Issue 36: a session is told that another one writes a file that it has read, before it writes it itself:
// the model in a note, the person in the question. Only who works now counts, who started an agent is not
// told of as its rival, and a worktree has files of its own.
func TestSameFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	busy := map[string]bool{"a": true, "b": true, "child": true, "tree": true}
	c := overlap.New(overlap.Config{
		Busy: func(session string) bool { return busy[session] },
		Folder: func(info backend.SessionInfo) string {
			return filepath.Join(dir, filepath.FromSlash(info.Worktree))
		},
	})
	policy, err := permission.New(dir, permission.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	join := func(info backend.SessionInfo) (*overlap.Member, overlap.Gate) {
		m := c.Join(info)
		return m, overlap.Gate{Policy: policy, Member: m}
	}
	_, _ = join(backend.SessionInfo{ID: "a", Title: "One"})
	second, gate := join(backend.SessionInfo{ID: "b", Title: "Two"})
	child, childGate := join(backend.SessionInfo{ID: "child", Helper: &agent.Helper{Parent: "a", Name: "scout", Folder: dir}})
	tree, _ := join(backend.SessionInfo{ID: "tree", Worktree: ".worktrees/x"})
	file := filepath.Join(dir, "a.go")
	read := agent.GateCall{Tool: "Read", ReadOnly: true, Access: agent.Access{Reads: []string{file}}}
	write := agent.GateCall{Tool: "Write", Access: agent.Access{Writes: []string{file}}}
	wrote := func(session, path string) {
		c.Observe(agent.Event{Session: session, Data: agent.ToolCallEnd{Files: &agent.FilesChanged{Files: []agent.FileRecord{{Path: path}}}}})
	}
	said := func(m *overlap.Member) (text string) {
		for _, n := range m.Notes() {
			if n.About == "same_files" {
				text = n.Text
				if n.Warning.ID != agent.WarnSameFile {
					t.Errorf("warns with %+v", n.Warning)
				}
			}
		}
		return text
	}
	shared := func(g overlap.Gate) bool {
		for _, e := range g.Foretell(t.Context(), write).Effects {
			if e.ID == agent.EffectShared {
				return true
			}
		}
		return false
	}
	for _, g := range []overlap.Gate{gate, childGate} {
		g.Decide(t.Context(), read)
	}
	if said(second) != "" || shared(gate) {
		t.Error("a file that nobody writes")
	}
	wrote("tree", "a.go") // below its worktree
	if said(second) != "" {
		t.Error("a worktree's file was taken for the project's")
	}
	wrote("a", "a.go")
	if text := said(second); !strings.Contains(text, "a.go (session One)") || !shared(gate) {
		t.Errorf("the second session is told %q", text)
	}
	if said(child) != "" || shared(childGate) {
		t.Error("an agent is warned of the session that started it")
	}
	if said(tree) != "" {
		t.Error("a worktree has files of its own")
	}
	wrote("child", "a.go")
	busy["a"] = false
	if text := said(second); !strings.Contains(text, "a.go (agent scout)") {
		t.Errorf("told %q of an agent", text)
	}
	c.Leave("child")
	if said(second) != "" || shared(gate) {
		t.Error("who is gone counts")
	}
}
