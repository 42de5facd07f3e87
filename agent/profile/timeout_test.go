package profile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/profile"
)

// timed is an environment that only records the time limits of commands.
type timed struct {
	env.Environment
	limits []time.Duration
}

func (e *timed) Exec(_ context.Context, c env.Command) (env.CommandResult, error) {
	e.limits = append(e.limits, c.Timeout)
	return env.CommandResult{}, nil
}

// shells say how each profile's models set a command's time limit, and how it
// is described to them.
var shells = []struct {
	provider, tool, parameter string
	told                      string // the limit comes after it
}{
	{"openai", "shell_command", "timeout_ms", ""},
	{"anthropic", "Bash", "timeout", "A command may take "},
	{"gemini", "run_shell_command", "timeout_ms", "A command may take "},
	{"compat", "shell", "timeout_ms", "A command may take "},
}

// K-01, K-44, LOOP-121, LOOP-122: a command's time limit is the call's, else
// the user's, else two minutes, or ten seconds under the specification's names,
// and at most ten minutes.
func TestCommandTimeouts(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		for _, tt := range []struct {
			naming          profile.Naming
			call, set, want time.Duration
		}{
			{"", 0, 0, 2 * time.Minute},
			{profile.NamingSpec, 0, 0, 10 * time.Second},
			{profile.NamingSpec, 0, time.Minute, time.Minute},
			{"", 0, time.Minute, time.Minute},
			{"", 0, time.Hour, 10 * time.Minute},
			{"", 3 * time.Second, 0, 3 * time.Second},
			{"", 3 * time.Second, time.Minute, 3 * time.Second},
			{"", time.Hour, time.Minute, 10 * time.Minute},
			{"", -time.Second, time.Minute, time.Minute},
		} {
			e := &timed{}
			p := newPlaceWith(t, shell.provider, func(on env.Environment) env.Environment { e.Environment = on; return e },
				profile.Surroundings{Naming: tt.naming, CommandTimeout: func() time.Duration { return tt.set }}, nil)
			names := []string{shell.tool, "shell", "Bash"} // as it is shown, and as it is also understood
			var calls []llmtest.Call
			for _, name := range names {
				input, parameter := `{"command":"x"}`, shell.parameter
				if name != shell.tool {
					parameter = map[string]string{"shell": "timeout_ms", "Bash": "timeout"}[name]
				}
				if tt.call != 0 {
					input = fmt.Sprintf(`{"command":"x",%q:%d}`, parameter, tt.call.Milliseconds())
				}
				calls = append(calls, use(name, input))
			}
			call(p, calls...)
			if !slices.Equal(e.limits, slices.Repeat([]time.Duration{tt.want}, len(names))) {
				t.Errorf("%s %q, %+v: %v", shell.provider, names, tt, e.limits)
			}
		}
	}
}

// K-01: a limit that the user changes holds from the next command on. The
// model's briefing stays the same.
func TestACommandTimeoutThatChanges(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		set := time.Minute
		e := &timed{}
		p := newPlaceWith(t, shell.provider, func(on env.Environment) env.Environment { e.Environment = on; return e },
			profile.Surroundings{CommandTimeout: func() time.Duration { return set }}, nil)
		set = 90 * time.Second
		shown := p.profiles.Profile(shell.provider, "m").Tools.Definitions()
		i := slices.IndexFunc(shown, func(s llm.ToolSpec) bool { return s.Name == shell.tool })
		before := fmt.Sprintf("%+v", shown)
		if told := shell.told + "60 seconds"; shell.told != "" && !strings.Contains(shown[i].Description, told) {
			t.Errorf("%s is not told %q: %s", shell.provider, told, shown[i].Description)
		}
		if strings.Contains(before, "{timeout") {
			t.Errorf("%s is told of a limit without its number", shell.provider)
		}
		p.server.Add(llmtest.Round{Calls: []llmtest.Call{use(shell.tool, `{"command":"x"}`)}}, llmtest.Round{Text: "done"})
		p.run("go")
		set = 2 * time.Minute
		p.server.Add(llmtest.Round{Calls: []llmtest.Call{use(shell.tool, `{"command":"x"}`)}}, llmtest.Round{Text: "done"})
		p.run("again")
		if !slices.Equal(e.limits, []time.Duration{90 * time.Second, 2 * time.Minute}) {
			t.Errorf("%s: limits %v", shell.provider, e.limits)
		}
		if after := fmt.Sprintf("%+v", p.profiles.Profile(shell.provider, "m").Tools.Definitions()); after != before {
			t.Errorf("%s is shown something else", shell.provider)
		}
	}
}

// OAS-306: a background command has no time limit except its own.
func TestBackgroundCommandsHaveNoTimeout(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "anthropic", "", nil)
	starts, _ := call(p, use("Bash", `{"command":"true","run_in_background":true}`), use("Bash", `{"command":"true","yield_time_ms":500}`))
	for _, s := range starts {
		if strings.Contains(string(s.Input), `"timeout"`) {
			t.Errorf("started with %s", s.Input)
		}
	}
}
