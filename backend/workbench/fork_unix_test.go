//go:build unix

package workbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/filechanges"
	"atelier.dev/atelier/backend/hooks"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// OC-02: a fork works in a worktree of its own, also when the program is started
// again, and its model is told so. The project stays as it is.
func TestForkIntoAWorktree(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "Hello."})
	folder, home := committed(t), t.TempDir()
	p := newPage(t, folder, home, environment(server, "sk-test"))
	id := p.session("compat")
	p.send(id, "hi")
	await(p, anyOf[agent.ProcessingEnd])
	made := fork(p, workbench.ForkRequest{Session: id, Folder: workbench.ForkInWorktree, Label: "Try it"}).Session
	if !strings.HasPrefix(made.Worktree, ".worktrees/try-it-") || git(t, folder, "status", "--porcelain") != "" {
		t.Fatalf("%+v", made)
	}
	p.close()
	p = newPage(t, folder, home, environment(server, "sk-test"))
	server.Add(llmtest.Round{Calls: []llmtest.Call{
		llmtest.Use("Write", map[string]any{"file_path": "new.txt", "content": "new\n"}), llmtest.Use("Write", map[string]any{"file_path": folder + "/out.txt", "content": "x"}),
	}}, llmtest.Round{Text: "Written."})
	set := made.Settings
	set.Mode = agent.ModeAcceptEdits
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: made.ID, Settings: set})
	p.send(made.ID, "write")
	outside := await(p, anyOf[agent.ApprovalRequest]) // the project itself is outside
	if !strings.Contains(outside.Input, "out.txt") {
		t.Errorf("%+v", outside)
	}
	must[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{Session: made.ID, Approval: outside.ID, Answer: agent.Answer{Decision: agent.Deny}})
	await(p, anyOf[agent.ProcessingEnd])
	tree := filepath.Join(folder, made.Worktree)
	if text, err := os.ReadFile(tree + "/new.txt"); string(text) != "new\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(folder + "/new.txt"); !os.IsNotExist(err) {
		t.Errorf("the project has the file: %v", err)
	}
	list := must[filechanges.ChangesReply](p, "changes.list", filechanges.ChangesRequest{Session: made.ID, Scope: changes.ScopeUncommitted})
	if len(list.Files) != 1 || list.Files[0].Path != "new.txt" || !strings.HasPrefix(list.Branch, "worktree-try-it") {
		t.Errorf("%+v", list)
	}
	if body := string(server.Requests()[1].Body); !strings.Contains(body, tree) || !strings.Contains(body, "you work somewhere else") {
		t.Error("the model was not told of its new folder")
	}
}

// A worktree that somebody removed is missed with an error that says what to do, and
// the conversation goes on in the project. A deleted session takes its worktree along
// only if nothing is lost with it and nobody else works there.
func TestWorktreeOfAForkGoes(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "Hello."})
	folder := committed(t)
	p := newPage(t, folder, t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	p.send(id, "hi")
	await(p, anyOf[agent.ProcessingEnd])
	tree := func(in workbench.ForkRequest) (backend.SessionInfo, string) {
		info := fork(p, in).Session
		return info, filepath.Join(folder, info.Worktree)
	}
	into := workbench.ForkRequest{Session: id, Folder: workbench.ForkInWorktree}
	gone, path := tree(into)
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	_, err := call[backend.Empty](p, "conversation.send", conversation.SendRequest{Session: gone.ID, Text: "hi"})
	if err == nil || err.Code != backend.CodeNotFound || !strings.Contains(err.Next, "Fork the session into the project's folder") {
		t.Errorf("%+v", err)
	}
	if _, err := call[workbench.ForkReply](p, "sessions.fork", workbench.ForkRequest{Session: gone.ID}); err == nil {
		t.Error("a fork works where nothing is")
	}
	back := fork(p, workbench.ForkRequest{Session: gone.ID, Folder: workbench.ForkInProject}).Session
	server.Add(llmtest.Round{Text: "Here."})
	p.send(back.ID, "hi")
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "Here." })
	await(p, anyOf[agent.ProcessingEnd])

	clean, cleanPath := tree(into)
	dirty, dirtyPath := tree(into)
	put(t, dirtyPath+"/new", "1\n")
	shared := fork(p, workbench.ForkRequest{Session: clean.ID}).Session
	for _, info := range []backend.SessionInfo{dirty, clean} {
		must[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: info.ID})
	}
	for _, path := range []string{cleanPath, dirtyPath + "/new"} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	must[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: shared.ID})
	if _, err := os.Stat(cleanPath); !os.IsNotExist(err) {
		t.Errorf("the worktree that nobody needs is there: %v", err)
	}
}

