package workbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/guard"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// homely is environment with a home folder of the user.
func homely(server *llmtest.Server, user string) func(string) string {
	inner := environment(server, "sk-test")
	return func(name string) string {
		if name == "HOME" {
			return user
		}
		return inner(name)
	}
}

func rulesOf(p *page, session string) []guard.RuleEntry {
	p.t.Helper()
	return must[guard.RulesReply](p, "permissions.rules", guard.RulesRequest{Session: session}).Rules
}

// OAS-630: an answer's rule is stored where the answer says, exactly as it was
// written, and decides from then on, also in a session that is opened again.
func TestAnswerStoresItsRule(t *testing.T) {
	t.Parallel()
	for scope, file := range map[agent.Scope]string{
		agent.ScopeSession: "", agent.ScopeLocal: ".agent/local-settings.json", agent.ScopeProject: ".agent/settings.json", agent.ScopeUser: "~/.agent/settings.json",
	} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			folder, home, user := t.TempDir(), t.TempDir(), t.TempDir()
			server := llmtest.Serve(t, run("touch a"), llmtest.Round{Text: "Done."}, run("touch b; touch c"), llmtest.Round{Text: "Done."})
			p := openPage(t, folder, home, homely(server, user), func(s *storage.Store) backend.Store { return s })
			id := p.session("compat")
			p.send(id, "go")
			request := await(p, anyOf[agent.ApprovalRequest])
			p.answer(backend.Approval{Session: id, Request: request}, agent.Answer{Decision: agent.Allow, Scope: scope, Rule: "Bash(touch *)"})
			await(p, anyOf[agent.ProcessingEnd])
			p.close()
			p = openPage(t, folder, home, homely(server, user), func(s *storage.Store) backend.Store { return s })
			p.send(id, "again")
			end := await(p, anyOf[agent.ToolCallEnd])
			want := &agent.RuleRef{Text: "Bash(touch *)", Decision: agent.Allow, Scope: scope}
			if diff := cmp.Diff(want, end.Authority.Rule); diff != "" || end.Authority.By != agent.ByRule || end.Outcome != agent.OutcomeDone {
				t.Errorf("%+v by %+v %s", end, end.Authority, diff)
			}
			await(p, anyOf[agent.ProcessingEnd])
			rules := rulesOf(p, id)
			if len(rules) != 1 || rules[0].Rule != "Bash(touch *)" || rules[0].Scope != scope || rules[0].State != guard.StateHolds {
				t.Fatalf("%+v", rules)
			}
			if file == "" {
				return
			}
			path := filepath.Join(p.folder, file)
			if rest, ok := strings.CutPrefix(file, "~/"); ok {
				path = filepath.Join(user, rest)
			}
			if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), `"Bash(touch *)"`) || rules[0].File != path {
				t.Errorf("%s, %v, %+v", text, err, rules)
			}
		})
	}
}

// A rule that does not mean the call, or that cannot be read, is not stored, and the
// request keeps waiting.
func TestAnswerWithAnotherRule(t *testing.T) {
	t.Parallel()
	p, id, request := hanging(t, llmtest.Round{Text: "Done."})
	for rule, want := range map[string]backend.ProblemID{
		"Bash(touch *)": backend.ProblemRuleOther, "Edit(/b.txt)": backend.ProblemRuleOther, "Edit(": backend.ProblemRuleBracket, "": backend.ProblemRuleEmpty,
	} {
		_, err := call[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{
			Session: id, Approval: request.ID, Answer: agent.Answer{Decision: agent.Allow, Scope: agent.ScopeProject, Rule: rule},
		})
		if err == nil || err.ID != want {
			t.Errorf("%q: %v, want %s", rule, err, want)
		}
	}
	if rules := rulesOf(p, id); len(rules) != 0 || len(p.waiting()) != 1 {
		t.Errorf("%+v", rules)
	}
	p.answer(backend.Approval{Session: id, Request: request}, agent.Answer{Decision: agent.Deny, Scope: agent.ScopeSession, Rule: "Edit(*.txt)"})
	await(p, anyOf[agent.ProcessingEnd])
	if rules := rulesOf(p, id); len(rules) != 1 || rules[0].Decision != agent.Deny {
		t.Errorf("%+v", rules)
	}
}

// One rule for each part of a line is suggested; they are remembered together, and
// a trial says at once whether what is written decides about the call.
func TestAnswerWithRulesForTheParts(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, run("touch a; mkdir b"), run("mkdir c && touch c/d"), llmtest.Round{Text: "Done."})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	p.send(id, "go")
	request := await(p, anyOf[agent.ApprovalRequest])
	var parts []string
	for _, r := range must[guard.SuggestReply](p, "permissions.suggest", guard.SuggestRequest{Session: id, Approval: request.ID}).Parts {
		parts = append(parts, r.Rule)
	}
	if diff := cmp.Diff([]string{"Bash(mkdir *)", "Bash(touch *)"}, parts); diff != "" {
		t.Fatal(diff)
	}
	for rule, misses := range map[string]bool{
		"Bash(touch *)": true, "Bash(mkdir *)": true, "Bash(touch *)\nBash(ls *)": true, "Bash(touch *)\n\nBash(mkdir *)\n": false, "Bash(touch a; mkdir b)": false,
	} {
		in := guard.TryRequest{Rule: rule, Decision: agent.Allow, Session: id, Approval: request.ID}
		if got := must[guard.TryReply](p, "permissions.try", in); got.Misses != misses {
			t.Errorf("%q: misses %v", rule, got.Misses)
		}
	}
	p.answer(backend.Approval{Session: id, Request: request}, agent.Answer{Decision: agent.Allow, Scope: agent.ScopeLocal, Rule: strings.Join(parts, "\n")})
	await(p, anyOf[agent.ProcessingEnd]) // nobody was asked about the second line
	if rules := rulesOf(p, id); len(rules) != 2 {
		t.Errorf("%+v", rules)
	}
}

