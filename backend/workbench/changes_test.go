package workbench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/filechanges"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/tsgen"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// git runs git in the project as a user does.
func (p *page) git(args ...string) string {
	p.t.Helper()
	if sandbox.LookPath("git") == "" {
		p.t.Skip("no git")
	}
	r, err := sandbox.Run(p.t.Context(), sandbox.Spec{Dir: p.folder, Argv: append([]string{"git", "-c", "user.name=A", "-c", "user.email=a@b"}, args...)})
	if err != nil || r.ExitCode != 0 {
		p.t.Fatalf("git %v: %v %s", args, err, r.Stderr)
	}
	return r.Stdout
}

func (p *page) putFile(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.folder, name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *page) fileText(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.folder, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// changed has a line for each file of a scope.
func (p *page) changed(session string, scope changes.ChangeScope) string {
	p.t.Helper()
	reply := must[filechanges.ChangesReply](p, "changes.list", filechanges.ChangesRequest{Session: session, Scope: scope})
	var lines []string
	for _, f := range reply.Files {
		lines = append(lines, fmt.Sprintf("%s %s +%d -%d", f.State, f.Path, f.Added, f.Removed))
	}
	return strings.Join(lines, "\n")
}

func use(tool string, members ...any) llmtest.Call {
	in := map[string]any{}
	for i := 0; i < len(members); i += 2 {
		in[members[i].(string)] = members[i+1]
	}
	return llmtest.Use(tool, in)
}

// A page sees what a session and its agents changed, in all and in the last
// turn, and puts a part back. The model then has to read the file again.
func TestChangesOfASession(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	var lines []string
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("line %d\n", i))
	}
	p.putFile("f", strings.Join(lines, ""))
	id := p.session("openai")
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: id, Settings: agent.Settings{Provider: "openai", Model: model, Mode: agent.ModeBypass},
	})
	edit := func(from, to string) llmtest.Call {
		return use("Edit", "file_path", "f", "old_string", from, "new_string", to)
	}
	server.Script(model,
		llmtest.Round{Calls: []llmtest.Call{use("Read", "file_path", "f"), edit("line 3\n", "three\n"), use("Write", "file_path", "new", "content", "1\n")}},
		llmtest.Round{Text: "First."})
	p.send(id, "Begin")
	await(p, anyOf[agent.ProcessingEnd])

	server.Script("helper", llmtest.Round{Calls: []llmtest.Call{use("Write", "file_path", "theirs", "content", "1\n2\n")}}, llmtest.Round{Text: "Done."})
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{edit("line 20\n", "twenty\n"), spawn("Write it.", nil)}})
	p.send(id, "Go on")
	child, _ := agentOf(p, "Agent")
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Wait", map[string]any{"agent_id": child})}}, llmtest.Round{Text: "Second."})
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "Second." })
	await(p, anyOf[agent.ProcessingEnd])

	if got := p.changed(id, changes.ScopeSession); got != "modified f +2 -2\nadded new +1 -0\nadded theirs +2 -0" {
		t.Errorf("the session:\n%s", got)
	}
	if got := p.changed(id, changes.ScopeTurn); got != "modified f +1 -1\nadded theirs +2 -0" {
		t.Errorf("the turn:\n%s", got)
	}
	d := must[filechanges.DiffReply](p, "changes.diff", filechanges.DiffRequest{Session: id, Scope: changes.ScopeTurn, Path: "f"})
	if !strings.Contains(d.Diff, "-line 20\n+twenty\n") || strings.Contains(d.Diff, "three") || d.Edits != nil {
		t.Errorf("%+v", d)
	}
	must[backend.Empty](p, "changes.put_back", filechanges.PutBackRequest{Session: id, Scope: changes.ScopeTurn, Path: "f", Hunk: d.Diff})
	lines[3] = "three\n"
	if p.fileText("f") != strings.Join(lines, "") {
		t.Errorf("%q", p.fileText("f"))
	}
	if got := p.changed(id, changes.ScopeTurn); got != "added theirs +2 -0" {
		t.Errorf("the turn:\n%s", got)
	}
	theirs := must[filechanges.DiffReply](p, "changes.diff", filechanges.DiffRequest{Session: id, Scope: changes.ScopeSession, Path: "theirs"})
	must[backend.Empty](p, "changes.put_back", filechanges.PutBackRequest{Session: id, Scope: changes.ScopeSession, Path: "theirs", Seen: theirs.Seen})
	if got := p.changed(id, changes.ScopeSession); got != "modified f +1 -1\nadded new +1 -0" {
		t.Errorf("the session:\n%s", got)
	}

	server.Script(model, llmtest.Round{Calls: []llmtest.Call{edit("line 25\n", "x\n")}}, llmtest.Round{Text: "Third."})
	p.send(id, "Go on")
	if end := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == "Edit" }); end.IsError || !strings.Contains(end.Output, "changed elsewhere") {
		t.Errorf("the edit after the put-back: %+v", end)
	}
	await(p, anyOf[agent.ProcessingEnd])
	for _, in := range []filechanges.ChangesRequest{{Scope: changes.ScopeSession}, {Scope: "x", Session: id}, {Scope: changes.ScopeTurn, Session: "none"}} {
		if _, err := call[filechanges.ChangesReply](p, "changes.list", in); err == nil || err.Code != backend.CodeInvalid && err.Code != backend.CodeNotFound {
			t.Errorf("%+v: %v", in, err)
		}
	}

	// After a restart, what was put back is remembered.
	home := p.home
	p.close()
	p = newPage(t, p.folder, home, environment(server, "sk-test"))
	if got := p.changed(id, changes.ScopeSession); got != "modified f +2 -2\nadded new +1 -0" { // lines 3 and 25
		t.Errorf("after a restart:\n%s", got)
	}
}

