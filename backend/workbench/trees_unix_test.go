//go:build unix

package workbench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/hooks"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// committed is a folder with a repository of one commit.
func committed(t *testing.T) string {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, folder+"/a", "1\n")
	put(t, folder+"/sub/b", "1\n")
	git(t, folder, "init", "-q", "-b", "main")
	git(t, folder, "add", "-A")
	git(t, folder, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "first")
	return folder
}

func git(t *testing.T, folder string, args ...string) string {
	t.Helper()
	if sandbox.LookPath("git") == "" {
		t.Skip("no git")
	}
	r, err := sandbox.Run(t.Context(), sandbox.Spec{Dir: folder, Argv: append([]string{"git"}, args...)})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("git %v: %v %s", args, err, r.Stderr)
	}
	return r.Stdout
}

// isolated has a session start an agent in a worktree, and returns both.
func isolated(p *page, server *llmtest.Server, work ...llmtest.Round) (id, child string, helper *agent.Helper) {
	p.t.Helper()
	server.Script("helper", work...)
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", map[string]any{"isolation": "worktree", "working_dir": "sub"})}})
	id = p.session("openai")
	p.send(id, "go")
	child, end := agentOf(p, "Agent")
	if end.IsError {
		p.t.Fatal(end.Output)
	}
	return id, child, must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: child}).Session.Helper
}

// OAS-506, OAS-661: an agent works in a worktree of its own, of which the hooks are
// told. One without changes is removed when the agent is ended; its session can
// be read, and not continued.
func TestAgentInAWorktree(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	folder := committed(t)
	p, told := listening(t, folder, server)
	id, child, helper := isolated(p, server, llmtest.Round{Text: "Nothing to do."})
	if want := filepath.Join(folder, ".worktrees", helper.Worktree, "sub"); helper.Worktree == "" || helper.Folder != want {
		t.Errorf("%+v", helper)
	}
	logged(p, hooks.HookLogRequest{Point: agent.HookWorktreeCreate}, 1)
	one := map[string]any{"agent_id": child}
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Wait", one), llmtest.Use("CloseAgent", one), llmtest.Use("Wait", one)}}, llmtest.Round{Text: "Done."})
	for _, want := range []string{`"worktree":".worktrees/` + helper.Worktree + `, on the branch worktree-` + helper.Worktree + `"`, `"worktree":"removed`, "start another one"} {
		if end := await(p, anyOf[agent.ToolCallEnd]); !strings.Contains(end.Output, want) {
			t.Errorf("%s: %s, want %s", end.Tool, end.Output, want)
		}
	}
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "Done." })
	logged(p, hooks.HookLogRequest{Point: agent.HookWorktreeRemove}, 1)
	path := filepath.Join(folder, ".worktrees", helper.Worktree)
	for point, want := range map[agent.HookPoint][][]any{
		agent.HookWorktreeCreate: {{id, helper.Worktree, path, "worktree-" + helper.Worktree}},
		agent.HookWorktreeRemove: {{id, helper.Worktree, path, nil}},
	} {
		if diff := cmp.Diff(want, pick(toldAt(t, told, point), "session_id", "name", "worktree_path", "branch")); diff != "" {
			t.Errorf("%s: %s", point, diff)
		}
	}
	if left := git(t, folder, "worktree", "list") + git(t, folder, "branch", "--list", "worktree-*"); strings.Contains(left, helper.Worktree) {
		t.Errorf("left: %s", left)
	}
	if s := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: child}); s.Session.State != agent.StateClosed {
		t.Errorf("the agent is %s", s.Session.State)
	}
}

// OAS-506: a worktree with changes is kept, and the report says where.
func TestAgentsWorktreeIsKept(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	folder := committed(t)
	p, told := listening(t, folder, server)
	_, child, helper := isolated(p, server,
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": "new", "content": "1\n"})}}, llmtest.Round{Text: "Written."})
	p.allow(child, await(p, anyOf[agent.ApprovalRequest]))
	one := map[string]any{"agent_id": child}
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Wait", one), llmtest.Use("CloseAgent", one)}}, llmtest.Round{Text: "Done."})
	_, end := agentOf(p, "CloseAgent")
	for _, want := range []string{".worktrees/" + helper.Worktree + ", on the branch worktree-" + helper.Worktree, "not committed"} {
		if !strings.Contains(end.Output, want) {
			t.Errorf("%s, want %s", end.Output, want)
		}
	}
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "Done." })
	p.close()
	if text, err := os.ReadFile(filepath.Join(helper.Folder, "new")); string(text) != "1\n" {
		t.Errorf("the agent's file holds %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "sub", "new")); err == nil {
		t.Error("the agent wrote into the project")
	}
	if fired := toldAt(t, told, agent.HookWorktreeRemove); fired != nil {
		t.Errorf("hooks were told %v", fired)
	}
	if status := git(t, folder, "status", "--porcelain"); status != "" {
		t.Errorf("the project has %q", status)
	}
}

