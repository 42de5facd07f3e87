//go:build unix

package workbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
)

// A deny rule and a deny hook hold in the main session, in an agent that it waits for, in one in
// the background, in a member of a team and in an agent of an agent, even if all of them may do everything, and each denial is in the log.
func TestDenialsHoldForAgents(t *testing.T) {
	t.Parallel()
	denied, err := rule.Parse("Bash(touch *)")
	if err != nil {
		t.Fatal(err)
	}
	denied.Decision, denied.Scope = agent.Deny, agent.ScopeSession
	onEveryWire(t, func(t *testing.T, w wire, p *page, server *llmtest.Server) {
		put(t, filepath.Join(p.folder, ".agent/settings.json"), onEvent("PreToolUse", "Write", "echo 'never here' >&2; exit 2"))
		id := w.inMode(p, agent.ModeBypass)
		trustAll(p)
		deep(p, nil)
		tries := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", args{"command": "touch evil"}), w.writes("evil")}}
		server.Script(w.model, tries,
			llmtest.Round{Calls: []llmtest.Call{w.starts("", "Do it.", args{"model": "first"})}},
			llmtest.Round{Calls: []llmtest.Call{w.starts("", "Do it.", args{"model": "second", "run_in_background": true})}},
			llmtest.Round{Calls: []llmtest.Call{w.uses("TeamCreate", "team_create", args{"name": "red"})}},
			llmtest.Round{Calls: []llmtest.Call{w.starts("", "Do it.", args{"model": "third", "name": "rob", "team_name": "red"})}},
			llmtest.Round{Text: "All done."})
		server.Script("first", tries, llmtest.Round{Calls: []llmtest.Call{w.starts("", "Do it.", args{"model": "fourth"})}}, llmtest.Round{Text: "I could not."})
		for _, model := range []string{"second", "third", "fourth"} {
			server.Script(model, tries, llmtest.Round{Text: "I could not."})
		}
		p.send(id, "go")
		await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "All done." })
		sessions := map[string]string{"main": id}
		for _, info := range tree(p, id) {
			name := map[string]string{"first": "foreground", "second": "background", "third": "member of a team", "fourth": "agent of an agent"}[info.Settings.Model]
			sessions[name] = info.ID
		}
		if len(sessions) != 5 || sessions["agent of an agent"] == "" {
			t.Fatalf("%v", sessions)
		}
		deadline := time.After(patience)
		for _, session := range sessions {
			for len(log[agent.ProcessingEnd](p, session)) == 0 {
				p.more(deadline, "the end of a turn")
			}
		}
		for name, session := range sessions {
			ends := log[agent.ToolCallEnd](p, session)
			if len(ends) < 2 {
				t.Fatalf("%s: %+v", name, ends)
			}
			if a := ends[0].Authority; ends[0].Outcome != agent.OutcomeDenied || a == nil || a.By != agent.ByRule {
				t.Errorf("%s: the rule: %+v by %+v", name, ends[0], a)
			}
			if a := ends[1].Authority; ends[1].Outcome != agent.OutcomeDenied || a == nil || a.By != agent.ByHook || !strings.Contains(ends[1].Output, "never here") {
				t.Errorf("%s: the hook: %+v by %+v", name, ends[1], a)
			}
		}
		if _, err := os.Stat(filepath.Join(p.folder, "evil")); err == nil {
			t.Error("the file is there")
		}
	}, func(c *workbench.Config) { c.RunRules = []rule.Rule{denied} })
}

// K-05: six agents of one answer work four at a time. When their parent is stopped, no request of
// any of them is under way after a second, none begins, and none is revived by a restart.
func TestStopReachesAllAgents(t *testing.T) {
	t.Parallel()
	onEveryWire(t, func(t *testing.T, w wire, p *page, server *llmtest.Server) {
		for range 4 {
			var calls []llmtest.Call
			for range 6 {
				calls = append(calls, w.starts("", "Look.", args{"model": "helper"}))
			}
			server.Script("helper") // which does not answer
			before := len(asked(server, "helper"))
			id := w.inMode(p, agent.ModeDefault)
			server.Script(w.model, llmtest.Round{Calls: calls})
			p.send(id, "go")
			for all := server.AllRequests(); len(asked(server, "helper")) < before+4; all = server.AllRequests() {
				server.AwaitRequests(t, len(all)+1)
			}
			begun := time.Now()
			must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: id})
			server.AwaitIdle(t)
			if took := time.Since(begun); took > time.Second {
				t.Errorf("requests were under way for %s after the stop", took)
			}
			await(p, func(e agent.ProcessingEnd) bool { return e.Reason == agent.EndInterrupted })
			if n := len(asked(server, "helper")) - before; n != 4 {
				t.Errorf("%d agents worked instead of 4", n)
			}
		}
		before := len(server.Requests())
		folder, home := p.folder, p.home
		p.close()
		again := newPage(t, folder, home, everyProvider(server))
		if err := again.bench.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, info := range must[backend.SessionPage](again, "sessions.list", backend.Empty{}).Sessions {
			if info.State == agent.StateProcessing || info.State == agent.StateAwaitingInput {
				t.Errorf("%+v works again", info)
			}
		}
		if n := len(server.Requests()); n != before {
			t.Errorf("%d requests after the restart", n-before)
		}
	})
}

