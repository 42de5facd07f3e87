package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"github.com/google/go-cmp/cmp"
)

// outcomes returns what became of the hooks, in order.
func (r *rig) outcomes() string {
	var all []string
	for _, e := range r.log {
		all = append(all, string(e.Outcome))
	}
	return strings.Join(all, " ")
}

// K-34, OAS-665: only a hook that is ready runs. A guard that was changed since it
// was trusted, or whose matcher cannot be read, has a person asked, which no
// other hook prevents; a stranger's does nothing.
func TestReadiness(t *testing.T) {
	t.Parallel()
	const missed hook.State = "untrusted and missed"
	allow := function(t, hook.Code{Point: agent.HookPreToolUse, Func: func(context.Context, agent.HookCall) (*hook.Answer, error) {
		return &hook.Answer{Decision: agent.Allow}, nil
	}})
	for name, c := range map[string]struct {
		matcher string
		state   hook.State
		outcome string
		want    agent.HookAdvice
	}{
		"missed":                   {"Bash", missed, "untrusted", agent.HookAdvice{Decision: agent.Ask, Final: true}},
		"missed, unreadable":       {"Bash(", missed, "failed", agent.HookAdvice{Decision: agent.Ask, Final: true}},
		"missed, about others":     {"Edit", missed, "not_matched", agent.HookAdvice{Decision: agent.Allow}},
		"ready":                    {"Bash", hook.StateReady, "ran", agent.HookAdvice{Decision: agent.Deny, Reason: "no"}},
		"off":                      {"Bash", hook.StateOff, "off", agent.HookAdvice{Decision: agent.Allow}},
		"untrusted":                {"Bash", hook.StateUntrusted, "untrusted", agent.HookAdvice{Decision: agent.Allow}},
		"nobody knows":             {"Bash", "", "untrusted", agent.HookAdvice{Decision: agent.Allow}},
		"changed":                  {"Bash", hook.StateChanged, "changed", agent.HookAdvice{Decision: agent.Ask, Final: true}},
		"changed, about others":    {"Edit", hook.StateChanged, "not_matched", agent.HookAdvice{Decision: agent.Allow}},
		"unreadable":               {"Bash(", hook.StateReady, "failed", agent.HookAdvice{Decision: agent.Ask, Final: true}},
		"unreadable and changed":   {"Bash(", hook.StateChanged, "failed", agent.HookAdvice{Decision: agent.Ask, Final: true}},
		"unreadable, a stranger's": {"Bash(", hook.StateUntrusted, "failed", agent.HookAdvice{Decision: agent.Allow}},
		"unreadable, off":          {"Bash(", hook.StateOff, "failed", agent.HookAdvice{Decision: agent.Allow}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handlers, _ := hook.Parse(json.RawMessage(`{"PreToolUse":[{"matcher":"`+c.matcher+`","hooks":[{"type":"command","command":"x"}]}]}`), hook.Origin{})
			r := newRig(t, append(handlers, allow...)...)
			r.options.Runner = said{Code: 2, Stderr: "no"}
			r.options.Ready = func(h hook.Handler) hook.Readiness {
				if h.Kind == hook.KindFunction {
					return hook.Readiness{State: hook.StateReady}
				}
				if c.state == missed {
					return hook.Readiness{State: hook.StateUntrusted, Missed: true}
				}
				return hook.Readiness{State: c.state}
			}
			advice := r.fire(use("Bash", `{}`))
			if (advice.Decision == agent.Ask) != strings.Contains(advice.Reason, "the hook x") && advice.Decision == agent.Ask {
				t.Errorf("%+v", advice)
			}
			if advice.Decision == agent.Ask {
				advice.Reason = ""
			}
			if diff := cmp.Diff(c.want, advice); diff != "" {
				t.Error(diff)
			}
			if r.outcomes() != c.outcome+" ran" {
				t.Error(r.outcomes())
			}
		})
	}
}