// An answer that accepts all edits switches the session's mode before it counts.
func TestAnswerAcceptsAllEdits(t *testing.T) {
	t.Parallel()
	p, id, request := hanging(t, write("c.txt"), write("d.txt"), llmtest.Round{Text: "Done."})
	for _, wrong := range []agent.Answer{
		{Decision: agent.Allow, Mode: agent.ModeBypass}, {Decision: agent.Allow, Mode: agent.ModeAuto}, {Decision: agent.Deny, Mode: agent.ModeAcceptEdits},
		{Decision: agent.Allow, Mode: "yolo"}, {Decision: agent.Allow, Mode: agent.ModeDefault},
	} {
		_, err := call[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{Session: id, Approval: request.ID, Answer: wrong})
		if err == nil || err.ID != backend.ProblemAnswerInvalid {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	p.answer(backend.Approval{Session: id, Request: request}, agent.Answer{Decision: agent.Allow, Mode: agent.ModeAcceptEdits})
	await(p, anyOf[agent.ProcessingEnd]) // nobody was asked about the other edits
	if info := must[backend.SessionInfo](p, "sessions.get", workbench.SessionRef{Session: id}); info.Settings.Mode != agent.ModeAcceptEdits {
		t.Errorf("the mode is %s", info.Settings.Mode)
	}
}

// Suggestions are narrowest first, and each would allow the call. A dry run counts
// what a rule would have matched.
func TestSuggestAndTry(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, run("touch a"), run("touch ../b"), run("git push origin main"), llmtest.Round{Text: "Done."})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	p.send(id, "go")
	for range 2 {
		request := await(p, anyOf[agent.ApprovalRequest])
		p.answer(backend.Approval{Session: id, Request: request}, agent.Answer{Decision: agent.Deny})
	}
	request := await(p, anyOf[agent.ApprovalRequest])
	var texts []string
	for _, r := range must[guard.SuggestReply](p, "permissions.suggest", guard.SuggestRequest{Session: id, Approval: request.ID}).Rules {
		texts = append(texts, r.Rule)
	}
	if diff := cmp.Diff([]string{"Bash(git push origin main)", "Bash(git push *)"}, texts); diff != "" {
		t.Error(diff)
	}
	for _, tt := range []struct {
		rule                            string
		decision                        agent.Decision
		calls, matched, asked, examples int
	}{
		{"Bash(touch *)", agent.Allow, 3, 1, 1, 1}, // it does not allow what is outside
		{"Bash(touch *)", agent.Deny, 3, 2, 2, 2},
		{"Bash", agent.Deny, 3, 3, 3, 3},
		{"Edit(/a.txt)", agent.Allow, 3, 0, 0, 0},
	} {
		got := must[guard.TryReply](p, "permissions.try", guard.TryRequest{Rule: tt.rule, Decision: tt.decision})
		if got.Calls != tt.calls || got.Matched != tt.matched || got.Asked != tt.asked || len(got.Examples) != tt.examples {
			t.Errorf("%s %s: %+v", tt.decision, tt.rule, got)
		}
	}
	if got := must[guard.TryReply](p, "permissions.try", guard.TryRequest{Rule: "Bash(touch *)", Decision: agent.Deny}); got.Outside != 1 || got.Examples[0].Text != "touch ../b" {
		t.Errorf("%+v", got)
	}
}

// A rule of the session holds for its agents, in every mode.
func TestRulesHoldForAgents(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	server.Script("boss", llmtest.Round{Calls: []llmtest.Call{spawn("Look.", nil)}}, llmtest.Round{Text: "Handed over."}, llmtest.Round{Text: "Done."})
	server.Script("helper", run("touch a"), llmtest.Round{Text: "Denied."})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: id, Settings: agent.Settings{Provider: "compat", Model: "boss", Mode: agent.ModeBypass},
	})
	must[guard.RuleEntry](p, "permissions.add", guard.AddRequest{Session: id, Rule: "Bash(touch *)", Decision: agent.Deny, Scope: agent.ScopeSession})
	p.send(id, "go")
	end := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == "Bash" })
	if end.Outcome != agent.OutcomeDenied || end.Authority.Rule == nil || end.Authority.Mode != agent.ModeBypass {
		t.Errorf("%+v by %+v", end, end.Authority)
	}
}

func write(name string) llmtest.Round {
	return llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": name, "content": "x"})}}
}
