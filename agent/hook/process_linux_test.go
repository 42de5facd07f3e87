package hook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
)

// alive reports whether the process whose number a file has still runs. One that
// was ended before it wrote the file does not.
func (r *rig) alive(file string) bool {
	r.t.Helper()
	text := strings.TrimSpace(r.readIfThere(file))
	pid, err := strconv.Atoi(text)
	if text == "" {
		return false
	}
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)) // one that is ending has no program any more
	return err == nil
}

// K-34, OAS-663, OAS-666: real programs that misbehave in each way. None of them
// takes the session with it, a guard that could not speak denies the call, and
// nothing that it started is left.
func TestProgramsThatMisbehave(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line    string
		timeout time.Duration
		outcome hook.Outcome
		cause   hook.Cause
		advice  agent.Decision
		reason  string
	}{
		"hangs":                   {"echo $$ >pid; exec sleep 300", 100 * time.Millisecond, hook.OutcomeTimedOut, "", agent.Deny, "did not end within 100ms"},
		"hangs and ignores TERM":  {"echo $$ >pid; trap '' TERM; while :; do sleep 300; done", 100 * time.Millisecond, hook.OutcomeTimedOut, "", agent.Deny, "did not end"},
		"crashes":                 {"echo $$ >pid; kill -SEGV $$", 0, hook.OutcomeFailed, hook.CauseSignal, agent.Deny, "signal 11"},
		"leaves a child":          {"sleep 300 & echo $! >pid; echo '{\"permissionDecision\":\"allow\"}'", 0, hook.OutcomeRan, "", agent.Allow, ""},
		"leaves a silent child":   {"setsid sleep 300 >/dev/null 2>&1 </dev/null & echo $! >pid", 0, hook.OutcomeRan, "", "", ""},
		"prints 100 MB":           {"echo $$ >pid; head -c 100000000 /dev/zero | tr '\\0' x", hook.MostTime, hook.OutcomeFailed, hook.CauseOutput, agent.Deny, "printed too much"},
		"prints 100 MB of errors": {"echo $$ >pid; head -c 100000000 /dev/zero | tr '\\0' x >&2; exit 2", hook.MostTime, hook.OutcomeFailed, hook.CauseOutput, agent.Deny, "printed too much"},
		"prints half JSON":        {"echo $$ >pid; printf '{\"permissionDecision\":\"all'", 0, hook.OutcomeFailed, hook.CauseJSON, agent.Deny, "not whole"},
		"dies within JSON":        {"echo $$ >pid; printf '{\"permissionDecision\":'; kill -KILL $$", 0, hook.OutcomeFailed, hook.CauseSignal, agent.Deny, "signal 9"},
		"closes its input":        {"echo $$ >pid; exec <&-; echo '{\"permissionDecision\":\"ask\"}'", 0, hook.OutcomeRan, "", agent.Ask, ""},
		"closes its output":       {"echo $$ >pid; exec >&- 2>&-; exit 2", 0, hook.OutcomeRan, "", agent.Deny, "blocks this"},
		"does not exist":          {"echo $$ >pid; exec ./missing", 0, hook.OutcomeFailed, hook.CauseMissing, agent.Deny, "cannot run its program"},
		"may not be run":          {"echo $$ >pid; exec ./plain.sh", 0, hook.OutcomeFailed, hook.CauseMissing, agent.Deny, "ermission denied"},
		"is not a script":         {"echo $$ >pid; exec ./binary", 0, hook.OutcomeFailed, hook.CauseMissing, agent.Deny, "cannot run its program"},
		"has no interpreter":      {"echo $$ >pid; exec ./lost.py", 0, hook.OutcomeFailed, hook.CauseMissing, agent.Deny, "cannot run its program"},
		"is no shell line":        {"echo $$ >pid; echo '", 0, hook.OutcomeRan, "", agent.Deny, "unexpected EOF"},
		"prints no UTF-8":         {"echo $$ >pid; printf 'caf\\351' >&2; exit 2", 0, hook.OutcomeRan, "", agent.Deny, "caf\uFFFD"},
		"JSON without UTF-8":      {"echo $$ >pid; printf '{\"decision\":\"deny\",\"reason\":\"caf\\351\"}'", 0, hook.OutcomeRan, "", agent.Deny, "caf\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handlers := command(t, "PreToolUse", "", c.line)
			if c.timeout > 0 {
				handlers = timed(handlers, c.timeout)
			}
			r := newRig(t, handlers...)
			r.write("plain.sh", "#!/bin/sh\necho '{}'", 0o600)
			r.write("binary", "\x7fELF\x00\x00", 0o700)
			r.write("lost.py", "#!/no/such/python\n", 0o700)
			advice := r.fire(use("Bash", `{}`))
			if advice.Decision != c.advice || !strings.Contains(advice.Reason, c.reason) {
				t.Errorf("%+v", advice)
			}
			if e := r.log[0]; e.Outcome != c.outcome || e.Cause != c.cause {
				t.Errorf("%s %s %s", e.Outcome, e.Cause, e.Detail)
			}
			if r.alive("pid") {
				t.Error("it still runs")
			}
			for _, e := range r.log {
				if text, _ := json.Marshal(e); len(text) > 256<<10 {
					t.Errorf("the entry has %d bytes", len(text))
				}
			}
		})
	}
}