// The hooks of a fork are told of its new worktree, and those of the session that was
// forked that it is gone.
func TestHooksOfAForksWorktree(t *testing.T) {
	t.Parallel()
	folder := committed(t)
	p, told := listening(t, folder, llmtest.Serve(t))
	id := p.session("openai")
	made := fork(p, workbench.ForkRequest{Session: id, Folder: workbench.ForkInWorktree}).Session
	name := filepath.Base(made.Worktree)
	logged(p, hooks.HookLogRequest{Point: agent.HookWorktreeCreate}, 1)
	must[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: made.ID})
	logged(p, hooks.HookLogRequest{Point: agent.HookWorktreeRemove}, 1)
	path := filepath.Join(folder, made.Worktree)
	for point, want := range map[agent.HookPoint][][]any{
		agent.HookWorktreeCreate: {{made.ID, name, path, "worktree-" + name}},
		agent.HookWorktreeRemove: {{id, name, path, nil}},
	} {
		if diff := cmp.Diff(want, pick(toldAt(t, told, point), "session_id", "name", "worktree_path", "branch")); diff != "" {
			t.Errorf("%s: %s", point, diff)
		}
	}
}

// A hook that denies the worktree of a fork leaves neither.
func TestHooksRefuseAFork(t *testing.T) {
	t.Parallel()
	server, folder, user := llmtest.Serve(t), committed(t), t.TempDir()
	put(t, user+"/.agent/settings.json", `{"hooks":{"WorktreeCreate":[{"hooks":[{"type":"command","command":"echo not today >&2; exit 2","timeout":300}]}]}}`)
	p := openPage(t, folder, t.TempDir(), homely(server, user), func(s *storage.Store) backend.Store { return s })
	_, err := call[workbench.ForkReply](p, "sessions.fork", workbench.ForkRequest{Session: p.session("openai"), Folder: workbench.ForkInWorktree})
	if err == nil || err.ID != backend.ProblemWorktreeUnmade || !strings.Contains(err.Details, " hook refused the worktree: not today") {
		t.Errorf("%+v", err)
	}
	if trees := git(t, folder, "worktree", "list"); strings.Contains(trees, ".worktrees") {
		t.Errorf("left: %s", trees)
	}
	if n := len(must[backend.SessionPage](p, "sessions.list", backend.Empty{}).Sessions); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// Whichever call of the store fails while a fork is made, there is no fork afterwards that
// nobody asked the hooks about. They refuse it. The calls after the sixth remove it again.
func TestForkThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	server, folder, user := llmtest.Serve(t), committed(t), t.TempDir()
	put(t, user+"/.agent/settings.json", `{"hooks":{"WorktreeCreate":[{"hooks":[{"type":"command","command":"exit 2","timeout":300}]}]}}`)
	var store *faulty
	p := openPage(t, folder, t.TempDir(), homely(server, user), func(s *storage.Store) backend.Store {
		store = &faulty{Store: s}
		return store
	})
	id := p.session("openai")
	for n := 1; n <= 6; n++ {
		store.arm(n, []string{"Session", "Sessions", "Lease", "Append", "Events", "Queue"})
		_, err := call[workbench.ForkReply](p, "sessions.fork", workbench.ForkRequest{Session: id, Folder: workbench.ForkInWorktree})
		if !store.disarm() || err == nil {
			t.Errorf("call %d: there was no error", n)
		}
		if trees := git(t, folder, "worktree", "list"); strings.Contains(trees, ".worktrees") {
			t.Errorf("call %d failed: left: %s", n, trees)
		}
		if got := len(must[backend.SessionPage](p, "sessions.list", backend.Empty{}).Sessions); got != 1 {
			t.Fatalf("call %d failed: %d sessions", n, got)
		}
	}
}

// A folder that cannot have a worktree keeps the fork from being made.
func TestForkWithoutGit(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), "sk-test"))
	id := p.session("compat")
	_, err := call[workbench.ForkReply](p, "sessions.fork", workbench.ForkRequest{Session: id, Folder: workbench.ForkInWorktree})
	if err == nil || err.Details == "" {
		t.Errorf("%+v", err)
	}
	if list := must[backend.SessionPage](p, "sessions.list", backend.Empty{}); len(list.Sessions) != 1 {
		t.Errorf("%d sessions", len(list.Sessions))
	}
}

// A fork of a session in a worktree begins with the last commit there; with that of the
// project if the worktree is gone.
func TestForkOfAWorktreeIntoAnother(t *testing.T) {
	t.Parallel()
	folder := committed(t)
	p := newPage(t, folder, t.TempDir(), environment(llmtest.Serve(t), "sk-test"))
	into := func(session string) (string, string) {
		info := fork(p, workbench.ForkRequest{Session: session, Folder: workbench.ForkInWorktree}).Session
		return info.ID, filepath.Join(folder, info.Worktree)
	}
	first, path := into(p.session("compat"))
	put(t, path+"/theirs", "1\n")
	git(t, path, "add", "-A")
	git(t, path, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "theirs")
	_, second := into(first)
	if _, err := os.Stat(second + "/theirs"); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	_, third := into(first)
	if _, err := os.Stat(third + "/a"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(third + "/theirs"); !os.IsNotExist(err) {
		t.Errorf("a commit of the worktree that is gone: %v", err)
	}
}
