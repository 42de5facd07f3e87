package workbench_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/confinement"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/guard"
	"atelier.dev/atelier/backend/tasklist"
	"atelier.dev/atelier/backend/workbench"
)

// confinedPage returns a page whose commands are confined, with a session.
func confinedPage(t *testing.T, choice backend.Sandbox, rounds ...llmtest.Round) (p *page, id, outside string) {
	t.Helper()
	if level := sandbox.Confinement(t.Context(), false); !level.Whole() {
		t.Skip(level.Sentence())
	}
	base, err := os.MkdirTemp("/var/tmp", "confined") // commands have a /tmp of their own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	folder := filepath.Join(base, "project")
	if err := os.MkdirAll(filepath.Join(folder, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	p = newPage(t, folder, t.TempDir(), environment(llmtest.Serve(t, append(rounds, llmtest.Round{Text: "Done."})...), "sk-test"))
	prefs := must[backend.Preferences](p, "preferences.get", backend.Empty{})
	prefs.Sandbox = choice
	must[backend.Preferences](p, "preferences.change", workbench.PreferencesChange{After: prefs})
	return p, p.session("compat"), base
}

// bashes answers with one call of Bash.
func bashes(members ...any) llmtest.Round {
	return llmtest.Round{Calls: []llmtest.Call{use("Bash", members...)}}
}

// OAS-641, OAS-654: with the switch on, commands of a session and its tasks run
// confined and, if the user wants that, unasked. What was blocked is told.
func TestCommandsRunConfined(t *testing.T) {
	t.Parallel()
	p, id, base := confinedPage(t, backend.Sandbox{On: true, Free: true},
		bashes("command", "echo x >made && echo y >/tmp/kept && cat made && cache=${GOCACHE:-$HOME/.cache/go-build} && mkdir -p $cache && echo z >$cache/z"),
		bashes("command", "cat /tmp/kept; echo x >../outside"),
		bashes("command", "echo x >.git/config"),
		bashes("command", "echo x >bg; echo x >../outside2", "yield_time_ms", 60000))
	p.send(id, "work")
	if told := await(p, anyOf[agent.Briefing]).System; !strings.Contains(told, "The system confines commands: ") {
		t.Error("the model is not told")
	}
	var ends []agent.ToolCallEnd
	for range 4 { // none is asked about
		ends = append(ends, await(p, anyOf[agent.ToolCallEnd]))
	}
	for i, want := range []string{"x\n", "can write only in the project", "this line cannot change the repository (.git)", "can write only in the project"} {
		if !strings.Contains(ends[i].Output, want) {
			t.Errorf("call %d: %s\nwant %q", i, ends[i].Output, want)
		}
	}
	if ends[0].Authority == nil || ends[0].Authority.Code != agent.ReasonConfined {
		t.Errorf("authority %+v", ends[0].Authority)
	}
	for _, name := range []string{"outside", "outside2", "project/.git/config"} {
		if _, err := os.Stat(filepath.Join(base, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	for _, name := range []string{"made", "bg"} {
		if _, err := os.Stat(filepath.Join(p.folder, name)); err != nil {
			t.Error(err)
		}
	}
	if got := must[confinement.SandboxCaches](p, "sandbox.caches", backend.Empty{}); got.Size != 2 || got.Most < 1e9 {
		t.Errorf("caches %+v", got)
	}
	if got := must[confinement.SandboxCaches](p, "sandbox.clear", backend.Empty{}); got.Size != 0 {
		t.Errorf("cleared caches %+v", got)
	}
}

// K-47, K-53: with nothing switched on, the mode auto confines commands and asks about
// none, whatever they do; another mode does neither, and a switch of the mode counts
// from the next call.
func TestAutoIsConfined(t *testing.T) {
	t.Parallel()
	const line = "echo x >made; echo x >../outside; echo done"
	p, id, base := confinedPage(t, backend.Sandbox{},
		bashes("command", line), bashes("command", "cat made", "unconfined", true), bashes("command", "cat made; echo y >made", "yield_time_ms", 60000),
		bashes("command", line))
	configure := func(mode agent.Mode) {
		must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
			Session: id, Settings: agent.Settings{Provider: "compat", Model: model, Mode: mode},
		})
	}
	outside := func() bool {
		_, err := os.Stat(filepath.Join(base, "outside"))
		return err == nil
	}
	configure(agent.ModeAuto)
	p.send(id, "work")
	if told := await(p, anyOf[agent.Briefing]).System; !strings.Contains(told, "The system confines commands: ") {
		t.Error("the model is not told")
	}
	first := await(p, anyOf[agent.ToolCallEnd])
	if !strings.Contains(first.Output, "can write only in the project") || outside() || first.Authority == nil || first.Authority.Code != agent.ReasonConfined {
		t.Errorf("%+v\n%s", first.Authority, first.Output)
	}
	request := await(p, anyOf[agent.ApprovalRequest])
	if request.Access.Confinement != agent.Unconfined || request.EachTime {
		t.Errorf("outside: %+v", request)
	}
	p.allow(id, request)
	await(p, anyOf[agent.ToolCallEnd])
	if third := await(p, anyOf[agent.ToolCallEnd]); third.Authority.Code != agent.ReasonConfined {
		t.Errorf("a task: %+v\n%s", third.Authority, third.Output)
	}
	await(p, anyOf[agent.ToolCallEnd])
	await(p, anyOf[agent.ProcessingEnd])

	p, id, base = confinedPage(t, backend.Sandbox{}, bashes("command", line))
	configure(agent.ModeDefault)
	p.send(id, "work")
	request = await(p, anyOf[agent.ApprovalRequest])
	if request.Access.Confinement != "" {
		t.Errorf("the mode default: %+v", request.Access)
	}
	configure(agent.ModeAuto) // the question was about a command that nothing confines
	p.allow(id, request)
	last := await(p, anyOf[agent.ToolCallEnd])
	if outside() || !strings.Contains(last.Output, "can write only in the project") {
		t.Errorf("after the switch to auto: %s", last.Output)
	}
}

// K-47, OAS-118: a server that a confined command starts is listed with its port, the
// session's next command reaches it, and so does a person with one press, until it ends.
func TestAServerIsReached(t *testing.T) {
	t.Parallel()
	const serve = `echo hello >index.html; python3 -c '
import http.server
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
open("port", "w").write(str(s.server_port))
s.serve_forever()'`
	p, id, _ := confinedPage(t, backend.Sandbox{},
		bashes("command", serve, "run_in_background", true),
		bashes("command", "for i in $(seq 100); do test -s port && break; sleep 0.05; done; exec 3<>/dev/tcp/127.0.0.1/$(cat port); printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3"))
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: id, Settings: agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeAuto},
	})
	p.send(id, "work")
	await(p, anyOf[agent.ToolCallEnd])
	if next := await(p, anyOf[agent.ToolCallEnd]); !strings.Contains(next.Output, "hello") {
		t.Fatalf("the next command: %s", next.Output)
	}
	text, err := os.ReadFile(filepath.Join(p.folder, "port"))
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	list := must[tasklist.TaskList](p, "tasks.list", tasklist.TasksRequest{Session: id})
	if len(list.Tasks) != 1 || !slices.Contains(list.Tasks[0].Ports, port) {
		t.Fatalf("tasks %+v, want port %d", list.Tasks, port)
	}
	if conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", string(text))); err == nil {
		_ = conn.Close()
		t.Error("the server can be reached before it is opened")
	}
	open := tasklist.TaskOpenRequest{Session: id, Task: "1", Port: port}
	at := must[tasklist.TaskAddress](p, "tasks.open", open)
	for range 3 {
		if again := must[tasklist.TaskAddress](p, "tasks.open", open); again != at {
			t.Errorf("opened again at %s, before at %s", again.URL, at.URL)
		}
		reply, err := http.Get(at.URL)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(reply.Body)
		if _ = reply.Body.Close(); err != nil || string(body) != "hello\n" {
			t.Errorf("%q, %v", body, err)
		}
	}
	if _, err := call[tasklist.TaskAddress](p, "tasks.open", tasklist.TaskOpenRequest{Session: id, Task: "1", Port: 1}); err == nil || err.ID != backend.ProblemTaskPort {
		t.Errorf("another port: %v", err)
	}
	must[tasklist.TaskInfo](p, "tasks.stop", tasklist.TaskRef{Session: id, Task: "1"})
	if _, err := call[tasklist.TaskAddress](p, "tasks.open", open); err == nil {
		t.Error("a task that ended is opened")
	}
	for { // the address goes with the task; if it does not, the test ends at its time limit
		conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(at.URL, "http://"), "/"))
		if err != nil {
			break
		}
		_ = conn.Close()
	}
}

