//go:build unix

package workbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/undoing"
	"atelier.dev/atelier/backend/workbench"
)

// repository makes the folder of a page a repository with a commit.
func (p *page) repository() {
	p.t.Helper()
	p.git("init", "-q", "-b", "main")
	p.git("config", "user.name", "A")
	p.git("config", "user.email", "a@b")
	p.putFile("f", "1\n")
	p.putFile(".gitignore", ".env\n")
	p.putFile(".worktreeinclude", ".env\n")
	p.git("add", "-A")
	p.git("commit", "-qm", "first")
	p.putFile(".env", "S\n")
}

// OAS-331, OAS-332: a session moves into a worktree in the middle of a turn, in every wire
// format. The next call of the same answer acts there, commands and the gate follow, the
// move outlives a restart, and leaving goes back. What was done there is kept by default,
// and never lost unasked.
func TestSessionMovesIntoAWorktree(t *testing.T) {
	t.Parallel()
	for _, w := range wires {
		t.Run(w.provider, func(t *testing.T) {
			t.Parallel()
			name := func(claude, snake string) string {
				if w.provider == "anthropic" {
					return claude
				}
				return snake
			}
			enter := llmtest.Use(name("EnterWorktree", "enter_worktree"), args{"name": "apart"})
			leave := func(in args) llmtest.Call { return llmtest.Use(name("ExitWorktree", "exit_worktree"), in) }
			server := llmtest.Serve(t)
			server.Script(w.model,
				llmtest.Round{Calls: []llmtest.Call{enter, w.writes("a.txt")}},
				llmtest.Round{Calls: []llmtest.Call{w.writes(filepath.Join("..", "..", "outside.txt"))}},
				llmtest.Round{Text: "Done."})
			home, folder := t.TempDir(), t.TempDir()
			p := newPage(t, folder, home, everyProvider(server))
			p.repository()
			info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
			must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
				Session: info.ID, Settings: agent.Settings{Provider: w.provider, Model: w.model, Mode: agent.ModeAcceptEdits},
			})
			p.send(info.ID, "go")
			if end := await(p, anyOf[agent.ToolCallEnd]); end.Tool != "EnterWorktree" || end.IsError || !strings.Contains(end.Output, "worktree-apart") || !strings.Contains(end.Output, " 1 ignored files") {
				t.Fatalf("entered: %+v", end)
			}
			if end := await(p, anyOf[agent.ToolCallEnd]); end.Tool != "Write" || end.IsError {
				t.Fatalf("wrote: %+v", end)
			}
			tree := filepath.Join(folder, ".worktrees", "apart")
			if !exists(filepath.Join(tree, "a.txt")) || exists(filepath.Join(folder, "a.txt")) || !exists(filepath.Join(tree, ".env")) {
				t.Error("the second call of the answer did not act in the worktree")
			}
			asked := await(p, anyOf[agent.ApprovalRequest]) // the project is outside now
			if asked.Tool != "Write" || asked.ReasonCode != agent.ReasonOutside {
				t.Errorf("asked %+v", asked)
			}
			p.answer(backend.Approval{Session: info.ID, Request: asked}, agent.Answer{Decision: agent.Deny})
			if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
				t.Errorf("the turn ended as %s", end.Reason)
			}
			if at := worktreeOf(p, info.ID); at != ".worktrees/apart" {
				t.Errorf("the row says %q", at)
			}
			if got := p.changed(info.ID, changes.ScopeSession); got != "added a.txt +1 -0" {
				t.Errorf("changed in the worktree: %q", got)
			}
			p.runs(info.ID, "pwd") // the user's commands agree
			if ran := await(p, anyOf[agent.LocalCommandEnd]); strings.TrimSpace(ran.Output) != tree {
				t.Errorf("the user's command ran in %s", ran.Output)
			}
			p.close()
			w.leaves(t, p, info.ID, leave)
		})
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func worktreeOf(p *page, session string) string {
	p.t.Helper()
	return must[backend.SessionInfo](p, "sessions.get", workbench.SessionRef{Session: session}).Worktree
}

// leaves is a session that goes on in its worktree after a restart, and leaves it.
func (w wire) leaves(t *testing.T, before *page, session string, leave func(args) llmtest.Call) {
	t.Helper()
	tree := filepath.Join(before.folder, ".worktrees", "apart")
	server := llmtest.Serve(t)
	server.Script(w.model,
		llmtest.Round{Calls: []llmtest.Call{w.writes("b.txt"), leave(args{"action": "remove"})}},
		llmtest.Round{Calls: []llmtest.Call{leave(args{"action": "remove", "discard_changes": true})}},
		llmtest.Round{Calls: []llmtest.Call{leave(args{})}},
		llmtest.Round{Calls: []llmtest.Call{w.writes("c.txt")}},
		llmtest.Round{Text: "Done."})
	p := newPage(t, before.folder, before.home, everyProvider(server))
	p.send(session, "on")
	await(p, anyOf[agent.ToolCallEnd])
	if !exists(filepath.Join(tree, "b.txt")) {
		t.Error("after a restart the session does not work in its worktree")
	}
	if end := await(p, anyOf[agent.ToolCallEnd]); !end.IsError || !strings.Contains(end.Output, "not committed: 2") || !exists(tree) {
		t.Errorf("removed with what is in it: %+v", end)
	}
	lose := await(p, anyOf[agent.ApprovalRequest]) // although edits run without asking
	if lose.Tool != "ExitWorktree" || !lose.EachTime {
		t.Errorf("asked %+v", lose)
	}
	p.answer(backend.Approval{Session: session, Request: lose}, agent.Answer{Decision: agent.Deny})
	await(p, anyOf[agent.ToolCallEnd])
	if end := await(p, anyOf[agent.ToolCallEnd]); end.IsError || !strings.Contains(end.Output, "git merge worktree-apart") {
		t.Errorf("left: %+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
	if !exists(filepath.Join(p.folder, "c.txt")) || !exists(filepath.Join(tree, "a.txt")) || worktreeOf(p, session) != "" {
		t.Errorf("after leaving: %q", worktreeOf(p, session))
	}
	if got := p.changed(session, changes.ScopeSession); !strings.Contains(got, ".worktrees/apart/b.txt") || !strings.Contains(got, " c.txt") {
		t.Errorf("changed in both places: %q", got)
	}
	p.restore(session, undoing.UndoTarget{Newest: true})
	if exists(filepath.Join(p.folder, "c.txt")) || exists(filepath.Join(tree, "b.txt")) || !exists(filepath.Join(tree, "a.txt")) {
		t.Error("undoing the turn did not undo what it did in both places")
	}
}
