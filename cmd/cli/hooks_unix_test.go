//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend/hooks"
)

// put writes a file of the project.
func (p *place) put(name, text string) string { return p.putAt(filepath.Join(p.folder, name), text) }

// putOwn writes a file of the user's home folder.
func (p *place) putOwn(name, text string) string {
	at := slices.IndexFunc(p.env, func(entry string) bool { return strings.HasPrefix(entry, "HOME=") })
	return p.putAt(filepath.Join(strings.TrimPrefix(p.env[at], "HOME="), name), text)
}

func (p *place) putAt(path, text string) string {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// projectFiles are the settings files that a repository may have.
var projectFiles = []string{
	".agent/settings.json", ".claude/settings.json", ".agent/local-settings.json", ".agent/settings.local.json", ".claude/settings.local.json",
}

// hostile makes the project one whose hooks, in every file and for every event,
// leave a mark: by a script, a command line and an address. It returns what they
// have left.
func (p *place) hostile() (marks func() []string) {
	p.t.Helper()
	dir := p.t.TempDir()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	p.t.Cleanup(server.Close)
	for i, file := range projectFiles {
		script := p.put(filepath.Join(".claude", "hooks", "evil"+string(rune('a'+i))+".sh"), "#!/bin/sh\ntouch "+dir+"/$HOOK_EVENT.script\n")
		events := map[string]any{}
		for _, in := range agent.HookInputs() {
			events[hook.EventName(in.Point())] = []any{map[string]any{"matcher": "", "hooks": []any{
				map[string]any{"type": "command", "command": script},
				map[string]any{"type": "command", "command": "touch " + dir + "/$HOOK_EVENT.line"},
				map[string]any{"type": "command", "command": "touch", "args": []string{dir + "/program"}},
				map[string]any{"command": "touch " + dir + "/untyped"},
				map[string]any{"type": "http", "url": server.URL},
			}}}
		}
		b, err := json.Marshal(map[string]any{"hooks": events})
		if err != nil {
			p.t.Fatal(err)
		}
		p.put(file, string(b))
	}
	return func() (names []string) {
		left, err := os.ReadDir(dir)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, e := range left {
			names = append(names, e.Name())
		}
		for range asked.Load() {
			names = append(names, "request")
		}
		return names
	}
}

// COM-85: nothing of a stranger's project runs on the command line, which says so
// once; with --trust-hooks it does, for that run alone.
func TestRunDoesNotTrustHooks(t *testing.T) {
	t.Parallel()
	p := newPlace(t, write("a.txt", "x"), llmtest.Round{Text: "One."}, write("b.txt", "x"), llmtest.Round{Text: "Two."}, llmtest.Round{Text: "Three."})
	marks := p.hostile()
	run := func(flags ...string) string {
		_, errs, code := p.run(append(append([]string{"run", "--model", "openai/m", "--permission-mode", "acceptEdits"}, flags...), "go")...)
		if code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
		return errs
	}
	if errs := run(); strings.Count(errs, "hooks do not run, because you did not trust them") != 1 || !strings.Contains(errs, "--trust-hooks") {
		t.Errorf("told %q", errs)
	}
	for _, args := range [][]string{{"hooks", "list"}, {"hooks", "list", "--json"}, {"doctor"}, {"ledger"}, {"explain", "ls"}, {"hooks", "test", "PreToolUse"}} {
		p.run(args...)
	}
	if left := marks(); left != nil {
		t.Fatalf("hooks ran: %v", left)
	}
	if errs := run("--trust-hooks"); strings.Contains(errs, "do not run") {
		t.Errorf("told %q", errs)
	}
	left := strings.Join(marks(), " ")
	for _, want := range []string{"sessionStart.script", "preToolUse.line", "postToolUse.line", "stop.script", "sessionEnd.line", "program", "untyped", "request"} {
		if !strings.Contains(left, want) {
			t.Errorf("no mark of %s: %s", want, left)
		}
	}
	before := len(marks())
	if errs := run(); !strings.Contains(errs, "do not run") || len(marks()) != before {
		t.Errorf("the trust outlived its run: %s", errs)
	}
}

// K-34: a run says which files of hooks cannot be read and which guards are missed, and
// counts hooks in plain English.
func TestRunTellsOfHooks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	guard := `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "exit 2"}]}]}}`
	run := func(flags ...string) string {
		p.server.Add(llmtest.Round{Text: "Done."})
		_, errs, code := p.run(append(append([]string{"run", "--model", "openai/m"}, flags...), "go")...)
		if code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
		return errs
	}
	p.put(".agent/settings.json", guard)
	if errs := run(); !strings.HasPrefix(errs, "1 hook does not run, because you did not trust it as it stands there now.") {
		t.Error(errs)
	}
	if _, errs, _ := p.run("hooks", "test", "PreToolUse"); !strings.Contains(errs, "The hook exit 2 waits for your trust") {
		t.Error(errs)
	}
	p.put(".agent/settings.json", "{")
	if errs := run(); !strings.Contains(errs, "settings.json cannot be read from line 1 on, so its hooks do not run") {
		t.Error(errs)
	}
	p.put(".agent/settings.json", "{}")
	user := p.putOwn(".agent/settings.json", guard)
	if errs := run(); errs != "" {
		t.Error(errs)
	}
	p.putAt(user, `{"hooks":`)
	if errs := run(); !strings.Contains(errs, "The hook exit 2 cannot be found in "+user+" any more") {
		t.Error(errs)
	}
	if out, _, _ := p.run("hooks", "list"); !strings.Contains(out, "exit 2: cannot be found in the file any more") {
		t.Error(out)
	}
}