// A program need not read its input, however long that is.
func TestUnreadInput(t *testing.T) {
	t.Parallel()
	r := newRig(t, command(t, "PreToolUse", "", "exit 0")...)
	input, _ := json.Marshal(map[string]string{"content": strings.Repeat("x", 1<<19)}) // more than a pipe holds
	if advice := r.fire(use("Write", string(input))); advice.Decision != "" || r.log[0].Outcome != hook.OutcomeRan {
		t.Errorf("%+v, %+v", advice, r.log[0].Outcome)
	}
	if len(r.log[0].Input) > 64<<10 {
		t.Errorf("the entry has %d bytes of it", len(r.log[0].Input))
	}
	r.handlers = command(t, "PreToolUse", "", `wc -c >count`)
	r.fire(use("Write", string(input)))
	if n, _ := strconv.Atoi(strings.TrimSpace(r.read("count"))); n < 1<<20 {
		t.Errorf("read %d bytes", n)
	}
}

// A stop by the user ends a hook that hangs, and the call with it.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	r := newRig(t, timed(command(t, "PreToolUse", "", "echo $$ >pid; echo >started; exec sleep 300"), hook.MostTime)...)
	started := r.pipe("started")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends when the hook has begun
		_, _ = os.ReadFile(started)
		cancel()
	}()
	if advice := r.fireIn(ctx, use("Bash", `{}`)); advice.Decision != agent.Deny || r.log[0].Outcome != hook.OutcomeInterrupted || r.alive("pid") {
		t.Errorf("%+v, %+v", advice, r.log[0])
	}
	if advice := r.fireIn(ctx, use("Bash", `{}`)); advice.Decision != agent.Deny || r.log[1].Outcome != hook.OutcomeInterrupted {
		t.Errorf("%+v, %+v", advice, r.log[1])
	}
}

// COM-70, OAS-666, OAS-667: hooks run one after the other, those of the user
// before those of the project, this user's and the session's, and functions last,
// whatever order they ask for among themselves; one that fails does not keep the others from running.
func TestOrder(t *testing.T) {
	t.Parallel()
	var handlers []hook.Handler
	add := func(scope hook.Scope, line string) {
		h := command(t, "PostToolUse", "", line)
		h[0].Origin.Scope = scope
		handlers = append(handlers, h...)
	}
	add(hook.ScopeSession, "echo session >>order")
	add(hook.ScopeLocal, "sleep 0.05; echo local >>order")
	add(hook.ScopeProject, "echo project >>order; kill -KILL $$")
	add(hook.ScopeUser, "sleep 0.1; echo user >>order")
	add(hook.ScopeUser, "echo user again >>order; exit 1")
	r := newRig(t, handlers...)
	r.handlers = append(function(t, hook.Code{Point: agent.HookPostToolUse, Order: -1, Func: func(context.Context, agent.HookCall) (*hook.Answer, error) {
		r.write("order", r.read("order")+"code\n", 0o600)
		return nil, nil
	}}), r.handlers...)
	r.fire(after)
	if got := strings.Fields(strings.ReplaceAll(r.read("order"), " ", "-")); strings.Join(got, " ") != "user user-again project local session code" {
		t.Errorf("ran %v", got)
	}
}

// OAS-664, K-16, K-35: hooks have the documented variables; no hook gets secrets,
// and those of a project get only what programs need.
func TestEnvironment(t *testing.T) {
	t.Setenv("HOOK_TEST_API_KEY", "sk-0123456789abcdefghij")
	t.Setenv("HOOK_TEST_ALLOWED_TOKEN", "for-hooks")
	t.Setenv("HOOK_TEST_PLAIN", "plain")
	t.Setenv("BASH_ENV", "/no/such/file")
	t.Setenv("PYTHONDONTWRITEBYTECODE", "")
	for _, scope := range []hook.Scope{hook.ScopeUser, hook.ScopeProject, hook.ScopeLocal} {
		handlers := command(t, "PreToolUse", "", "env >env")
		handlers[0].Origin.Scope = scope
		r := newRig(t, handlers...)
		r.options.Allow = []string{"HOOK_TEST_ALLOWED_TOKEN"}
		r.fire(use("Bash", `{}`))
		env := "\n" + r.read("env")
		for _, want := range []string{
			"HOOK_EVENT=preToolUse", "HOOK_TOOL_NAME=Bash", "HOOK_SESSION_ID=s1", "HOOK_CWD=" + r.folder,
			"COMATE_HOOK_EVENT=PreToolUse", "COMATE_HOOK_TOOL_NAME=Bash", "COMATE_HOOK_SESSION_ID=s1", "COMATE_HOOK_CWD=" + r.folder,
			"CLAUDE_PROJECT_DIR=" + r.folder, "AGENT_PROJECT_DIR=" + r.folder, "HOOK_TEST_ALLOWED_TOKEN=for-hooks", "PATH=",
			"PYTHONDONTWRITEBYTECODE=1\n",
		} {
			if !strings.Contains(env, "\n"+want) {
				t.Errorf("%s: %s is missing", scope, want)
			}
		}
		for _, secret := range []string{"HOOK_TEST_API_KEY", "BASH_ENV"} {
			if strings.Contains(env, secret) {
				t.Errorf("%s: has %s", scope, secret)
			}
		}
		if has := strings.Contains(env, "HOOK_TEST_PLAIN"); has != (scope == hook.ScopeUser) {
			t.Errorf("%s: has another variable: %t", scope, has)
		}
	}
}

