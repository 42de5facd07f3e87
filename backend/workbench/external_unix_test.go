//go:build unix

package workbench_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/external"
	"atelier.dev/atelier/agent/external/externaltest"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/guard"
	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/backend/workbench"
)

// withAgent opens a page of a user who has added the scripted agent, and a session of it.
func withAgent(t *testing.T) (p *page, id string) {
	t.Helper()
	p = newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
	list := must[models.ExternalList](p, "external.set", models.ExternalAgent{Name: "Scripted", Command: os.Args[0] + " " + externaltest.Arg})
	if len(list.Agents) != 1 || list.Agents[0].ID != "agent-scripted" {
		t.Fatalf("%+v", list)
	}
	info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: info.ID, Settings: agent.Settings{Provider: "agent-scripted", Model: external.DefaultModel, Mode: agent.ModeDefault},
	})
	return p, info.ID
}

// OC-05: an external agent answers a session. Its files and commands go through the session's
// tools, so the gate asks about them, the journal has them and undo takes them back; what it
// asks to be permitted is a question like any other, and what it did by itself is recorded.
func TestExternalAgent(t *testing.T) {
	t.Parallel()
	p, id := withAgent(t)
	p.putFile("old.txt", "before\n")
	file := func(name string) string { return filepath.Join(p.folder, name) }
	p.send(id, strings.Join([]string{
		"think Hm.", "say Hello.", "read " + file("old.txt"), "write " + file("old.txt") + " after", "run echo ran-it; exit 3", "permit make all", "alone Changed it", "cost", "say Done.",
	}, "\n"))
	if first := await(p, anyOf[agent.TextEnd]); first.Message.Text() != "Hello.\n" || len(first.Message.Calls()) != 1 || first.Provider != "agent-scripted" {
		t.Errorf("the first answer: %+v", first)
	}
	if read := await(p, anyOf[agent.ToolCallEnd]); read.Tool != "Read" || read.IsError {
		t.Errorf("%+v", read)
	}
	if said := await(p, anyOf[agent.TextEnd]).Message; !strings.Contains(said.Text(), "read before") {
		t.Errorf("it was not given the file: %q", said.Text())
	}
	write := await(p, anyOf[agent.ApprovalRequest])
	if write.Tool != "Write" || len(write.Changes) != 1 {
		t.Errorf("%+v", write)
	}
	p.allow(id, write)
	shell := await(p, anyOf[agent.ApprovalRequest])
	if shell.Tool != "Bash" || shell.Access.Command != "echo ran-it; exit 3" {
		t.Errorf("%+v", shell)
	}
	p.allow(id, shell)
	consent := await(p, anyOf[agent.ApprovalRequest])
	if consent.Tool != external.ConsentTool || consent.Access.Command != "make all" {
		t.Errorf("%+v", consent)
	}
	must[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{Session: id, Approval: consent.ID, Answer: agent.Answer{Decision: agent.Deny}})
	step := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == external.StepTool })
	if !strings.Contains(step.Output, "outside Atelier's rules") || !strings.Contains(step.Output, "+new") {
		t.Errorf("what it did by itself: %s", step.Output)
	}
	last := await(p, anyOf[agent.TextEnd])
	if last.Message.Text() != "Done.\n" || last.Usage.Input != 70 {
		t.Errorf("the last answer: %+v", last)
	}
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
		t.Errorf("%+v", end)
	}
	var all strings.Builder
	var cost llm.Cost
	for _, message := range must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Events {
		if d, ok := message.Data.(agent.TextEnd); ok {
			all.WriteString(d.Message.Text())
			if d.Cost != nil {
				cost += *d.Cost
			}
		}
	}
	for _, want := range []string{"wrote " + file("old.txt"), `ran ran-it {"exitCode":3}`, "chosen no"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("it did not hear %q: %s", want, all.String())
		}
	}
	if cost != llm.Dollar/4 {
		t.Errorf("it cost %s", cost)
	}
	if got := p.fileText("old.txt"); got != "after\n" {
		t.Errorf("the file has %q", got)
	}
}

