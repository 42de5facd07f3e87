package workbench_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/audit"
	"atelier.dev/atelier/backend/branch"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
)

func fork(p *page, in workbench.ForkRequest) workbench.ForkReply {
	p.t.Helper()
	return must[workbench.ForkReply](p, "sessions.fork", in)
}

func logOf(p *page, session string) []agent.Event {
	p.t.Helper()
	events, err := p.store.Events(p.t.Context(), backend.EventRange{Session: session})
	if err != nil {
		p.t.Fatal(err)
	}
	return events
}

// asPoint is where an event is, for a fork there.
func asPoint(ev agent.Event) agent.ForkPlace { return agent.ForkPlace{Event: ev.Seq} }

// nth returns the n-th event of a type.
func nth[P agent.Payload](p *page, session string, n int) agent.Event {
	p.t.Helper()
	for _, ev := range logOf(p, session) {
		if _, ok := ev.Data.(P); ok {
			if n--; n == 0 {
				return ev
			}
		}
	}
	p.t.Fatalf("the log has too few %T", *new(P))
	return agent.Event{}
}

var readsFile = llmtest.Use("Read", map[string]any{"file_path": "a.txt"})

// everywhere has every provider's API at the server.
func everywhere(server *llmtest.Server) func(string) string {
	return func(name string) string {
		switch {
		case name == "GEMINI_BASE_URL":
			return server.Root
		case name == "ANTHROPIC_BASE_URL":
			return server.Root
		case strings.HasSuffix(name, "_API_KEY"):
			return "sk-test"
		}
		return environment(server, "sk-test")(name)
	}
}

// worked is a session with all that a log can be cut in: calls, steering, a user's
// command, an interrupted turn and a compaction.
func worked(p *page, server *llmtest.Server) string {
	p.t.Helper()
	put(p.t, p.folder+"/a.txt", "one\n")
	server.Add(
		llmtest.Round{Text: "I look.", Calls: []llmtest.Call{readsFile, llmtest.Use("Grep", map[string]any{"pattern": "one"})}},
		llmtest.Round{Text: "Twice.", Calls: []llmtest.Call{readsFile}},
		llmtest.Round{Text: "It says one."},
		llmtest.Round{Text: "More.", Calls: []llmtest.Call{readsFile}},
		llmtest.Round{Status: http.StatusBadRequest, Body: `{"error":{"message":"no"}}`},
		llmtest.Round{Text: "Done."},
	)
	id := p.session("compat")
	for _, text := range []string{"What does it say?", "And more?", "Go on"} {
		p.send(id, text)
		await(p, anyOf[agent.ProcessingEnd])
	}
	must[backend.Empty](p, "conversation.command", workbench.CommandRequest{Session: id, Command: "echo hi"})
	await(p, anyOf[agent.LocalCommandEnd])
	return id
}

// Wherever a log is cut, all providers accept what is sent next.
func TestForkAnywhere(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), everywhere(server))
	id := worked(p, server)
	log := logOf(p, id)
	rules := map[string]llmtest.Rules{"openai": llmtest.OpenAIRules, "compat": llmtest.OpenAIRules, "anthropic": llmtest.AnthropicRules, "gemini": llmtest.GoogleRules}
	for i, ev := range log {
		provider := []string{"openai", "compat", "anthropic", "gemini"}[i%4]
		server.Strict(rules[provider])
		server.Add(llmtest.Round{Text: "On."})
		set := agent.Settings{Provider: provider, Model: model, Mode: agent.ModeDefault}
		reply := fork(p, workbench.ForkRequest{Session: id, At: asPoint(ev), Settings: &set})
		if reply.Session.State != agent.StateIdle && reply.Session.State != agent.StateClosed {
			t.Errorf("%d %s: the fork is %s", ev.Seq, ev.Kind(), reply.Session.State)
		}
		p.send(reply.Session.ID, "go")
		if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason == agent.EndInterrupted {
			end = await(p, anyOf[agent.ProcessingEnd])
			if end.Reason != agent.EndDone {
				t.Errorf("%d %s: ended as %s", ev.Seq, ev.Kind(), end.Reason)
			}
		} else if end.Reason != agent.EndDone {
			t.Errorf("%d %s: ended as %s", ev.Seq, ev.Kind(), end.Reason)
		}
	}
	if diff := cmp.Diff(log, logOf(p, id)[:len(log)]); diff != "" {
		t.Errorf("the session changed: %s", diff)
	}
}