// OAS-506: the worktrees of agents without changes end with the session that started
// them, and hooks are told.
func TestWorktreesEndWithTheirSession(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	folder := committed(t)
	p, told := listening(t, folder, server)
	id, child, helper := isolated(p, server, llmtest.Round{Text: "Nothing to do."})
	one := map[string]any{"agent_id": child}
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Wait", one)}}, llmtest.Round{Text: "Done."})
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "Done." })
	await(p, anyOf[agent.ProcessingEnd])
	must[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: id})
	if _, err := os.Stat(helper.Folder); !os.IsNotExist(err) {
		t.Errorf("the worktree is left: %v", err)
	}
	if diff := cmp.Diff([][]any{{id, helper.Worktree}}, pick(toldAt(t, told, agent.HookWorktreeRemove), "session_id", "name")); diff != "" {
		t.Error(diff)
	}
}

// OAS-506: the model is told why there can be no worktree.
func TestNoWorktree(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	for _, isolation := range []string{"worktree", "remote"} { // one after the other: agents of one answer start in parallel
		server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", map[string]any{"isolation": isolation})}})
	}
	server.Script(model, llmtest.Round{Text: "Done."})
	p.send(p.session("openai"), "go")
	for _, want := range []string{"git init", `no isolation "remote"`} {
		if end := await(p, anyOf[agent.ToolCallEnd]); !end.IsError || !strings.Contains(end.Output, want) {
			t.Errorf("%s, want %s", end.Output, want)
		}
	}
	await(p, anyOf[agent.ProcessingEnd])
	id := p.session("openai")
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: id, Settings: agent.Settings{Provider: "openai", Model: model, Mode: agent.ModePlan},
	})
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", map[string]any{"isolation": "worktree"})}}, llmtest.Round{Text: "Done."})
	p.send(id, "go")
	if end := await(p, anyOf[agent.ToolCallEnd]); !end.IsError || !strings.Contains(end.Output, "needs no worktree") {
		t.Errorf("in plan mode: %s", end.Output)
	}
}

// OAS-661: a hook that denies an agent's worktree holds the agent back. The worktree goes,
// unless the hook has left something there.
func TestHooksRefuseAWorktree(t *testing.T) {
	t.Parallel()
	for command, left := range map[string]string{
		"echo not today >&2; exit 2": "",
		`touch "$(sed 's/.*"worktree_path": *"\([^"]*\)".*/\1/')/new"; echo not today >&2; exit 2`: "is kept, because",
	} {
		server := llmtest.Serve(t)
		folder, user := committed(t), t.TempDir()
		b, err := json.Marshal(map[string]any{"hooks": map[string]any{"WorktreeCreate": []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command, "timeout": 300}}}}}})
		if err != nil {
			t.Fatal(err)
		}
		put(t, user+"/.agent/settings.json", string(b))
		p := openPage(t, folder, t.TempDir(), homely(server, user), func(s *storage.Store) backend.Store { return s })
		server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", map[string]any{"isolation": "worktree"})}}, llmtest.Round{Text: "Done."})
		p.send(p.session("openai"), "go")
		end := await(p, anyOf[agent.ToolCallEnd])
		if !end.IsError || !strings.Contains(end.Output, " hook refused the worktree: not today") || strings.Contains(end.Output, "is kept, because") != (left != "") {
			t.Errorf("%s", end.Output)
		}
		await(p, anyOf[agent.ProcessingEnd])
		if trees := git(t, folder, "worktree", "list"); strings.Contains(trees, ".worktrees") != (left != "") {
			t.Errorf("left: %s", trees)
		}
		if n := len(must[backend.SessionPage](p, "sessions.list", backend.Empty{}).Sessions); n != 1 {
			t.Errorf("%d sessions", n)
		}
	}
}

// An interruption while a hook is asked about an agent's worktree leaves no worktree behind
// that belongs to no session.
func TestInterruptedBeforeAnAgentBegins(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	folder, user, asked := committed(t), t.TempDir(), filepath.Join(t.TempDir(), "asked")
	if err := syscall.Mkfifo(asked, 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, user+"/.agent/settings.json", `{"hooks":{"WorktreeCreate":[{"hooks":[{"type":"command","command":"echo > `+asked+`; exec sleep 60","timeout":300}]}]}}`)
	p := openPage(t, folder, t.TempDir(), homely(server, user), func(s *storage.Store) backend.Store { return s })
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", map[string]any{"isolation": "worktree"})}}, llmtest.Round{Text: "Done."})
	id := p.session("openai")
	p.send(id, "go")
	if _, err := os.ReadFile(asked); err != nil { // until the hook writes to it
		t.Fatal(err)
	}
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: id})
	await(p, anyOf[agent.ProcessingEnd])
	if trees := git(t, folder, "worktree", "list"); strings.Contains(trees, ".worktrees") {
		t.Errorf("left: %s", trees)
	}
	if branches := git(t, folder, "branch", "--list", "worktree-*"); branches != "" {
		t.Errorf("left: %s", branches)
	}
}