// K-47: what is typed to a confined command needs no consent in the mode auto, and does to
// one that runs outside.
func TestAutoTypesToConfinedCommands(t *testing.T) {
	t.Parallel()
	types := func(task string) llmtest.Round {
		return llmtest.Round{Calls: []llmtest.Call{use("WriteStdin", "id", task, "chars", "echo typed-$((6*7)); exit\n", "yield_time_ms", 60000)}}
	}
	p, id, _ := confinedPage(t, backend.Sandbox{},
		bashes("command", "sh", "run_in_background", true, "input", true), types("1"),
		bashes("command", "sh", "run_in_background", true, "input", true, "unconfined", true), types("2"))
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: id, Settings: agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeAuto},
	})
	p.send(id, "work")
	await(p, anyOf[agent.ToolCallEnd])
	if end := await(p, anyOf[agent.ToolCallEnd]); !strings.Contains(end.Output, "typed-42") {
		t.Errorf("confined: %s", end.Output)
	}
	p.allow(id, await(p, anyOf[agent.ApprovalRequest]))
	await(p, anyOf[agent.ToolCallEnd])
	if request := await(p, anyOf[agent.ApprovalRequest]); request.Tool != "WriteStdin" {
		t.Errorf("%+v", request)
	}
}

// K-47: a person who allows a command that reads a secret is obeyed: it does not run
// where the secret is hidden.
func TestAutoReadsWhatIsAllowed(t *testing.T) {
	t.Parallel()
	p, id, _ := confinedPage(t, backend.Sandbox{}, bashes("command", "cat .env"))
	p.putFile(".env", "KEY=canary\n")
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: id, Settings: agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeAuto},
	})
	p.send(id, "work")
	p.allow(id, await(p, anyOf[agent.ApprovalRequest]))
	if end := await(p, anyOf[agent.ToolCallEnd]); !strings.Contains(end.Output, "canary") {
		t.Errorf("%s", end.Output)
	}
}