// OAS-605: a fork has exactly as many messages as it was asked for, and the last of
// them is not lost if it is an input.
func TestForkCountsMessages(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := worked(p, server)
	all := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Session.Messages
	for n := 1; n <= all; n++ {
		made := fork(p, workbench.ForkRequest{Session: id, NewID: fmt.Sprint("fork-", n), At: agent.ForkPlace{Messages: n}}).Session
		if made.Messages != n || made.Origin.Through != n || made.ID != fmt.Sprint("fork-", n) {
			t.Errorf("%d: %+v", n, made)
		}
	}
	server.Add(llmtest.Round{Text: "One."})
	p.send("fork-1", "go")
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "One." })
	requests := server.Requests()
	if body := requests[len(requests)-1].Body; !bytes.Contains(body, []byte("What does it say?")) || bytes.Contains(body, []byte("I look.")) {
		t.Errorf("%s", body)
	}
	for _, at := range []agent.ForkPlace{{Messages: all + 1}, {Messages: -1}, {Event: 9999}, {Event: 1, Messages: 1}} {
		if _, err := call[workbench.ForkReply](p, "sessions.fork", workbench.ForkRequest{Session: id, At: at}); err == nil || err.Code != backend.CodeNotFound {
			t.Errorf("%+v: %v", at, err)
		}
	}
	for _, name := range []string{"fork-1", "../x", "a/b", "a\x00", strings.Repeat("x", 200), ".", ".."} {
		if _, err := call[workbench.ForkReply](p, "sessions.fork", workbench.ForkRequest{Session: id, NewID: name}); err == nil || err.Code != backend.CodeInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// OAS-610: a fork at an input leaves it out and hands it back; one at an answer keeps
// the answer and the results of its calls.
func TestForkAtAMessage(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := worked(p, server)
	again := fork(p, workbench.ForkRequest{Session: id, At: asPoint(nth[agent.UserInput](p, id, 2)), Label: "again"})
	if again.Prompt != "And more?" || again.Session.Messages != 4 || again.Session.Marks.Label != "again" || again.Session.Title != "What does it say? (2)" {
		t.Errorf("%+v", again)
	}
	answer := fork(p, workbench.ForkRequest{Session: id, At: asPoint(nth[agent.TextEnd](p, id, 1)), Title: "Mine"})
	log := logOf(p, answer.Session.ID)
	ends := slices.DeleteFunc(slices.Clone(log), func(ev agent.Event) bool { return ev.Kind() != agent.KindToolCallEnd })
	if answer.Prompt != "" || answer.Session.Title != "Mine" || len(ends) != 2 || answer.Session.LastEnd != agent.EndInterrupted {
		t.Errorf("%+v with %d results", answer, len(ends))
	}
	tree := must[branch.BranchList](p, "sessions.branches", workbench.SessionRef{Session: again.Session.ID})
	other := p.session("compat")
	if alone := must[branch.BranchList](p, "sessions.branches", workbench.SessionRef{Session: other}); len(tree.Branches) != 3 || len(alone.Branches) != 1 {
		t.Errorf("%d and %d branches", len(tree.Branches), len(alone.Branches))
	}
	if third := fork(p, workbench.ForkRequest{Session: again.Session.ID}).Session; third.Title != "What does it say? (3)" || third.Marks.Label != "" || third.Origin.Session != again.Session.ID {
		t.Errorf("%+v", third)
	}
}

// OC-02, COM-96: a session forks while it waits for a person. The call in the fork has
// ended, its question is not asked there, and what was allowed for the other session is
// not allowed in the fork.
func TestForkOfAWorkingSession(t *testing.T) {
	t.Parallel()
	write := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": "a.txt", "content": "a"})}}
	server := llmtest.Serve(t, write, write)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	p.send(id, "write")
	first := await(p, anyOf[agent.ApprovalRequest])
	must[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{Session: id, Approval: first.ID, Answer: agent.Answer{Decision: agent.Allow, Scope: agent.ScopeSession}})
	await(p, anyOf[agent.ToolCallEnd])
	server.Add(llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]any{"command": "rm a.txt"})}})
	asked := await(p, anyOf[agent.ApprovalRequest])
	made := fork(p, workbench.ForkRequest{Session: id}).Session
	if made.State != agent.StateIdle || made.LastEnd != agent.EndInterrupted {
		t.Errorf("%+v", made)
	}
	end := await(p, anyOf[agent.ToolCallEnd])
	if end.CallID != asked.CallID || end.Outcome != agent.OutcomeInterrupted {
		t.Errorf("%+v", end)
	}
	if waits := must[workbench.ApprovalList](p, "approvals.list", backend.Empty{}); len(waits.Approvals) != 1 || waits.Approvals[0].Session != id {
		t.Errorf("%+v", waits)
	}
	read := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"file_path": "a.txt"})}} // the fork has not seen it
	server.Script(model, read, write)
	p.send(made.ID, "again")
	if second := await(p, anyOf[agent.ApprovalRequest]); second.Tool != "Write" {
		t.Errorf("%+v", second)
	}
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: made.ID})
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: id})
}

// What was spent and changed before a fork counts once: the folder's costs are the
// sum of what its sessions show, also after a fork of a fork.
func TestForkCountsCostsOnce(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := worked(p, server)
	one := fork(p, workbench.ForkRequest{Session: id}).Session.ID
	server.Add(llmtest.Round{Text: "On.", Usage: llm.Usage{Known: true, Input: 11, Output: 2}})
	p.send(one, "go")
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "On." })
	await(p, anyOf[agent.ProcessingEnd])
	two := fork(p, workbench.ForkRequest{Session: one}).Session
	if two.Usage.Input != 0 || two.Lines != (backend.Lines{}) {
		t.Errorf("%+v", two)
	}
	var sum int64
	for _, info := range must[backend.SessionPage](p, "sessions.list", backend.Empty{}).Sessions {
		sum += info.Usage.Input
	}
	if total := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{}).Total.Usage.Input; total != sum || total == 0 {
		t.Errorf("the folder has %d, its sessions %d", total, sum)
	}
	if opened := must[audit.LedgerPage](p, "permissions.ledger", workbench.LedgerRequest{}); len(opened.Rows) != 4 {
		t.Errorf("%d calls ran, and %d are listed", 4, len(opened.Rows))
	}
}

// A fork of a session that runs everything asks again, unless it is asked for otherwise.
func TestForkAsksAgain(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t, llmtest.Round{Text: "Hello."}), "sk-test"))
	id := p.session("compat")
	all := agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeBypass}
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: id, Settings: all})
	p.send(id, "hi")
	await(p, anyOf[agent.ProcessingEnd])
	if mode := fork(p, workbench.ForkRequest{Session: id}).Session.Settings.Mode; mode != agent.ModeDefault {
		t.Errorf("the fork's mode is %s", mode)
	}
	if mode := fork(p, workbench.ForkRequest{Session: id, Settings: &all}).Session.Settings.Mode; mode != agent.ModeBypass {
		t.Errorf("the mode that was asked for is %s", mode)
	}
}