// Guards have a person asked when they cannot run, whatever another hook answers. At
// other points a changed hook, or one that nobody can read, is reported and left out.
func TestReadinessAtOtherPoints(t *testing.T) {
	t.Parallel()
	for _, point := range []string{`"matcher":"(",`, ``} {
		handlers, _ := hook.Parse(json.RawMessage(`{"PostToolUse":[{`+point+`"hooks":[`+ok+`]}],"PermissionRequest":[{`+point+`"hooks":[`+ok+`]}]}`), hook.Origin{})
		r := newRig(t, append(handlers, function(t, hook.Code{Point: agent.HookPermissionRequest, Func: func(context.Context, agent.HookCall) (*hook.Answer, error) {
			return &hook.Answer{Decision: agent.Allow}, nil
		}})...)...)
		r.options.Ready = func(h hook.Handler) hook.Readiness {
			if h.Kind == hook.KindFunction {
				return hook.Readiness{State: hook.StateReady}
			}
			return hook.Readiness{State: hook.StateChanged}
		}
		if advice := r.fire(after); !cmp.Equal(advice, agent.HookAdvice{}) {
			t.Errorf("after a call: %+v", advice)
		}
		if advice := r.fire(agent.PermissionRequestInput{HookTool: after.HookTool}); advice.Decision != agent.Ask || !advice.Final {
			t.Errorf("before a question: %+v", advice)
		}
		if out := r.outcomes(); out != "failed failed ran" && out != "changed changed ran" {
			t.Error(out)
		}
	}
}

// An equal hook of two files runs once, unless the first of them may not run. A
// hook of a type that does not exist here does not run and decides nothing.
func TestEqualHooksRunOnce(t *testing.T) {
	t.Parallel()
	const text = `{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo x >>ran","timeout":5}]}]}`
	mine := parse(t, hook.FormAgent, text)
	theirs := parse(t, hook.FormAgent, strings.Replace(text, `:5`, `:6, "name": "theirs"`, 1))
	theirs[0].Origin = hook.Origin{Scope: hook.ScopeProject, File: "/p/.agent/settings.json", Form: hook.FormAgent}
	foreign, _ := hook.Parse(json.RawMessage(`{"PreToolUse":[{"hooks":[{"type":"prompt","prompt":"?"}]}]}`), hook.Origin{})
	other := command(t, "PreToolUse", "Ba.h", "echo x >>ran")
	r := newRig(t, append(append(append(theirs, mine...), foreign...), other...)...)
	off := false
	r.options.Ready = func(h hook.Handler) hook.Readiness {
		if off && h.Origin.Scope == hook.ScopeUser {
			return hook.Readiness{State: hook.StateOff}
		}
		return hook.Readiness{State: hook.StateReady}
	}
	if advice := r.fire(use("Bash", `{}`)); advice.Decision != "" || r.outcomes() != "ran ran duplicate failed" {
		t.Errorf("%+v, %s", advice, r.outcomes())
	}
	off, r.log = true, nil
	if r.fire(use("Bash", `{}`)); r.outcomes() != "off off ran failed" {
		t.Error(r.outcomes())
	}
	if got := strings.Count(r.read("ran"), "x"); got != 3 {
		t.Errorf("ran %d times", got)
	}
}

// A hook that runs once does so once in a session, and again in another one.
func TestOnce(t *testing.T) {
	t.Parallel()
	handlers := parse(t, hook.FormAgent, `{"PreToolUse":[{"hooks":[{"type":"command","command":"x","once":true}]}]}`)
	for range 2 {
		r := newRig(t, handlers...)
		r.options.Runner = said{}
		r.fire(use("Bash", `{}`))
		if r.fire(use("Bash", `{}`)); r.outcomes() != "ran once" {
			t.Error(r.outcomes())
		}
	}
}

// A rule in "if" limits a hook to some calls. One that cannot be judged does not.
func TestIf(t *testing.T) {
	t.Parallel()
	handlers := parse(t, hook.FormAgent, `{"PreToolUse":[{"hooks":[{"type":"command","command":"x","if":"Bash(git *)"}]}]}`)
	for line, want := range map[string]string{"git push": "ran", "ls": "not_matched", "broken": "ran"} {
		r := newRig(t, handlers...)
		r.options.Runner = said{}
		r.options.Applies = func(rule string, call agent.HookTool) (bool, error) {
			if line == "broken" {
				return false, errors.New("no")
			}
			return rule == "Bash(git *)" && strings.Contains(string(call.Input), "git"), nil
		}
		r.fire(use("Bash", `{"command":"`+line+`"}`))
		if r.outcomes() != want {
			t.Errorf("%s: %s", line, r.outcomes())
		}
	}
	r := newRig(t, handlers...)
	r.options.Runner = said{}
	if r.fire(use("Bash", `{}`)); r.outcomes() != "ran" {
		t.Error("without a judge it does not run")
	}
}