// A hook with arguments is started without a shell, in the session's folder, with
// the placeholders replaced.
func TestArguments(t *testing.T) {
	t.Parallel()
	handlers := parse(t, hook.FormClaude, `{"PreToolUse":[{"hooks":[{"type":"command","command":"${CLAUDE_PROJECT_DIR}/my hook",
		"args":["a b","$HOME","${AGENT_PROJECT_DIR}/x","*"]}, {"type":"command","command":"./my hook","args":[]}, {"type":"command","command":"./nowhere","args":[]}]}]}`)
	r := newRig(t, handlers...)
	r.write("my hook", "#!/bin/sh\nprintf '%s|' \"$@\" >>seen; pwd >>seen", 0o700)
	advice := r.fire(use("Bash", `{}`))
	if want := "a b|$HOME|" + r.folder + "/x|*|" + r.folder + "\n|" + r.folder + "\n"; r.read("seen") != want {
		t.Errorf("%q instead of %q", r.read("seen"), want)
	}
	if advice.Decision != agent.Deny || r.log[2].Cause != hook.CauseStart {
		t.Errorf("%+v, %+v", advice, r.log[2])
	}
}

// Hooks beside the session do not delay it and decide nothing. Only some run at a
// time, and all end with the engine.
func TestBeside(t *testing.T) {
	t.Parallel()
	handlers := parse(t, hook.FormAgent, `{"PreToolUse":[{"hooks":[{"type":"command","command":"echo $$ >>pids; sleep 300; exit 2","async":true,"timeout":600}]}]}`)
	r := newRig(t, handlers...)
	for range 8 {
		if advice := r.fire(use("Bash", `{}`)); advice.Decision != "" {
			t.Errorf("%+v", advice)
		}
	}
	if len(r.log) > 0 {
		t.Errorf("ended early: %+v", r.log)
	}
	r.fire(use("Bash", `{}`))
	if len(r.log) != 1 || r.log[0].Cause != hook.CauseBusy {
		t.Errorf("%+v", r.log)
	}
	r.engine.Close()
	if len(r.log) != 9 {
		t.Errorf("%d entries", len(r.log))
	}
	for _, e := range r.log[1:] {
		if e.Outcome != hook.OutcomeInterrupted {
			t.Errorf("%+v", e)
		}
	}
	for _, pid := range strings.Fields(r.readIfThere("pids")) {
		r.write("pid", pid, 0o600)
		if r.alive("pid") {
			t.Errorf("%s still runs", pid)
		}
	}
	r.engine.Close()
	r.fire(use("Bash", `{}`))
	if len(r.log) != 10 || r.log[9].Cause != hook.CauseBusy {
		t.Errorf("ran after its end: %+v", r.log[9:])
	}
}

// The answer of a hook that runs beside the session is logged, and has no
// effect.
func TestBesideHasNoInfluence(t *testing.T) {
	t.Parallel()
	handlers := parse(t, hook.FormAgent, `{"PreToolUse":[{"hooks":[{"type":"command","command":"echo >go; echo no >&2; exit 2","async":true}]}]}`)
	r := newRig(t, handlers...)
	release := r.pipe("go")
	logged := make(chan hook.Entry, 1)
	r.options.Log = func(e hook.Entry) { logged <- e }
	if advice := r.fire(use("Bash", `{}`)); advice.Decision != "" || len(r.reported) > 0 {
		t.Errorf("%+v, %+v", advice, r.reported)
	}
	if _, err := os.ReadFile(release); err != nil {
		t.Fatal(err)
	}
	if e := <-logged; e.Outcome != hook.OutcomeRan || e.Effect.Reason != "no" {
		t.Errorf("%+v", e)
	}
}

// pipe makes a named pipe in the folder.
func (r *rig) pipe(name string) string {
	r.t.Helper()
	path := filepath.Join(r.folder, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}