// A deny rule holds for what an external agent does through its client and for what it asks to
// be permitted; nobody is asked.
func TestExternalAgentObeysRules(t *testing.T) {
	t.Parallel()
	p, id := withAgent(t)
	must[guard.RuleEntry](p, "permissions.add", guard.AddRequest{Session: id, Rule: "Bash(rm *)", Decision: agent.Deny, Scope: agent.ScopeSession})
	p.send(id, "permit rm -r build\nrun rm -r build\nread "+filepath.Join(p.folder, "none"))
	for range 3 {
		end := await(p, anyOf[agent.ToolCallEnd])
		if !end.IsError {
			t.Errorf("%+v", end)
		}
	}
	said := await(p, func(e agent.TextEnd) bool { return len(e.Message.Calls()) == 0 }).Message.Text()
	if !strings.Contains(said, "read not: ") {
		t.Errorf("it heard %q", said)
	}
}

// The plan of an external agent is the session's list of tasks, once for each change.
func TestExternalAgentPlans(t *testing.T) {
	t.Parallel()
	p, id := withAgent(t)
	p.send(id, "plan Look around,Mend it\nsay planned\nplan Mend it")
	for _, want := range []string{"Look around", "Mend it"} {
		end := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == external.PlanTool })
		if end.IsError || end.Details == nil || end.Details.Kept == nil || end.Details.Kept.Line != want {
			t.Errorf("planned %+v: %s", end.Details, end.Output)
		}
	}
	await(p, anyOf[agent.ProcessingEnd])
	n := 0
	for _, ev := range must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Events {
		if d, ok := ev.Data.(agent.ToolCallEnd); ok && d.Tool == external.PlanTool {
			n++
		}
	}
	if n != 2 {
		t.Errorf("a plan that changed once was kept %d times", n)
	}
}

// A turn that is stopped cancels the prompt, and what the user writes next is answered by the
// same agent. After a rewind, or in another process, it is given the conversation as a text.
func TestExternalAgentGoesOn(t *testing.T) {
	t.Parallel()
	p, id := withAgent(t)
	p.send(id, "say one\npermit make\nhang")
	await(p, anyOf[agent.ApprovalRequest])
	must[backend.Empty](p, "conversation.interrupt", map[string]string{"session": id})
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndInterrupted {
		t.Errorf("%+v", end)
	}
	p.send(id, "say two")
	if said := await(p, func(e agent.TextEnd) bool { return e.Finish.Reason == llm.FinishStop }).Message.Text(); said != "two\n" {
		t.Errorf("it said %q", said)
	}
	await(p, anyOf[agent.ProcessingEnd])
	folder, home := p.folder, p.home
	p.close()
	p = newPage(t, folder, home, environment(llmtest.Serve(t), ""))
	p.send(id, "echo")
	said := await(p, func(e agent.TextEnd) bool { return e.Finish.Reason == llm.FinishStop }).Message.Text()
	for _, want := range []string{"<conversation>", "user: say one", "assistant: two"} {
		if !strings.Contains(said, want) {
			t.Errorf("it was given %q", said)
		}
	}
}

// The session goes on when an agent floods, asks too much at once, lies about ids or dies in a
// question: the turn fails or its requests are refused, and the next message is answered.
func TestExternalAgentMisbehaves(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ prompt, failure, said string }{
		"floods": {prompt: "say hello\nflood", failure: "more than can be kept"},
		"dies":   {prompt: "say hello\ndie", failure: "cannot go on"},
		"lies":   {prompt: "lie /etc/passwd", said: "there is no session"},
		"crowds": {prompt: "crowd /nowhere", said: "all answered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, id := withAgent(t)
			p.bypassExternal(id)
			p.send(id, tt.prompt)
			if end := await(p, anyOf[agent.ProcessingEnd]); (end.Reason == agent.EndFailed) != (tt.failure != "") {
				t.Errorf("%+v", end)
			}
			p.send(id, "say still here")
			said := await(p, func(e agent.TextEnd) bool { return strings.Contains(e.Message.Text(), "still here") }).Message.Text()
			if strings.Contains(said, "unheard") {
				t.Errorf("it spoke in another session: %s", said)
			}
			await(p, anyOf[agent.ProcessingEnd])
			log := ""
			for _, ev := range must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Events {
				switch d := ev.Data.(type) {
				case agent.TextEnd:
					log += d.Message.Text()
				case agent.Failure:
					log += fmt.Sprintf("%+v", d)
				}
			}
			if !strings.Contains(log, tt.failure) || !strings.Contains(log, tt.said) {
				t.Errorf("the log says %.2000s", log)
			}
		})
	}
}