// OAS-661: the session of an agent starts and stops as a subagent, and has no end
// of its own.
func TestAgentsAreSubagents(t *testing.T) {
	t.Parallel()
	var handlers []hook.Handler
	for _, event := range []string{"SessionStart", "Stop", "SessionEnd", "SubagentStart", "SubagentStop", "PreToolUse"} {
		handlers = append(handlers, command(t, event, "", "cat >"+event)...)
	}
	r := newRig(t, handlers...)
	r.options.Agent = &hook.Agent{ID: "a1", Parent: "s0", Task: "look", Type: "explorer"}
	for _, data := range []agent.HookInput{agent.SessionStartInput{}, use("Bash", `{}`), ending, agent.SessionEndInput{}} {
		r.fire(data)
	}
	for event, want := range map[string]string{
		"SessionStart": "", "Stop": "", "SessionEnd": "",
		"SubagentStart": `"agent_id":"a1","agent_type":"explorer","parent_session_id":"s0","task":"look"`,
		"SubagentStop":  `"agent_id":"a1","agent_type":"explorer","reason":"done"`,
		"PreToolUse":    `"agent_id":"a1","agent_type":"explorer","tool_name":"Bash"`,
	} {
		if got := r.readIfThere(event); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", event, got)
		}
	}
	refused := agent.StopInput{Reason: agent.EndRefused}
	if r.fire(refused); !strings.Contains(r.readIfThere("SubagentStop"), `"reason":"refused"`) {
		t.Error("an agent whose task was refused does not stop")
	}
	r = newRig(t, handlers...)
	if r.fire(refused); r.readIfThere("Stop") != "" {
		t.Error("Stop came for a message that was refused")
	}
}

// OAS-668: a change of the rules is passed on with the hook that asked for it. If
// it is refused, the user is told, and the rest of the answer counts.
func TestPermissionUpdates(t *testing.T) {
	t.Parallel()
	handlers := command(t, "PostToolUse", "", "x")
	for _, refusal := range []error{nil, errors.New("not from a project")} {
		r := newRig(t, handlers...)
		r.options.Runner = said{Stdout: `{"permission_update":{"tool":"Bash(git *)","behavior":"allow"},"additionalContext":"noted"}`}
		var got []any
		r.options.Update = func(by hook.Handler, u hook.PermissionUpdate) error {
			got = append(got, by.Name, u)
			return refusal
		}
		if advice := r.fire(after); advice.Context != "noted" {
			t.Errorf("%+v", advice)
		}
		if diff := cmp.Diff([]any{"x", hook.PermissionUpdate{Tool: "Bash(git *)", Behavior: agent.Allow}}, got); diff != "" {
			t.Error(diff)
		}
		end := r.reported[1].(agent.HookEnd)
		if told := strings.Contains(end.Message, "could not change the rules: not from a project"); told != (refusal != nil) || end.Failed {
			t.Errorf("%+v", end)
		}
	}
	r := newRig(t, handlers...)
	r.options.Runner = said{Stdout: `{"permissionUpdate":{"tool":"Bash","behavior":"deny"}}`}
	if r.fire(after); r.log[0].Cause != hook.CauseUpdate {
		t.Errorf("%+v", r.log[0])
	}
}

// The texts that all hooks of a point add for the model are limited.
func TestWhatIsToldIsLimited(t *testing.T) {
	t.Parallel()
	var handlers []hook.Handler
	for i := range 10 {
		handlers = append(handlers, command(t, "PostToolUse", strings.Repeat("x?", i)+".*", "x")...)
	}
	r := newRig(t, handlers...)
	r.options.Runner = said{Stdout: strings.Repeat("é", 30_000)}
	advice := r.fire(after)
	if n := len(advice.Context); n < 30_000 || n > 64<<10 || !strings.Contains(advice.Context, "was cut here") {
		t.Errorf("%d bytes", n)
	}
}