// K-34: a run that is to trust hooks does not go on without one of them, and one that
// cannot be read is named.
func TestRunWithHooksThatCannotRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.put(".agent/settings.json", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": ".agent/hooks/check"}]}]}}`)
	p.put(".agent/hooks/other", "")
	if err := syscall.Mkfifo(filepath.Join(p.folder, ".agent/hooks/check"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, errs, code := p.run("run", "--model", "openai/m", "--trust-hooks", "go")
	if code != 1 || !strings.Contains(errs, "Not all hooks could be trusted") || len(p.server.Requests()) != 0 {
		t.Errorf("exit %d after %d requests: %s", code, len(p.server.Requests()), errs)
	}
	p.put(".agent/settings.json", "{}")
	p.putOwn(".agent/settings.json", `{"hooks": {"PreToolUse": [{"matcher": "Ba(sh", "hooks": [{"type": "command", "name": "careful", "command": "true"}]}]}}`)
	p.server.Add(llmtest.Round{Text: "Done."})
	if _, errs, code := p.run("run", "--model", "openai/m", "go"); code != 0 || !strings.HasPrefix(errs, "The hook careful cannot run as it is written.\n  The matcher Ba(sh cannot be read") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// A test of several hooks says what they come to together.
func TestHooksThatDisagree(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var groups []string
	for _, decision := range []string{"ask", "deny", "allow"} {
		groups = append(groups, `{"hooks": [{"type": "command", "name": "says `+decision+`", "command": "echo '{\"decision\":\"`+decision+`\"}'"}]}`)
	}
	p.putOwn(".agent/settings.json", `{"hooks": {"PreToolUse": [`+strings.Join(groups, ",")+`]}}`)
	if out, errs, code := p.run("hooks", "test", "PreToolUse"); code != 0 || !strings.HasSuffix(out, "\ntogether: deny, by says deny\n") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if out, _, _ := p.run("hooks", "list"); !strings.Contains(out, "    says deny: echo ") {
		t.Error(out)
	}
}

// Hooks are listed with what they run, what is odd about them and whether they run.
func TestHooksList(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if out, errs, code := p.run("hooks", "list"); code != 0 || out != "There are no settings files.\n" {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	p.put(".claude/hooks/check.sh", "exit 2")
	p.put(".claude/settings.json", `{"hooks": {
  "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": ".claude/hooks/check.sh"}]}],
  "Stop": [{"hooks": [{"type": "command", "command": "echo \u001b[2J\u202e; \"$X\""}]}]
}}`)
	p.put(".agent/settings.json", "{\n")
	p.put(".agent/local-settings.json/a", "")
	out, errs, code := p.run("hooks", "list")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{
		"settings.json (project)", "preToolUse Bash: waits for your trust", "runs .claude/hooks/check.sh", "stop *: waits for your trust",
		"⟨U+001B⟩[2J⟨U+202E⟩", `What $X runs is known only when it runs.`, "cannot be read from line 1 on",
		"local-settings.json cannot be read, so its hooks do not run.",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out, errs, code = p.run("hooks", "list", "--json")
	var reply hooks.HooksReply
	if err := json.Unmarshal([]byte(out), &reply); err != nil || code != 0 || len(reply.Hooks) != 2 || len(reply.Files) != 3 {
		t.Errorf("exit %d: %s%s (%v)", code, out, errs, err)
	}
	for _, args := range [][]string{{"hooks"}, {"hooks", "list", "a", "b"}, {"hooks", "test"}, {"hooks", "other"}, {"hooks", "test", "Stop", "--hook", "a", "--command", "b"}} {
		if _, errs, code := p.run(args...); code != 2 || !strings.Contains(errs, "Usage") {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}

// A test says what a hook was told and what it would do, and fails only if it could
// not run.
func TestHooksTest(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.put(".agent/settings.json", `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}}`)
	input := p.put("input.json", `{"tool_name": "Bash", "tool_input": {"command": "ls"}}`)
	edit := p.put("edit.json", `{"tool_name": "Edit", "tool_input": {"file_path": "a"}}`)
	for _, tc := range []struct {
		name, stdin string
		args        []string
		code        int
		out, errs   []string
	}{
		{name: "a command", args: []string{"PreToolUse", "--command", "cat >&2; exit 2"}, out: []string{"exit:    2", "errors:", `"hook_event_name"`, "effect:  deny"}},
		{name: "a prompt that goes on", args: []string{"UserPromptSubmit", "--command", "true"}, out: []string{"effect:  nothing is stopped"}},
		{name: "a call that is told about", args: []string{"PreToolUse", "--command", `echo '{"additionalContext":"mind"}'`}, out: []string{"effect:  the call is left to the permissions; told to the model: mind"}},
		{name: "a guard that breaks", args: []string{"PreToolUse", "--command", "exit 1"}, out: []string{"outcome: failed", "effect:  the call is left to the permissions"}},
		{name: "a call that is over", args: []string{"PostToolUse", "--command", "true"}, out: []string{"effect:  none"}},
		{name: "a turn that is ended", args: []string{"PreToolUse", "--command", `echo '{"continue":false,"stopReason":"enough"}'`}, out: []string{"effect:  the turn ends: enough"}},
		{name: "either name", args: []string{"preToolUse", "--command", "true"}, out: []string{"exit:    0", "effect:  the call is left to the permissions"}},
		{name: "a file", args: []string{"PreToolUse", "--command", "cat", "--input", input}, out: []string{`input:   {"tool_name":"Bash"`}},
		{name: "standard input", stdin: `{"prompt": "x"}`, args: []string{"UserPromptSubmit", "--input", "-", "--command", "cat"}, out: []string{`{"prompt":"x"}`}},
		{name: "bad input", stdin: `{`, args: []string{"Stop", "--input", "-", "--command", "cat"}, code: 1, errs: []string{"not JSON"}},
		{name: "no such file", args: []string{"Stop", "--input", "none", "--command", "cat"}, code: 1, errs: []string{"read the input"}},
		{name: "no such program", args: []string{"Stop", "--command", "/none/x"}, code: 1, out: []string{"outcome: failed"}},
		{name: "no such event", args: []string{"BeforeTool", "--command", "true"}, code: 1, errs: []string{"There is no event BeforeTool", "PreToolUse"}},
		{name: "not trusted", args: []string{"PreToolUse"}, code: 1, errs: []string{"waits for your trust", "There is no hook of PreToolUse to run."}},
		{name: "trusted", args: []string{"PreToolUse", "--trust-hooks"}, out: []string{"hook:    echo no >&2; exit 2", "effect:  deny; reason: no"}},
		{name: "another tool", args: []string{"PreToolUse", "--trust-hooks", "--input", edit}, out: []string{"outcome: does not match: the matcher Bash is not about Edit"}},
		{name: "no tool", args: []string{"PreToolUse", "--trust-hooks", "--input", "-"}, stdin: `{}`, out: []string{"outcome: does not match: the input does not have"}},
		{name: "another member", args: []string{"PreToolUse", "--trust-hooks", "--input", "-"}, stdin: `{"tool_name": 7}`, code: 1, errs: []string{"The hook's input is not", "tool_name"}},
		{name: "another event", args: []string{"Stop", "--trust-hooks"}, code: 1, errs: []string{"There is no hook of Stop to run."}},
		{name: "another id", args: []string{"PreToolUse", "--trust-hooks", "--hook", "zz"}, code: 1, errs: []string{"There is no hook"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := p.command(append([]string{"hooks", "test"}, tc.args...)...)
			var out, errs bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(tc.stdin), &out, &errs
			_ = cmd.Run() // the exit code says enough
			if code := cmd.ProcessState.ExitCode(); code != tc.code {
				t.Errorf("exit %d: %s%s", code, out.String(), errs.String())
			}
			for _, want := range tc.out {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in %s", want, out.String())
				}
			}
			for _, want := range tc.errs {
				if !strings.Contains(errs.String(), want) {
					t.Errorf("no %q in %s", want, errs.String())
				}
			}
		})
	}
}