// OAS-506: when a session gets a tighter mode, so do its agents; a looser one stays its own.
func TestModeOfAgentsFollows(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), everyProvider(server))
	w := wires[3]
	id := w.inMode(p, agent.ModeAcceptEdits)
	server.Script(w.model, llmtest.Round{Calls: []llmtest.Call{w.starts("", "Look.", args{"model": "helper"})}}, llmtest.Round{Text: "All done."})
	server.Script("helper", llmtest.Round{Text: "Seen."})
	p.send(id, "go")
	child, _ := agentOf(p, "Agent")
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "All done." })
	mode := func() agent.Mode {
		return must[backend.SessionInfo](p, "sessions.get", workbench.SessionRef{Session: child}).Settings.Mode
	}
	for _, c := range []struct{ parent, want agent.Mode }{{agent.ModeAuto, agent.ModeAcceptEdits}, {agent.ModePlan, agent.ModePlan}, {agent.ModeDefault, agent.ModePlan}} {
		set := agent.Settings{Provider: w.provider, Model: w.model, Mode: c.parent}
		must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: set})
		await(p, func(s agent.SettingsChange) bool { return s.Settings.Mode == c.parent && s.Settings.Model == w.model })
		for deadline := time.After(patience); mode() != c.want; {
			p.more(deadline, "the mode "+string(c.want)+" of the agent")
		}
	}
}

// A model that starts agents in a loop is told to stop.
func TestAgentsInALoop(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), everyProvider(server))
	w := wires[1]
	id := w.inMode(p, agent.ModeDefault)
	var calls []llmtest.Call
	for range 70 {
		calls = append(calls, w.starts("", "Look.", args{"model": "helper"}))
		server.Script("helper", llmtest.Round{Text: "Seen."})
	}
	server.Script(w.model, llmtest.Round{Calls: calls}, llmtest.Round{Text: "All done."})
	p.send(id, "go")
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "All done." })
	refused := 0
	for _, end := range log[agent.ToolCallEnd](p, id) {
		if end.IsError && strings.Contains(end.Output, "within ten minutes") {
			refused++
		}
	}
	if refused != 10 {
		t.Errorf("%d of 70 were refused, want 10", refused)
	}
}

// OAS-313, OAS-318, OAS-519: a session puts a task on the board, an agent claims and completes it,
// and the session reads what came out; removing the session removes the board.
func TestBoardIsShared(t *testing.T) {
	t.Parallel()
	onEveryWire(t, func(t *testing.T, w wire, p *page, server *llmtest.Server) {
		tool := func(claude, spec string, in args) llmtest.Round {
			if w.provider == "anthropic" {
				spec = claude
			}
			return llmtest.Round{Calls: []llmtest.Call{llmtest.Use(spec, in)}}
		}
		id := w.inMode(p, agent.ModeDefault)
		server.Script(w.model,
			tool("TaskCreate", "task_create", args{"subject": "Fix the gate"}),
			llmtest.Round{Calls: []llmtest.Call{w.starts("", "Work off the board.", args{"name": "rob", "model": "helper"})}},
			tool("TaskGet", "task_get", args{"taskId": "task_1"}),
			tool("TaskUpdate", "task_update", args{"id": "task_1", "status": "in_progress"}),
			llmtest.Round{Text: "All done."})
		server.Script("helper",
			tool("TaskUpdate", "task_update", args{"taskId": "task_1", "status": "inProgress"}),
			tool("TaskUpdate", "task_update", args{"id": "task_1", "status": "completed", "output": "It is fixed."}),
			llmtest.Round{Text: "Done."})
		p.send(id, "go")
		await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "All done." })
		ends := log[agent.ToolCallEnd](p, id)
		if len(ends) != 4 || !strings.Contains(ends[2].Output, `"owner":"rob"`) || !strings.Contains(ends[2].Output, `"output":"It is fixed."`) {
			t.Fatalf("%+v", ends)
		}
		if !ends[3].IsError || !strings.Contains(ends[3].Output, "final") {
			t.Errorf("a completed task is begun again: %s", ends[3].Output)
		}
		await(p, func(e agent.ProcessingEnd) bool { return e.Reason == agent.EndDone && !e.Next })
		kept := func() int {
			b, err := p.store.Board(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return len(b.Tasks)
		}
		if kept() == 0 {
			t.Error("the board is not stored")
		}
		for deadline := time.After(patience); ; p.more(deadline, "the end of the turn") {
			if _, err := call[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: id}); err == nil {
				break
			}
		}
		if n := kept(); n > 0 {
			t.Errorf("the board outlives its session with %d tasks", n)
		}
	})
}
