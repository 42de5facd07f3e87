package workbench_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/confinement"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/guard"
	"atelier.dev/atelier/backend/workbench"
)

// reply answers a request.
func (p *page) reply(id string, request agent.ApprovalRequest, answer agent.Answer) {
	p.t.Helper()
	must[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{Session: id, Approval: request.ID, Answer: answer})
}

// K-47, OAS-654: before a command that installs starts, the user is asked for the
// hosts of its registry, in every mode; the answer is kept for the project. A command
// that was denied did not run.
func TestInstallingAsksForItsRegistry(t *testing.T) {
	t.Parallel()
	const npmRule = "Network(domain:npm.corp.example)"
	for _, mode := range []agent.Mode{agent.ModeDefault, agent.ModeAcceptEdits, agent.ModeAuto, agent.ModeBypass} {
		lines := []string{"touch started; true || npm ci", "touch started; true || npm ci", "true || npm install", "true || pip install -i https://pip.corp.example/simple x", "true || npm ci"}
		p, id, _ := confinedPage(t, backend.Sandbox{On: true, Free: true}, bashes("command", lines[0]), bashes("command", lines[1]), bashes("command", lines[2]), bashes("command", lines[3]), bashes("command", lines[4]))
		p.putFile(".npmrc", "registry=https://npm.corp.example/\n")
		p.putFile("package.json", `{"dependencies":{"x":"1.0.0"}}`)
		must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
			Session: id, Settings: agent.Settings{Provider: "compat", Model: model, Mode: mode},
		})
		p.send(id, "work")

		request := await(p, anyOf[agent.ApprovalRequest]) // npm ci: denied once
		if got := strings.Join(request.Access.Hosts, " "); got != "npm.corp.example" || request.ReasonCode != agent.ReasonHosts || !strings.Contains(request.Reason, "needs npm.corp.example") {
			t.Errorf("%s: asked %+v", mode, request)
		}
		suggested := must[guard.SuggestReply](p, "permissions.suggest", guard.SuggestRequest{Session: id, Approval: request.ID})
		if len(suggested.Rules) != 1 || suggested.Rules[0].Rule != npmRule {
			t.Errorf("%s: suggested %+v", mode, suggested)
		}
		p.reply(id, request, agent.Answer{Decision: agent.Deny})
		await(p, anyOf[agent.ToolCallEnd])
		if _, err := os.Stat(filepath.Join(p.folder, "started")); err == nil {
			t.Errorf("%s: the denied command ran", mode)
		}

		request = await(p, anyOf[agent.ApprovalRequest]) // again: allowed once, so that the proxy tries the host
		p.reply(id, request, agent.Answer{Decision: agent.Allow, Scope: agent.ScopeOnce})
		await(p, anyOf[agent.ToolCallEnd])
		if _, err := os.Stat(filepath.Join(p.folder, "started")); err != nil {
			t.Errorf("%s: the allowed command did not run", mode)
		}

		request = await(p, anyOf[agent.ApprovalRequest]) // npm install: allowed for the project
		p.reply(id, request, agent.Answer{Decision: agent.Allow, Scope: agent.ScopeLocal, Rule: npmRule})
		await(p, anyOf[agent.ToolCallEnd])

		request = await(p, anyOf[agent.ApprovalRequest]) // another registry is another question
		if got := strings.Join(request.Access.Hosts, " "); got != "pip.corp.example" {
			t.Errorf("%s: asked for %s", mode, got)
		}
		p.reply(id, request, agent.Answer{Decision: agent.Deny, Scope: agent.ScopeLocal, Rule: "Network(domain:pip.corp.example)"})
		if end := await(p, anyOf[agent.ToolCallEnd]); end.Authority.Decision != agent.Deny {
			t.Errorf("%s: %+v", mode, end.Authority)
		}
		if end := await(p, anyOf[agent.ToolCallEnd]); mode != agent.ModeDefault && mode != agent.ModeAcceptEdits && end.Authority.Decision != agent.Allow { // npm ci, for good
			t.Errorf("%s: %+v", mode, end)
		}
		level := must[confinement.SandboxLevel](p, "sandbox.level", backend.Empty{})
		if len(level.Hosts) != 1 || level.Hosts[0] != "npm.corp.example" {
			t.Errorf("%s: hosts %v", mode, level.Hosts)
		}
	}
}

// K-47: a host that no list of programs tells in advance is asked for when the command
// that was refused it runs again, and is then reached by that command alone.
func TestARefusedHostIsAskedForWhenItRunsAgain(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello\n") }))
	defer server.Close()
	fetch := `exec 3<>"/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}" && printf 'GET http://files.example:8081/ HTTP/1.0\r\n\r\n' >&3 && cat <&3 | cat`
	local := strings.Replace(fetch, "files.example:8081", strings.TrimPrefix(server.URL, "http://"), 1)
	p, id, _ := confinedPage(t, backend.Sandbox{On: true, Free: true},
		bashes("command", local), bashes("command", local), // this computer is not asked for
		bashes("command", fetch), bashes("command", fetch), bashes("command", fetch))
	p.send(id, "work")
	for range 2 {
		if end := await(p, anyOf[agent.ToolCallEnd]); !strings.Contains(end.Output, "commands have no network here") || strings.Contains(end.Output, "runs again") {
			t.Errorf("local: %s", end.Output)
		}
	}
	if end := await(p, anyOf[agent.ToolCallEnd]); !strings.Contains(end.Output, "If it runs again, the user is asked whether it may reach files.example:8081.") {
		t.Errorf("first: %s", end.Output)
	}
	for range 2 { // what is allowed once is asked for again
		request := await(p, anyOf[agent.ApprovalRequest])
		if got := strings.Join(request.Access.Hosts, " "); got != "files.example:8081" {
			t.Errorf("asked for %q", got)
		}
		p.reply(id, request, agent.Answer{Decision: agent.Allow})
		if end := await(p, anyOf[agent.ToolCallEnd]); strings.Contains(end.Output, "no network") || !strings.Contains(end.Output, "proxy failed") {
			t.Errorf("allowed: %s", end.Output) // there is no such host
		}
	}
}
