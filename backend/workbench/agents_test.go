package workbench_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
)

// spawn returns a call that starts an agent on the model "helper".
func spawn(task string, more map[string]any) llmtest.Call {
	in := map[string]any{"task": task, "model": "helper"}
	for name, value := range more {
		in[name] = value
	}
	return llmtest.Use("SpawnAgent", in)
}

// agentOf returns the session of an ended call about an agent.
func agentOf(p *page, tool string) (string, agent.ToolCallEnd) {
	p.t.Helper()
	end := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == tool })
	if end.Details == nil || end.Details.Agent == nil {
		p.t.Fatalf("%s: %s", tool, end.Output)
	}
	return end.Details.Agent.Session, end
}

// asked returns the bodies of the requests to a model.
func asked(server *llmtest.Server, model string) (bodies []string) {
	for _, r := range server.Requests() {
		if body := string(r.Body); strings.Contains(body, `"model":"`+model+`"`) || strings.Contains(r.Path, "/"+model+":") {
			bodies = append(bodies, body)
		}
	}
	return bodies
}

// LOOP-48, LOOP-49, LOOP-145, LOOP-146, LOOP-147, LOOP-149, LOOP-150, LOOP-172,
// OAS-504: an agent works on its task in the same folder, with its own history
// and the same person to ask. Its report is the result of a wait, and it can be
// told more.
func TestSubagent(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	cost := llm.Usage{Input: 100, Output: 10, Known: true}
	server.Script("helper",
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": "a_test.go", "content": "package a\n"})}, Usage: cost},
		llmtest.Round{Text: "The tests are written.", Usage: cost},
		llmtest.Round{Text: "They pass.", Usage: cost})
	server.Script(model, llmtest.Round{Text: "I hand that over.", Calls: []llmtest.Call{spawn("Write the tests. Secret word: heron.", nil)}, Usage: cost})
	id := p.session("openai")
	p.send(id, "We need tests. The parent's word is: otter.")
	child, _ := agentOf(p, "Agent")
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Wait", map[string]any{"agent_id": child})}},
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("SendInput", map[string]any{"agent_id": child, "message": "Run them."})}},
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Wait", map[string]any{"agent_id": child})}},
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("CloseAgent", map[string]any{"agent_id": child})}},
		llmtest.Round{Text: "All done."})
	p.allow(child, await(p, anyOf[agent.ApprovalRequest]))
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "All done." })
	await(p, anyOf[agent.ProcessingEnd])

	if b, err := os.ReadFile(filepath.Join(p.folder, "a_test.go")); err != nil || string(b) != "package a\n" {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if body := asked(server, "helper")[0]; strings.Contains(body, "otter") || !strings.Contains(body, "heron") || strings.Contains(body, "spawn_agent") {
		t.Errorf("the agent was sent %s", body)
	}
	own := asked(server, model)
	last := own[len(own)-1]
	for _, want := range []string{`\"output\":\"The tests are written.\"`, `\"success\":true`, `\"turns_used\":1`, `\"output\":\"They pass.\"`} {
		if !strings.Contains(last, want) {
			t.Errorf("the parent does not read %s", want)
		}
	}
	if strings.Contains(last, "package a") {
		t.Error("the agent's calls are in the parent's history")
	}
	info := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: child})
	if h := info.Session.Helper; h == nil || h.Parent != id || h.Rounds != 50 || !strings.HasPrefix(info.Session.Title, "Write the tests") {
		t.Errorf("%+v", info.Session)
	}
	if costs := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{Session: id}); len(costs.Models) != 2 {
		t.Errorf("the parent's costs leave out the agent's: %+v", costs.Models)
	}
	must[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: id})
	if _, err := call[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: child}); err == nil {
		t.Error("the agent outlived its parent")
	}
}

// LOOP-48, LOOP-148: the model is told if an agent cannot be started or does
// not exist. At most four work at a time.
func TestSubagentRefusals(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	for range 4 {
		server.Script("helper", llmtest.Round{Hang: true})
	}
	calls := []llmtest.Call{
		spawn(" ", nil), spawn("Look.", map[string]any{"working_dir": "../.."}),
		llmtest.Use("Wait", map[string]any{"agent_id": "nobody"}), llmtest.Use("SendInput", map[string]any{"agent_id": "nobody", "message": "hi"}),
		llmtest.Use("CloseAgent", map[string]any{"agent_id": "nobody"}),
	}
	other := p.session("openai")
	calls = append(calls, llmtest.Use("Wait", map[string]any{"agent_id": other}))
	server.Script(model, llmtest.Round{Calls: calls})
	for range 5 { // one after the other, so that they can be counted
		server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", nil)}})
	}
	server.Script(model, llmtest.Round{Text: "Done."})
	id := p.session("openai")
	p.send(id, "go")
	wants := []string{"empty", "outside the project", "no agent", "no agent", "no agent", "no agent"}
	for range wants {
		end := await(p, anyOf[agent.ToolCallEnd])
		if !end.IsError {
			t.Errorf("%s: %s", end.Tool, end.Output)
		}
	}
	var helpers []string
	for range 4 {
		child, end := agentOf(p, "Agent")
		if end.IsError {
			t.Fatal(end.Output)
		}
		helpers = append(helpers, child)
	}
	if end := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == "Agent" }); !end.IsError || !strings.Contains(end.Output, "4 agents work already") {
		t.Errorf("a fifth: %+v", end)
	}
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "Done." })
	if body := asked(server, "helper")[0]; strings.Contains(body, "spawn_agent") {
		t.Error("an agent can start others")
	}
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: id}) // which also ends them
	for range helpers {
		await(p, func(e agent.ProcessingEnd) bool { return e.Reason == agent.EndInterrupted })
	}
}