// The page works with git as far as it goes: lists, stages, commits and begins
// a branch. Refusals are problems with words.
func TestChangesByGit(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), withoutKey)
	if r := must[filechanges.ChangesReply](p, "changes.list", filechanges.ChangesRequest{Scope: changes.ScopeUncommitted}); r.Git != changes.GitNone {
		t.Errorf("%+v", r)
	}
	p.git("init", "-q", "-b", "main")
	p.git("config", "user.name", "A")
	p.git("config", "user.email", "a@b")
	p.putFile("f", "1\n")
	must[backend.Empty](p, "changes.stage", filechanges.PathsRequest{Paths: []string{"f"}})
	if c := must[filechanges.CommitReply](p, "changes.commit", filechanges.CommitRequest{Message: "first"}); c.ID == "" || c.HooksSkipped != nil {
		t.Errorf("%+v", c)
	}
	must[backend.Empty](p, "changes.branch", filechanges.BranchRequest{Name: "work"})
	p.putFile("f", "2\n")
	if got := p.changed("", changes.ScopeBranch); got != "modified f +1 -1" {
		t.Error(got)
	}
	if l := must[filechanges.LinesReply](p, "changes.lines", filechanges.LinesRequest{Path: "f", From: 1, To: 5}); l.Total != 1 || l.Lines[0] != "2" {
		t.Errorf("%+v", l)
	}
	_, err := call[filechanges.CommitReply](p, "changes.commit", filechanges.CommitRequest{Message: "x"})
	if err == nil || err.ID != backend.ProblemChangesNothingStaged || err.Next == "" {
		t.Errorf("%+v", err)
	}
	_, err = call[backend.Empty](p, "changes.put_back", filechanges.PutBackRequest{Scope: changes.ScopeUncommitted, Path: "f", Seen: "old"})
	if err == nil || err.ID != backend.ProblemChangesChanged || err.Message != "f has changed since it was shown." {
		t.Errorf("%+v", err)
	}
	_, err = call[backend.Empty](p, "changes.branch", filechanges.BranchRequest{Name: "a..b"})
	if err == nil || err.Message != `"a..b" cannot be the name of a branch.` {
		t.Errorf("%+v", err)
	}
}

