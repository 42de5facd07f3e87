package remind_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/remind"
)

const text = "You have not used List for a while."

// COM-26: a model is reminded of a tool once it was not called for the gap, and again after the
// cool-down; a call of it begins the gap anew, and a restart changes nothing.
func TestReminders(t *testing.T) {
	t.Parallel()
	reminder := remind.Reminder{Tools: []string{"List"}, Gap: 3, CoolDown: 4, Text: text}
	onlyUsed := reminder
	onlyUsed.Used = true
	for name, tt := range map[string]struct {
		reminder remind.Reminder
		calls    string // the first letters of the tools that the model calls, round by round
		want     []int  // the requests that tell it anew, from 1
	}{
		"never called":      {reminder, "LLLLLLLLL", []int{4, 8}},
		"called once":       {reminder, "IOOOOOOOOO", []int{5, 9}},
		"called again":      {reminder, "OOOIOOOO", []int{4, 8}},
		"called in time":    {reminder, "OOIOOIOOI", nil},
		"only if used":      {onlyUsed, "OOOOOOOOO", nil},
		"used":              {onlyUsed, "OOOOIOOOOO", []int{9}},
		"without a cooling": {remind.Reminder{Tools: []string{"List"}, Gap: 2, Text: text}, "OOOO", []int{3, 4, 5}},
	} {
		for _, reopen := range []bool{false, true} {
			var script []llmtest.Round
			for _, c := range tt.calls {
				tool := "Look"
				if c == 'I' {
					tool = "List"
				}
				script = append(script, llmtest.Round{Calls: []llmtest.Call{llmtest.Use(tool, struct{}{})}})
			}
			script = append(script, llmtest.Round{Text: "Done."})
			if got := toldIn(t, tt.reminder, script, reopen); !cmp.Equal(got, tt.want) {
				t.Errorf("%s, reopened %t: told in %v, want %v", name, reopen, got, tt.want)
			}
		}
	}
}

// toldIn runs a script, and returns the requests that have a reminder more than the one before.
func toldIn(t *testing.T, r remind.Reminder, script []llmtest.Round, reopen bool) (told []int) {
	t.Helper()
	model := llmtest.Script(script...)
	var tools []agent.Tool
	for _, name := range []string{"Look", "List"} {
		tools = append(tools, agent.Function(agent.Spec{Name: name, Description: "Looks."}, func(context.Context, struct{}) (string, error) { return "ok", nil }))
	}
	registry, err := agent.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	cfg := agent.Config{
		Model: model, Gate: agent.AllowAll, Profiles: agent.Plain("Work.", registry), Remind: remind.All(r),
		Settings: agent.Settings{Provider: llmtest.Provider, Model: "m"}, Limits: agent.Limits{Rounds: 100},
	}
	var log []agent.Event
	session, err := agent.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	run := func(events func(func(agent.Event, error) bool)) {
		rounds := 0
		for ev, err := range events {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Durable() {
				ev.Seq = int64(len(log) + 1)
				log = append(log, ev)
			}
			if ev.Kind() == agent.KindTextEnd {
				if rounds++; rounds == 2 && reopen {
					session.Interrupt()
				}
			}
		}
	}
	run(session.Run(t.Context(), "go"))
	if reopen {
		if session, err = agent.New(cfg, log...); err != nil {
			t.Fatal(err)
		}
		reopen = false
		run(session.Continue(t.Context()))
	}
	before := 0
	for i, req := range model.Requests() {
		n := 0
		for _, m := range req.Messages {
			n += strings.Count(m.Text(), text)
		}
		if n > before {
			told = append(told, i+1)
		}
		before = n
	}
	return slices.Clip(told)
}
