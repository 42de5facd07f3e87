package hook_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
)

// The user is told what a hook is about and what it prints while it runs.
// The program here ends only once that was told.
func TestOutputOfRunningHook(t *testing.T) {
	t.Parallel()
	r := newRig(t, parse(t, hook.FormAgent, `{"PreToolUse":[{"hooks":[{"type":"command","name":"slow","timeout":60,
		"statusMessage":"Checking the style…","command":"printf 'first é\n'; until [ -e told ]; do sleep 0.01; done; echo last"}]}]}`)...)
	r.onReport = func(p agent.Payload) {
		if o, ok := p.(agent.HookOutput); ok && strings.Contains(o.Text, "é\n") {
			r.write("told", "", 0o600)
		}
	}
	r.fire(use("Bash", `{}`))
	start, ok := r.reported[0].(agent.HookStart)
	if !ok || start.Status != "Checking the style…" || start.CallID != "c1" {
		t.Errorf("%+v", r.reported[0])
	}
	if o, ok := r.reported[1].(agent.HookOutput); !ok || o.Name != "slow" || o.CallID != "c1" || o.Point != agent.HookPreToolUse {
		t.Errorf("%+v", r.reported[1])
	}
	if end, ok := r.reported[len(r.reported)-1].(agent.HookEnd); !ok || end.Failed {
		t.Errorf("%+v", r.reported[len(r.reported)-1])
	}
}

// Of a flood only the newest lines are told, whole and without secrets (K-16).
func TestOutputOfFlood(t *testing.T) {
	t.Parallel()
	const key = "sk-proj-abcdefghijklmnop1234"
	r := newRig(t, command(t, "PreToolUse", "", `l="`+key+` é"; for i in 1 2 3 4 5 6 7 8 9; do l="$l
$l"; done; printf %s "$l"; until [ -e told ]; do sleep 0.01; done; echo; echo; until [ -e over ]; do sleep 0.01; done`)...)
	r.onReport = func(p agent.Payload) {
		o, ok := p.(agent.HookOutput)
		if !ok {
			return
		}
		if len(o.Text) > 4<<10 || strings.Trim(strings.ReplaceAll(o.Text, "[redacted] é\n", ""), "\n") != "" {
			t.Errorf("%d bytes: %.60q", len(o.Text), o.Text)
		}
		r.write("told", "", 0o600)
		if strings.HasSuffix(o.Text, "\n\n") {
			r.write("over", "", 0o600)
		}
	}
	r.fire(use("Bash", `{}`))
	if len(r.reported) < 3 {
		t.Errorf("nothing was told: %+v", r.reported)
	}
}

// A listener that panics is not left with a hook that still runs.
func TestOutputToBrokenListener(t *testing.T) {
	t.Parallel()
	r := newRig(t, command(t, "PreToolUse", "", `echo on; until [ -e told ]; do sleep 0.01; done; echo over >ended`)...)
	r.onReport = func(p agent.Payload) {
		if _, ok := p.(agent.HookOutput); ok {
			r.write("told", "", 0o600)
			panic("broken")
		}
	}
	defer func() {
		if p := recover(); p != "broken" {
			t.Errorf("recovered %v", p)
		}
		if got := r.readIfThere("ended"); got != "over\n" {
			t.Errorf("the hook was left: %q", got)
		}
	}()
	r.fire(use("Bash", `{}`))
}
