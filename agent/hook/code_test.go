package hook_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
)

// OAS-662, COM-79, COM-80: functions are registered with an event, a matcher, an
// order and a name. They see the call and its mode, and answer or say nothing.
func TestFunctions(t *testing.T) {
	t.Parallel()
	registry := hook.NewRegistry()
	var ran []string
	add := func(name, matcher string, order int, a *hook.Answer) {
		err := registry.Register(hook.Code{Point: agent.HookPreToolUse, Name: name, Matcher: matcher, Order: order,
			Func: func(_ context.Context, call agent.HookCall) (*hook.Answer, error) {
				ran = append(ran, name+" "+string(call.Mode)+" "+call.Tool().Tool)
				return a, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
	}
	add("third", "*", 1, nil)
	add("first", "Bash", -1, &hook.Answer{Decision: agent.Ask, Reason: "why"})
	add("never", "^Edit$", 0, &hook.Answer{Decision: agent.Deny})
	add("second", "", 0, &hook.Answer{Context: "mind"})
	add("", "", 2, nil)
	add("", "", 2, nil) // is another hook all the same
	r := newRig(t, registry.Handlers()...)
	advice := r.fire(use("Bash", `{}`))
	if got := strings.Join(ran, ", "); got != "first default Bash, second default Bash, third default Bash,  default Bash,  default Bash" {
		t.Errorf("ran %s", got)
	}
	if advice.Decision != agent.Ask || advice.Reason != "why" || advice.Context != "mind" {
		t.Errorf("%+v", advice)
	}
	if r.log[0].Hook.Name != "first" || r.log[4].Hook.Name != "preToolUse 5" || r.log[0].Hook.Origin.Scope != hook.ScopeCode {
		t.Errorf("%+v", r.log)
	}
}

// OAS-666, COM-79: a function has 30 seconds, or the time that it asks for, up to what
// any hook may have.
func TestTimeOfFunctions(t *testing.T) {
	t.Parallel()
	nothing := func(context.Context, agent.HookCall) (*hook.Answer, error) { return nil, nil }
	for asked, want := range map[time.Duration]time.Duration{
		0: 30 * time.Second, time.Millisecond: time.Millisecond, time.Minute: time.Minute, hook.MostTime: hook.MostTime,
		hook.MostTime + 1: hook.MostTime, 24 * time.Hour: hook.MostTime,
	} {
		registry := hook.NewRegistry()
		if err := registry.Register(hook.Code{Point: agent.HookStop, Func: nothing, Timeout: asked}); err != nil {
			t.Fatal(err)
		}
		if got := registry.Handlers()[0].Terms.Timeout; got != want {
			t.Errorf("%s: %s instead of %s", asked, got, want)
		}
	}
}

// Registering an invalid hook fails at once.
func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	nothing := func(context.Context, agent.HookCall) (*hook.Answer, error) { return nil, nil }
	for want, c := range map[string]hook.Code{
		`no event "onSave"`:   {Point: "onSave", Func: nothing},
		"no function":         {Point: agent.HookStop},
		"stop has no matcher": {Point: agent.HookStop, Func: nothing, Matcher: "x"},
		`matcher "("`:         {Point: agent.HookPreToolUse, Func: nothing, Matcher: "("},
	} {
		registry := hook.NewRegistry()
		if err := registry.Register(c); err == nil || !strings.Contains(err.Error(), want) || len(registry.Handlers()) > 0 {
			t.Errorf("%v instead of %s", err, want)
		}
	}
}

// K-34: a function that fails, panics or does not return in its time denies a
// call, and decides nothing elsewhere.
func TestFunctionsThatMisbehave(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run     hook.Func
		outcome hook.Outcome
		cause   hook.Cause
		says    string
	}{
		"fails": {func(context.Context, agent.HookCall) (*hook.Answer, error) {
			return &hook.Answer{Decision: agent.Allow}, errors.New("no disk")
		}, hook.OutcomeFailed, hook.CauseFunction, "failed: no disk"},
		"panics": {func(context.Context, agent.HookCall) (*hook.Answer, error) { panic("oh") }, hook.OutcomeFailed, hook.CausePanic, "panicked: oh"},
		"hangs": {func(ctx context.Context, _ agent.HookCall) (*hook.Answer, error) {
			<-ctx.Done()
			return &hook.Answer{Decision: agent.Allow}, nil
		}, hook.OutcomeTimedOut, "", "did not end within 30s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bash := use("Bash", `{}`)
				for _, data := range []agent.HookInput{bash, after} {
					r := newRig(t, function(t, hook.Code{Point: data.Point(), Func: c.run})...)
					begin := time.Now()
					advice := r.fire(data)
					if guards := data.Point() == agent.HookPreToolUse; (advice.Decision == agent.Deny) != guards || guards && !strings.Contains(advice.Reason, c.says) {
						t.Errorf("%+v", advice)
					}
					if r.log[0].Outcome != c.outcome || r.log[0].Cause != c.cause {
						t.Errorf("%+v", r.log[0])
					}
					if took := time.Since(begin); took > 30*time.Second {
						t.Errorf("took %s", took)
					}
				}
			})
		})
	}
}

// Functions that never return are put up with, up to a limit.
func TestLostFunctions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, function(t, hook.Code{Point: agent.HookStop, Timeout: time.Second, Func: func(context.Context, agent.HookCall) (*hook.Answer, error) {
			<-release
			return nil, nil
		}})...)
		for range 9 {
			r.fire(ending)
		}
		if got := r.outcomes(); got != strings.Repeat("timed_out ", 8)+"failed" || r.log[8].Cause != hook.CauseBusy {
			t.Error(got)
		}
		close(release)
		synctest.Wait()
		if r.fire(ending); r.log[9].Outcome != hook.OutcomeRan {
			t.Errorf("%+v", r.log[9])
		}
	})
}

// A stop by the user ends a function as well.
func TestInterruptedFunction(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r := newRig(t, function(t, hook.Code{Point: agent.HookPreToolUse, Func: func(ctx context.Context, _ agent.HookCall) (*hook.Answer, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}})...)
	if advice := r.fireIn(ctx, use("Bash", `{}`)); advice.Decision != agent.Deny || r.outcomes() != "interrupted" {
		t.Errorf("%+v, %s", advice, r.outcomes())
	}
}