// K-34: a command runs unconfined only after a person agreed, in every mode, and
// not at all where the user does not want that.
func TestLeavingTheConfinementIsAsked(t *testing.T) {
	t.Parallel()
	for _, mode := range []agent.Mode{agent.ModeDefault, agent.ModeBypass} {
		p, id, base := confinedPage(t, backend.Sandbox{On: true, Free: true}, bashes("command", "echo x >../outside", "unconfined", true))
		must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
			Session: id, Settings: agent.Settings{Provider: "compat", Model: model, Mode: mode},
		})
		p.send(id, "work")
		request := await(p, anyOf[agent.ApprovalRequest])
		if request.Access.Confinement != agent.Unconfined || request.ReasonCode != agent.ReasonUnconfined {
			t.Errorf("%s: asked %+v", mode, request)
		}
		p.allow(id, request)
		await(p, anyOf[agent.ProcessingEnd])
		if _, err := os.Stat(filepath.Join(base, "outside")); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
	p, id, base := confinedPage(t, backend.Sandbox{On: true, Free: true, Inside: true}, bashes("command", "echo x >../outside", "unconfined", true))
	p.send(id, "work")
	end := await(p, anyOf[agent.ToolCallEnd])
	if _, err := os.Stat(filepath.Join(base, "outside")); err == nil || !strings.Contains(end.Output, "cannot run unconfined") {
		t.Errorf("%v: %s", err, end.Output)
	}
}

