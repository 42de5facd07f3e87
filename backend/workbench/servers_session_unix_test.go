//go:build unix

package workbench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/external/externaltest"
	"atelier.dev/atelier/agent/llm/llmtest"
	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/mcptest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/mcp"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	externaltest.Main()
	if of := os.Getenv(crashingUndo); of != "" {
		undoUntilKilled(of)
	}
	os.Exit(m.Run())
}

// withServers opens a page of a user who has a server, in a folder and a home.
func withServers(t *testing.T, s client.Server, folder, home string, rounds ...llmtest.Round) *page {
	t.Helper()
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{s.Name: map[string]any{"command": s.Stdio.Command, "env": s.Stdio.Env}}})
	if err != nil {
		t.Fatal(err)
	}
	user := t.TempDir()
	put(t, filepath.Join(user, ".agent", "settings.json"), string(text))
	from := environment(llmtest.Serve(t, rounds...), "k")
	getenv := func(name string) string {
		if name == "HOME" {
			return user
		}
		return from(name)
	}
	p := openPage(t, folder, home, getenv, func(s *storage.Store) backend.Store { return s }, func(*workbench.Config) {})
	p.servers(func(r mcp.ServersReply) bool {
		return slices.ContainsFunc(r.Servers, func(row mcp.ServerRow) bool { return row.State == mcp.StateConnected && row.Counts.Tools > 0 })
	})
	return p
}

// servers waits until the list of servers is as wanted, and returns it.
func (p *page) servers(fits func(mcp.ServersReply) bool) mcp.ServersReply {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		reply := must[mcp.ServersReply](p, "mcp.list", mcp.ServersRequest{})
		if fits(reply) {
			return reply
		}
		p.more(deadline, "the servers")
	}
}

// question waits for a server's question.
func (p *page) question() mcp.ServerQuestion {
	p.t.Helper()
	return p.servers(func(r mcp.ServersReply) bool { return len(r.Waiting) > 0 }).Waiting[0]
}

func calls(tool string) llmtest.Round {
	return llmtest.Round{Calls: []llmtest.Call{llmtest.Use("mcp__good__"+tool, map[string]string{"text": "x"})}}
}

