package workbench_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/contexts"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
)

// A side question is answered from the conversation, with the same instructions and tools, so that
// the cache is read, but none of these runs. Afterwards the conversation is what it was, and its
// ledger has what the answer cost.
func TestAside(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	used := llm.Usage{Input: 1000, Output: 10, Known: true}
	server.Script("gpt-6.1-sol", llmtest.Round{Text: "The gate is in gate.go.", Usage: used},
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("write_file", map[string]any{"file_path": "evil", "content": "x"})}, Usage: used},
		llmtest.Round{Text: "In gate.go, as I said.", Usage: used})
	id := must[backend.SessionInfo](p, "sessions.create", backend.Empty{}).ID
	set := agent.Settings{Provider: "openai", Model: "gpt-6.1-sol", Mode: agent.ModeBypass}
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: set})
	await(p, func(s agent.SettingsChange) bool { return s.Settings == set })
	p.send(id, "Where is the gate? Secret word: heron.")
	await(p, func(e agent.ProcessingEnd) bool { return !e.Next })
	before := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id})

	got := must[contexts.AsideReply](p, "aside.ask", contexts.AsideRequest{Session: id, Question: "Where was it again?"})
	if got.Answer != "In gate.go, as I said." || got.Model != "gpt-6.1-sol" || got.Cost.Cost == 0 {
		t.Errorf("%+v", got)
	}
	bodies := asked(server, "gpt-6.1-sol")
	if len(bodies) != 3 || !strings.Contains(bodies[1], "heron") || !strings.Contains(bodies[1], "Where was it again?") || !strings.Contains(bodies[2], "answered without tools") {
		t.Fatalf("asked %q", bodies)
	}
	tools := func(body string) string { _, rest, _ := strings.Cut(body, `"tools":`); return rest }
	if tools(bodies[0]) == "" || tools(bodies[0]) != tools(bodies[1]) {
		t.Error("the tools differ, so that nothing is read from the cache")
	}
	after := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id})
	var added []agent.Event
	for _, ev := range after.Events {
		if ev.Seq > before.Session.Seq {
			added = append(added, ev)
		}
	}
	if side, ok := added[0].Data.(agent.SideRequest); !ok || len(added) != 1 || side.Purpose != agent.PurposeAside || side.Usage.Input != 2000 {
		t.Errorf("%+v", added)
	}
	costs := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{Session: id})
	if len(costs.Purposes) != 2 {
		t.Errorf("%+v", costs.Purposes)
	}

	server.Script("gpt-6.1-sol", llmtest.Round{Text: "Yes."})
	p.send(id, "Thank you.")
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "Yes." })
	if bodies := asked(server, "gpt-6.1-sol"); strings.Contains(bodies[3], "again?") || strings.Contains(bodies[3], "as I said") {
		t.Errorf("the conversation goes on with %s", bodies[3])
	}
	await(p, anyOf[agent.ProcessingEnd])
}

// A session can be asked while it works, and refuses what is no question.
func TestAsideWhileWorking(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	server.Script(model, llmtest.Round{Text: "I begin.", Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": "a.txt", "content": "x"})}})
	id := p.session("openai")
	p.send(id, "go")
	await(p, anyOf[agent.ApprovalRequest]) // which keeps it waiting
	server.Script(model, llmtest.Round{Text: "At the beginning."})
	if got := must[contexts.AsideReply](p, "aside.ask", contexts.AsideRequest{Session: id, Question: "How far are you?"}); got.Answer != "At the beginning." {
		t.Errorf("%+v", got)
	}
	if info := must[backend.SessionInfo](p, "sessions.get", workbench.SessionRef{Session: id}); info.State != agent.StateAwaitingInput {
		t.Errorf("it is %s", info.State)
	}
	for _, question := range []string{" ", strings.Repeat("x", 40_000)} {
		if _, err := call[contexts.AsideReply](p, "aside.ask", contexts.AsideRequest{Session: id, Question: question}); err == nil {
			t.Errorf("%.10q was answered", question)
		}
	}
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: id})
	await(p, anyOf[agent.ProcessingEnd])
}