// An interrupt of the parent ends the wait and the agent. A failed agent is
// reported as failed.
func TestSubagentInterruptAndFailure(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	server.Script("helper", llmtest.Round{Status: 404, Body: `{"error":{"message":"no such model"}}`}, llmtest.Round{Hang: true})
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", nil)}})
	id := p.session("openai")
	p.send(id, "go")
	child, _ := agentOf(p, "Agent")
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Wait", map[string]any{"agent_id": child})}},
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("SendInput", map[string]any{"agent_id": child, "message": "Try again."})}},
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Wait", map[string]any{"agent_id": child})}})
	if _, end := agentOf(p, "Wait"); !end.IsError || !strings.Contains(end.Output, `"success":false`) || !strings.Contains(end.Output, "no such model") {
		t.Errorf("the failure is reported as %s", end.Output)
	}
	await(p, func(s agent.ToolCallStart) bool { return s.Tool == "Wait" })
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: id})
	ends := map[agent.EndReason]int{}
	for range 2 {
		ends[await(p, anyOf[agent.ProcessingEnd]).Reason]++
	}
	if ends[agent.EndInterrupted] != 2 {
		t.Errorf("ended as %v", ends)
	}
}

// LOOP-54: a session that is closed, here because its key is refused, ends its
// agents first.
func TestSubagentsEndBeforeTheirSession(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	server.Script("helper", llmtest.Round{Hang: true})
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", nil)}}, llmtest.Round{Status: 401})
	p.send(p.session("openai"), "go")
	child, _ := agentOf(p, "Agent")
	await(p, anyOf[agent.SessionEnd])
	if ended := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: child}); ended.Session.State != agent.StateClosed {
		t.Errorf("the agent is %s", ended.Session.State)
	}
}

// A session and its agents share one budget.
func TestSubagentBudget(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	dear, cheap := llm.Usage{Output: 100_000, Known: true}, llm.Usage{Output: 500_000, Known: true} // 1 dollar and 25 cents
	server.Script("gpt-6-luna", llmtest.Round{Text: "Seen.", Usage: cheap})
	server.Script("gpt-6.1-sol", llmtest.Round{Calls: []llmtest.Call{spawn("Look.", map[string]any{"model": "gpt-6-luna"})}, Usage: dear})
	id := must[backend.SessionInfo](p, "sessions.create", backend.Empty{}).ID
	set := agent.Settings{Provider: "openai", Model: "gpt-6.1-sol", Mode: agent.ModeDefault, Budget: 130 * llm.Dollar / 100}
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: set})
	await(p, func(s agent.SettingsChange) bool { return s.Settings == set })
	p.send(id, "go")
	child, _ := agentOf(p, "Agent")
	server.Script("gpt-6.1-sol", llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Wait", map[string]any{"agent_id": child})}})
	if limit := await(p, anyOf[agent.TurnLimit]); limit.Limit != "budget" || limit.Spent != 125*llm.Dollar/100 {
		t.Errorf("the parent was stopped by %+v", limit)
	}
	if info := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: child}).Session; info.Cost.Cost != 25*llm.Dollar/100 {
		t.Errorf("the agent spent %s", info.Cost.Cost)
	}
	p.send(child, "look again") // the rest is too little for an agent, too
	if limit := await(p, anyOf[agent.TurnLimit]); limit.Limit != "budget" || limit.Spent != 125*llm.Dollar/100 {
		t.Errorf("the agent was stopped by %+v", limit)
	}
}

// K-05: at most four agents start, even if the calls are made at once.
func TestSubagentsAtOnce(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	var calls []llmtest.Call
	for range 6 {
		server.Script("helper", llmtest.Round{Hang: true})
		calls = append(calls, spawn("Look.", nil))
	}
	server.Script(model, llmtest.Round{Calls: calls}, llmtest.Round{Text: "Done."})
	p.send(p.session("openai"), "go")
	refused := 0
	for range calls {
		if await(p, anyOf[agent.ToolCallEnd]).IsError {
			refused++
		}
	}
	if refused != 2 {
		t.Errorf("%d of 6 were refused, want 2", refused)
	}
}

// An agent's folder is in the project, whatever links lie there, and may be
// given as an absolute path. Its model may be that of a level (COM-51).
func TestSubagentPlaceAndLevel(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	prefer(p, func(prefs *backend.Preferences) { prefs.Levels.Mid = "openai/helper" })
	sub := filepath.Join(p.folder, "sub")
	if err := errors.Join(os.Mkdir(sub, 0o755), os.Symlink(t.TempDir(), filepath.Join(p.folder, "out")), os.WriteFile(filepath.Join(p.folder, "file"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	server.Script("helper", llmtest.Round{Text: "Seen."}, llmtest.Round{Text: "Seen."})
	for dir, want := range map[string]string{"sub": "", sub: "", "out": "outside", "/": "outside", "file": "not a folder", "none": "no folder"} {
		server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", map[string]any{"working_dir": dir, "model": "mid"})}}, llmtest.Round{Text: "Done."})
		id := p.session("openai")
		p.send(id, "go")
		end := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == "Agent" })
		if end.IsError != (want != "") || !strings.Contains(end.Output, want) {
			t.Errorf("%s: %s", dir, end.Output)
			continue
		}
		if want == "" {
			info := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: end.Details.Agent.Session}).Session
			if info.Helper.Folder != sub || info.Settings.Model != "helper" {
				t.Errorf("%s: %+v on %s", dir, info.Helper, info.Settings.Model)
			}
		}
	}
}