// A server that wants the user's model gets its answer once the person allows it, and the
// session's costs have the request.
func TestServerSamples(t *testing.T) {
	t.Parallel()
	p := withServers(t, mcptest.Stdio(t, "good"), t.TempDir(), t.TempDir(), calls("sample"), llmtest.Round{Text: "It is two."}, llmtest.Round{Text: "Done."})
	id := p.session("openai")
	p.send(id, "go")
	p.allow(id, await(p, anyOf[agent.ApprovalRequest]))
	q := p.question()
	if q.Server != "good" || q.Session != id || q.Sampling == nil || q.Sampling.System != "Count." || q.Sampling.Model != model || q.Sampling.Messages[0].Text != "What is 1+1?" {
		t.Errorf("%+v", q)
	}
	must[backend.Empty](p, "mcp.answer", mcp.ServerAnswer{ID: q.ID, Action: mcp.ActionAccept})
	if r := await(p, anyOf[agent.SideRequest]); r.Purpose != agent.PurposeSampling || r.Model != model {
		t.Errorf("%+v", r)
	}
	end := await(p, anyOf[agent.ToolCallEnd])
	if end.Outcome != agent.OutcomeDone || !strings.Contains(end.Output, "It is two.") {
		t.Errorf("%+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
}

// A question ends with its turn. An answer that comes later is refused and goes nowhere.
func TestServerAsksAndTurnStops(t *testing.T) {
	t.Parallel()
	p := withServers(t, mcptest.Stdio(t, "good"), t.TempDir(), t.TempDir(), calls("elicit"), llmtest.Round{Text: "Done."})
	id := p.session("openai")
	p.send(id, "go")
	p.allow(id, await(p, anyOf[agent.ApprovalRequest]))
	q := p.question()
	if q.Form == nil || q.Form.Message != "Your name?" {
		t.Errorf("%+v", q)
	}
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: id})
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Outcome != agent.OutcomeInterrupted {
		t.Errorf("%+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
	p.servers(func(r mcp.ServersReply) bool { return len(r.Waiting) == 0 })
	answer := mcp.ServerAnswer{ID: q.ID, Action: mcp.ActionAccept, Content: json.RawMessage(`{"name":"Ann"}`)}
	if _, err := call[backend.Empty](p, "mcp.answer", answer); err == nil || err.ID != backend.ProblemServerQuestionGone {
		t.Errorf("%v", err)
	}
}

// A session that was closed during a question can be opened again and goes on; the
// question is gone, and what was typed before is in no file of ours.
func TestServerAsksAndProgramEnds(t *testing.T) {
	t.Parallel()
	folder, home := t.TempDir(), t.TempDir()
	p := withServers(t, mcptest.Stdio(t, "good"), folder, home, calls("elicit"))
	id := p.session("openai")
	p.send(id, "go")
	p.allow(id, await(p, anyOf[agent.ApprovalRequest]))
	q := p.question()
	wrong := mcp.ServerAnswer{ID: q.ID, Action: mcp.ActionAccept, Content: json.RawMessage(`{"name":["hunter2"]}`)}
	if _, err := call[backend.Empty](p, "mcp.answer", wrong); err == nil || err.ID != backend.ProblemServerAnswer || strings.Contains(err.Details, "hunter2") {
		t.Errorf("%v", err)
	}
	p.close()
	p = withServers(t, mcptest.Stdio(t, "good"), folder, home, calls("echo"), llmtest.Round{Text: "Done."})
	if waits := must[mcp.ServersReply](p, "mcp.list", mcp.ServersRequest{}).Waiting; len(waits) > 0 {
		t.Errorf("%+v", waits)
	}
	p.send(id, "again")
	p.allow(id, await(p, anyOf[agent.ApprovalRequest]))
	if end := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == "mcp__good__echo" }); end.Outcome != agent.OutcomeDone || end.Output != "x" {
		t.Errorf("%+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
	p.close()
	err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), "hunter2") {
			t.Errorf("%s has what was typed", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A server with more tools than fit into a share of the window is searched, and the
// list says so (OAS-308).
func TestServerToolsAreDeferred(t *testing.T) {
	t.Parallel()
	p := withServers(t, mcptest.Stdio(t, "many-tools"), t.TempDir(), t.TempDir(),
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("ToolSearch", map[string]string{"query": "select:tool7"})}}, llmtest.Round{Text: "Done."})
	id := p.session("openai")
	if !must[mcp.ServersReply](p, "mcp.list", mcp.ServersRequest{Session: id}).Deferred {
		t.Error("the list does not say so")
	}
	p.send(id, "go")
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Tool != "ToolSearch" || end.Details == nil || !slices.Equal(end.Details.Loaded, []string{"mcp__many-tools__tool7"}) {
		t.Errorf("%+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
}

// A tool that the user switches off in a session is not called there, also by a model
// that knows it; elsewhere it is (OAS-410).
func TestServerToolIsSwitchedOff(t *testing.T) {
	t.Parallel()
	p := withServers(t, mcptest.Stdio(t, "good"), t.TempDir(), t.TempDir(), calls("echo"), llmtest.Round{Text: "Done."}, calls("echo"), llmtest.Round{Text: "Done."})
	id, other := p.session("openai"), p.session("openai")
	must[backend.Empty](p, "mcp.switch", mcp.ServerSwitchRequest{Server: "good", Tool: "echo", Session: id})
	p.send(id, "go")
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Outcome != agent.OutcomeFailed || !strings.Contains(end.Output, "switched it off in this session") {
		t.Errorf("%+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
	p.send(other, "go")
	p.allow(other, await(p, anyOf[agent.ApprovalRequest]))
	await(p, func(e agent.ToolCallEnd) bool { return e.Outcome == agent.OutcomeDone && e.Output == "x" })
	await(p, anyOf[agent.ProcessingEnd])
	must[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: id})
	if left, err := p.store.Setting(t.Context(), "mcp.switched."+id); err != nil || left != "" {
		t.Errorf("of a deleted session there is %q, %v", left, err)
	}
}