// What a project's file widens does not count before the user accepts it; what it
// narrows does. Commands are asked about as before.
func TestProjectsCannotWidenTheConfinement(t *testing.T) {
	t.Parallel()
	p, id, base := confinedPage(t, backend.Sandbox{}, bashes("command", `echo x >../outside; python3 -c "print(open('secret/file').read())"`))
	for _, name := range []string{"secret", ".agent"} {
		if err := os.Mkdir(filepath.Join(p.folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.putFile("secret/file", "canary\n")
	p.putFile(".agent/settings.json", `{"sandbox":{"enabled":true,"autoAllowBashIfSandboxed":true,"allowedWritePaths":["`+base+`"],"deniedPaths":["secret"]}}`)
	level := must[confinement.SandboxLevel](p, "sandbox.level", backend.Empty{})
	if !level.On || !level.ByFile || level.Free || !level.Level.Works() {
		t.Errorf("level %+v", level)
	}
	p.send(id, "work")
	request := await(p, anyOf[agent.ApprovalRequest])
	if request.Access.Confinement != agent.Confined {
		t.Errorf("asked %+v", request.Access)
	}
	p.allow(id, request)
	end := await(p, anyOf[agent.ToolCallEnd])
	if _, err := os.Stat(filepath.Join(base, "outside")); err == nil || strings.Contains(end.Output, "canary") {
		t.Errorf("%v: %s", err, end.Output)
	}
	p.close()
	entries, err := os.ReadDir(p.folder)
	if err != nil || len(entries) != 3 {
		t.Errorf("the project has %v, %v", entries, err)
	}
}

// OAS-641, K-17: commands reach the hosts that settings allow and no other, once
// the user has accepted them. What was refused is told with the command's result.
func TestCommandsReachAllowedHosts(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello from outside\n") }))
	defer server.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "secret of another\n") }))
	defer other.Close()
	address := func(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }
	fetch := func(host string) llmtest.Round { // without a program that may be missing
		return bashes("command", `exec 3<>"/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}" && printf 'GET http://`+host+`/ HTTP/1.0\r\n\r\n' >&3 && cat <&3`)
	}
	p, id, _ := confinedPage(t, backend.Sandbox{On: true, Free: true},
		fetch(address(server)), llmtest.Round{Text: "Once more."}, fetch(address(server)), fetch(address(other)), fetch("evil.example"),
		bashes("command", "exec 3<>/dev/tcp/127.0.0.1/"+address(server)[len("127.0.0.1:"):], "yield_time_ms", 60000))
	if err := os.Mkdir(filepath.Join(p.folder, ".agent"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.putFile(".agent/settings.json", `{"sandbox":{"network":{"allowedDomains":["`+address(server)+`","*.example.com"],"allowLocalBinding":true}}}`)

	p.send(id, "work")
	if end := await(p, anyOf[agent.ToolCallEnd]); strings.Contains(end.Output, "hello") ||
		!strings.Contains(end.Output, address(server)+" is not reachable, because commands have no network here.") {
		t.Errorf("before the file is accepted: %s", end.Output)
	}
	await(p, anyOf[agent.ProcessingEnd])

	listed := must[guard.RulesReply](p, "permissions.rules", guard.RulesRequest{Session: id})
	for _, f := range listed.Files {
		if f.Sandbox != "" {
			if !strings.Contains(f.Sandbox, "allowedDomains") {
				t.Errorf("to be accepted: %s", f.Sandbox)
			}
			must[backend.Empty](p, "permissions.accept", guard.AcceptRequest{Path: f.Path, Seal: f.Seal})
		}
	}
	if level := must[confinement.SandboxLevel](p, "sandbox.level", backend.Empty{}); len(level.Hosts) != 2 {
		t.Errorf("level %+v", level)
	}
	p.send(id, "work on")
	for _, want := range []string{
		"hello from outside\n",
		"The sandbox's proxy refused hosts to this command: " + address(other) + " has a port that allowedDomains does not list for this host.",
		"evil.example:80 is not in allowedDomains.",
		"Connection refused",
	} {
		end := await(p, anyOf[agent.ToolCallEnd])
		if !strings.Contains(end.Output, want) || strings.Contains(end.Output, "secret") {
			t.Errorf("%s\nwant %q", end.Output, want)
		}
	}
}
