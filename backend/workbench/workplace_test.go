package workbench_test

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
)

// carrying counts the processes whose command lines hold a token.
func carrying(t *testing.T, token string) (n int) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(lines) == 0 {
		t.Skip("needs /proc")
	}
	for _, name := range lines {
		if line, err := os.ReadFile(name); err == nil && bytes.Contains(line, []byte(token)) {
			n++
		}
	}
	return n
}

// serving returns a session with a running command that has token on its
// command line.
func serving(t *testing.T, token string, rounds ...llmtest.Round) (*page, string) {
	t.Helper()
	return servingOn(t, llmtest.Serve(t), token, rounds...)
}

// servingOn is serving with a server of the caller's.
func servingOn(t *testing.T, server *llmtest.Server, token string, rounds ...llmtest.Round) (*page, string) {
	t.Helper()
	server.Script(model, append([]llmtest.Round{
		{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]any{"command": "bash -c 'sleep 300; : " + token + "'", "run_in_background": true})}},
		{Text: "started"},
	}, rounds...)...)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: id, Settings: agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeBypass},
	})
	p.send(id, "serve")
	await(p, anyOf[agent.ProcessingEnd])
	if carrying(t, token) == 0 {
		t.Fatal("nothing runs on")
	}
	return p, id
}

// OAS-306: a background command runs on across turns, even if the session was
// read again meanwhile.
func TestCommandsOutliveTurns(t *testing.T) {
	t.Parallel()
	token := rand.Text()
	p, id := serving(t, token,
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("TaskStop", map[string]any{"id": "1"})}}, llmtest.Round{Text: "stopped"})
	must[backend.SessionInfo](p, "sessions.rename", sessionlist.RenameRequest{Session: id, Title: "another"})
	p.send(id, "stop")
	end := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == "TaskStop" })
	if end.Outcome != agent.OutcomeDone || !strings.HasSuffix(end.Output, "[Task 1 was stopped.]") || carrying(t, token) > 0 {
		t.Errorf("end %+v, %d processes left", end, carrying(t, token))
	}
}

// LOOP-159, K-37: commands that a session left running end with the session.
func TestCommandsEndWithTheSession(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*page, string){
		"closed": func(p *page, _ string) { p.close() },
		"deleted": func(p *page, id string) {
			must[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: id})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := rand.Text()
			p, id := serving(t, token)
			end(p, id)
			if n := carrying(t, token); n > 0 {
				t.Errorf("%d processes are left", n)
			}
		})
	}
}

// R-OUT: output that exceeds the memory limit is in the session's private
// folder, can be read there without an approval, and is deleted with the
// session.
func TestLongOutput(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t,
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]any{"command": "yes line | head -n 1000000"})}},
		llmtest.Round{Text: "printed"})
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "home") // a rule is about where a file lies
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	p := newPage(t, t.TempDir(), link, environment(server, "sk-test"))
	id := p.session("compat")
	p.send(id, "print")
	request := await(p, anyOf[agent.ApprovalRequest])
	p.allow(id, request)
	await(p, anyOf[agent.ProcessingEnd])
	kept, _ := filepath.Glob(filepath.Join(home, "output", id, "*"))
	if len(kept) != 1 {
		t.Fatalf("kept: %q", kept)
	}
	path := kept[0]
	if info, err := os.Stat(path); err != nil || info.Size() != 5_000_000 || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %+v, %v", path, info, err)
	}
	requests := server.Requests()
	if told := "[The whole output is in " + path + ".]"; !bytes.Contains(requests[len(requests)-1].Body, []byte(told)) {
		t.Errorf("the model was not told %q", told)
	}
	server.Add(llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"file_path": path, "offset": 500_000, "limit": 1})}},
		llmtest.Round{Text: "read"})
	p.send(id, "read it")
	if end := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == "Read" }); end.Outcome != agent.OutcomeDone || !strings.Contains(end.Output, "500000 | line") {
		t.Errorf("Read: %+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
	must[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: id})
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("after the session was deleted: %v", err)
	}
}

// LOOP-17, LOOP-54, LOOP-159: when an aborted session is closed in the log, no
// process of it is left. It can continue.
func TestCommandsEndWithAnAbort(t *testing.T) {
	t.Parallel()
	token := rand.Text()
	p, id := serving(t, token,
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]any{"command": "echo ready; sleep 300", "timeout": 600_000})}},
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]any{"command": "echo again"})}}, llmtest.Round{Text: "over"})
	p.send(id, "wait")
	await(p, func(s agent.ToolCallStart) bool { return strings.Contains(s.Input, "sleep 300") })
	p.bench.Sessions().Find(id).Abort()
	await(p, anyOf[agent.SessionEnd])
	if n := carrying(t, token); n > 0 {
		t.Errorf("%d processes are left", n)
	}
	p.send(id, "again") // begins when the owner is done with the previous turn
	if end := await(p, func(e agent.ToolCallEnd) bool { return strings.Contains(e.Output, "again") }); end.Outcome != agent.OutcomeDone {
		t.Errorf("after the abort: %+v", end)
	}
}