// A pipe that an external agent wants to read is refused like by Read, and not waited for.
func TestExternalAgentReadsAPipe(t *testing.T) {
	t.Parallel()
	p, id := withAgent(t)
	p.bypassExternal(id)
	pipe := filepath.Join(p.folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	p.send(id, "read "+pipe)
	if said := await(p, func(e agent.TextEnd) bool { return len(e.Message.Calls()) == 0 }).Message.Text(); !strings.Contains(said, "read not: ") {
		t.Errorf("it says %q", said)
	}
}

// bypassExternal allows a session of the scripted agent everything.
func (p *page) bypassExternal(id string) {
	p.t.Helper()
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: id, Settings: agent.Settings{Provider: "agent-scripted", Model: external.DefaultModel, Mode: agent.ModeBypass},
	})
	await(p, func(s agent.SettingsChange) bool { return s.Settings.Mode == agent.ModeBypass })
}

// An agent is started, says what it is, and offers its models; one that is not there says so;
// one that is removed no longer answers; what is no command or no name is refused.
func TestExternalAgentSettings(t *testing.T) {
	t.Parallel()
	p, id := withAgent(t)
	report := must[external.AgentReport](p, "external.check", models.ExternalRef{ID: "agent-scripted"})
	if report.Name != "Scripted" || report.Version != "1.2.3" || report.Models != 2 {
		t.Errorf("%+v", report)
	}
	find(t, must[models.ModelList](p, "models.list", models.ModelsRequest{Refresh: true}), "agent-scripted", "large")
	must[models.ExternalList](p, "external.set", models.ExternalAgent{Name: "Absent", Command: "/nonexistent/agent"})
	if _, err := call[external.AgentReport](p, "external.check", models.ExternalRef{ID: "agent-absent"}); err == nil || !strings.Contains(err.Details, "no program") {
		t.Errorf("%+v", err)
	}
	for _, wrong := range []models.ExternalAgent{
		{Name: "", Command: "x"}, {Name: "x", Command: " "}, {Name: "x", Command: "x 'open"}, {Name: "x", Command: "x", Env: []string{"A=b"}}, {ID: "none", Name: "x", Command: "x"},
	} {
		if _, err := call[models.ExternalList](p, "external.set", wrong); err == nil {
			t.Errorf("%+v was accepted", wrong)
		}
	}
	if list := must[models.ExternalList](p, "external.remove", models.ExternalRef{ID: "agent-scripted"}); len(list.Agents) != 1 {
		t.Errorf("%+v", list)
	}
	if _, err := call[backend.Empty](p, "conversation.send", conversation.SendRequest{Session: id, Text: "say x"}); err == nil {
		t.Error("a removed agent took a message")
	}
}

// OC-05: an agent that is written with the library of the protocol's makers works like ours.
func TestExternalAgentOfTheMakers(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("../../scripts/conformance/agent.mjs")
	if err != nil {
		t.Fatal(err)
	}
	node, lookErr := exec.LookPath("node")
	if _, err := os.Stat(filepath.Join(filepath.Dir(script), "node_modules", "@agentclientprotocol", "sdk")); err != nil || lookErr != nil {
		t.Skip("the packages of scripts/conformance or node are missing: scripts/setup.sh test")
	}
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
	p.putFile("in.txt", "hello\n")
	must[models.ExternalList](p, "external.set", models.ExternalAgent{Name: "Makers", Command: node + " " + script})
	info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: info.ID, Settings: agent.Settings{Provider: "agent-makers", Model: external.DefaultModel, Mode: agent.ModeDefault},
	})
	p.send(info.ID, "Go.")
	p.allow(info.ID, await(p, func(r agent.ApprovalRequest) bool { return r.Tool == external.ConsentTool }))
	p.allow(info.ID, await(p, func(r agent.ApprovalRequest) bool { return r.Tool == "Write" }))
	if said := await(p, func(e agent.TextEnd) bool { return e.Finish.Reason == llm.FinishStop }).Message.Text(); said != "Exit 0: written." {
		t.Errorf("it said %q", said)
	}
	if got := p.fileText("out.txt"); got != "written\n" {
		t.Errorf("it wrote %q", got)
	}
}