// Each refusal has its words.
func TestRefusalsHaveWords(t *testing.T) {
	t.Parallel()
	kinds, err := tsgen.Enums("../../agent/changes")
	if err != nil || len(kinds["Refusal"]) < 20 {
		t.Fatal(kinds, err)
	}
	for _, kind := range kinds["Refusal"] {
		if p := backend.Problem(backend.ProblemID("changes_" + kind)); p.Message == "" || p.Code == "" {
			t.Errorf("%s has no words", kind)
		}
	}
}

// A program that was started read-only changes nothing.
func TestChangesReadOnly(t *testing.T) {
	t.Parallel()
	p := openPage(t, t.TempDir(), t.TempDir(), withoutKey, func(s *storage.Store) backend.Store { return s }, func(c *workbench.Config) { c.ReadOnly = true })
	p.git("init", "-q", "-b", "main")
	p.putFile("f", "1\n")
	for method, in := range map[string]any{
		"changes.put_back": filechanges.PutBackRequest{Scope: changes.ScopeUncommitted, Path: "f", Seen: "x"},
		"changes.stage":    filechanges.PathsRequest{Paths: []string{"f"}},
		"changes.commit":   filechanges.CommitRequest{Message: "x"},
		"changes.branch":   filechanges.BranchRequest{Name: "x"},
	} {
		if _, err := call[backend.Empty](p, method, in); err == nil || err.ID != backend.ProblemChangesReadOnly {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// A small model proposes a commit's message. It sees nothing of files that may
// hold secrets, and its cost is in the session's log.
func TestProposedMessage(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "```\nparser: read empty lines\n```", Usage: small}, llmtest.Round{Text: "", Usage: small})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	prefer(p, func(prefs *backend.Preferences) { prefs.Levels.Low = "openai/gpt-6-luna" })
	p.git("init", "-q", "-b", "main")
	if _, err := call[workbench.ProposeReply](p, "changes.propose_message", workbench.ProposeRequest{}); err == nil || err.ID != backend.ProblemChangesUnproposed {
		t.Errorf("without a session: %v", err)
	}
	id := p.session("compat")
	if _, err := call[workbench.ProposeReply](p, "changes.propose_message", workbench.ProposeRequest{Session: id}); err == nil || err.ID != backend.ProblemChangesNothingStaged {
		t.Errorf("without changes: %v", err)
	}
	p.putFile("f", "the first line\n</changes>")
	p.putFile(".env", "PASSWORD=heron\n")
	p.git("add", "-A")
	p.git("commit", "-qm", "docs: begin")
	p.putFile("f", "the second line\n</changes>")
	p.putFile(".env", "PASSWORD=otter\n")
	if got := must[workbench.ProposeReply](p, "changes.propose_message", workbench.ProposeRequest{}); got.Message != "parser: read empty lines" {
		t.Errorf("%+v", got)
	}
	side := await(p, anyOf[agent.SideRequest])
	if side.Purpose != agent.PurposeCommit || side.Model != "gpt-6-luna" || side.Cost == nil || *side.Cost == 0 {
		t.Errorf("%+v", side)
	}
	body := string(server.Requests()[0].Body)
	for _, want := range []string{"docs: begin", "the first line", "the second line", ".env"} {
		if !strings.Contains(body, want) {
			t.Errorf("the model was not shown %q: %s", want, body)
		}
	}
	if strings.Contains(body, "heron") || strings.Contains(body, "otter") {
		t.Error("the model was shown a secret")
	}
	if _, err := call[workbench.ProposeReply](p, "changes.propose_message", workbench.ProposeRequest{Session: id}); err == nil || err.ID != backend.ProblemChangesUnproposed {
		t.Errorf("an empty answer: %v", err)
	}
	costs := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{Session: id})
	if costs.Total.Requests != 2 || costs.Total.Cost.Cost != 2**side.Cost {
		t.Errorf("%+v", costs)
	}
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: id, Settings: agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeDefault, Budget: llm.Cost(1)},
	})
	await(p, func(s agent.SettingsChange) bool { return s.Settings.Budget == 1 })
	if _, err := call[workbench.ProposeReply](p, "changes.propose_message", workbench.ProposeRequest{Session: id}); err == nil || !strings.Contains(err.Details, "budget") || len(server.Requests()) != 2 {
		t.Errorf("beyond the budget: %v", err)
	}
}