// K-16: keys reach neither the log, the report of a hook nor the model, whoever printed
// them.
func TestSecretsAreNotLogged(t *testing.T) {
	t.Parallel()
	const key = "sk-proj-abcdefghijklmnop1234"
	r := newRig(t, command(t, "PreToolUse", "", "x")...)
	r.options.Runner = said{
		Stdout: `{"systemMessage":"` + key + `","reason":"` + key + `","permissionDecision":"ask","updatedInput":{"command":"curl ` + key + `"},
			"notification":{"title":"` + key + `","body":"` + key + `"},"message":"` + key + `"}`,
		Stderr: key,
	}
	advice := r.fire(use("Bash", `{"command":"curl -H 'Authorization: Bearer `+key+`'","env":["`+key+`",{"`+"a"+`":"`+key+`"}],"n":1}`))
	entry, err := json.Marshal(r.log[0])
	if err != nil {
		t.Fatal(err)
	}
	end := r.reported[1].(agent.HookEnd)
	end.Input = "" // the session's own log has the call anyhow
	report, _ := json.Marshal(end)
	for _, text := range []string{string(entry), string(report), advice.Reason, advice.Context} {
		if strings.Contains(text, key) || !strings.Contains(text, "[redacted]") {
			t.Error(text)
		}
	}
	if !json.Valid([]byte(r.log[0].Input)) || !strings.Contains(r.log[0].Input, `"n":1`) {
		t.Errorf("%s", r.log[0].Input)
	}
	deep := strings.Repeat(`[`, 5000) + `"` + key + `"` + strings.Repeat(`]`, 5000)
	r.fire(use("Bash", `{"x":`+deep+`}`))
	if strings.Contains(r.log[1].Input, key) || !json.Valid([]byte(r.log[1].Input)) {
		t.Error("a deep value was logged as it is")
	}
}

// A hook can be tried with the input of an entry, without any influence.
func TestTry(t *testing.T) {
	t.Parallel()
	handlers := parse(t, hook.FormAgent, `{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","once":true,
		"command":"cat >input; echo $HOOK_TOOL_NAME $HOOK_SESSION_ID >env; echo '{\"permissionDecision\":\"deny\",\"reason\":\"no\",\"permissionUpdate\":{\"tool\":\"Bash\",\"behavior\":\"deny\"}}'"}]}]}`)
	r := newRig(t, handlers...)
	r.options.Ready = func(hook.Handler) hook.Readiness { return hook.Readiness{State: hook.StateUntrusted} }
	r.options.Update = func(hook.Handler, hook.PermissionUpdate) error {
		t.Error("it changed the rules")
		return nil
	}
	e := hook.New(r.options)
	defer e.Close()
	m := e.Match(handlers[0], agent.HookCall{Session: "s1", Data: use("Bash", `{"command":"ls"}`)})
	if len(m.Inputs) != 1 {
		t.Fatalf("%+v", m)
	}
	for range 2 {
		got := e.Try(t.Context(), handlers[0], m.Inputs[0])
		if got.Outcome != hook.OutcomeRan || got.Effect.Decision != agent.Deny || got.About.Tool != "Bash" || got.Session != "s1" || len(r.log) > 0 {
			t.Errorf("%+v", got)
		}
	}
	if r.read("input") != string(m.Inputs[0]) || r.read("env") != "Bash s1\n" {
		t.Errorf("%s, %s", r.read("input"), r.read("env"))
	}
	guard := parse(t, hook.FormAgent, `{"PreToolUse":[{"hooks":[{"type":"command","command":"./not-there"}]}]}`)[0]
	if got := e.Try(t.Context(), guard, m.Inputs[0]); got.Outcome != hook.OutcomeFailed || got.Effect.Decision != agent.Deny || got.Effect.Reason == "" {
		t.Errorf("a guard that fails: %+v", got)
	}
	if got := e.Try(t.Context(), hook.Handler{Kind: hook.KindFunction}, nil); got.Outcome != hook.OutcomeFailed {
		t.Errorf("%+v", got)
	}
	if m := e.Match(handlers[0], agent.HookCall{Data: use("Read", `{}`)}); len(m.Inputs) > 0 || m.Cause != hook.CauseMatcher || m.Detail != "Read" {
		t.Errorf("%+v", m)
	}
	if m := e.Match(handlers[0], agent.HookCall{Data: ending}); len(m.Inputs) > 0 {
		t.Errorf("%+v", m)
	}
}

// Without a runner no command runs: a guard denies, and others are reported.
func TestWithoutRunner(t *testing.T) {
	t.Parallel()
	r := newRig(t, append(command(t, "PreToolUse", "", "x"), command(t, "Stop", "", "x")...)...)
	r.options.Runner = nil
	if advice := r.fire(use("Bash", `{}`)); advice.Decision != agent.Deny || !strings.Contains(advice.Reason, "switched off") {
		t.Errorf("%+v", advice)
	}
	if advice := r.fire(ending); advice.Decision != "" || r.outcomes() != "failed failed" {
		t.Errorf("%+v, %s", advice, r.outcomes())
	}
	if advice := hook.New(hook.Options{}).Fire(t.Context(), agent.HookCall{Data: ending}, nil); !cmp.Equal(advice, agent.HookAdvice{}) {
		t.Errorf("%+v", advice)
	}
}
