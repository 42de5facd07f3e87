package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/agent/tool"
	"github.com/google/go-cmp/cmp"
)

// A gate and an approver of one function each: what they leave undecided is
// asked about, and denied.
func TestFunctionsDecide(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		verdict agent.Verdict
		answer  agent.Answer
		err     error
		want    agent.Outcome
		asked   int
	}{
		"allowed":   {verdict: agent.Verdict{Decision: agent.Allow}, want: agent.OutcomeDone},
		"denied":    {verdict: agent.Verdict{Decision: agent.Deny}, want: agent.OutcomeDenied},
		"approved":  {answer: agent.Answer{Decision: agent.Allow}, want: agent.OutcomeDone, asked: 1},
		"no answer": {want: agent.OutcomeDenied, asked: 1},
		"nobody":    {err: errors.New("gone"), answer: agent.Answer{Decision: agent.Allow}, want: agent.OutcomeDenied, asked: 1},
	} {
		asked := 0
		r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."}))
		r.cfg.Gate = agent.GateFunc(func(context.Context, agent.GateCall) agent.Verdict { return tt.verdict })
		r.cfg.Approver = agent.ApproverFunc(func(context.Context, agent.ApprovalRequest) (agent.Answer, error) {
			asked++
			return tt.answer, tt.err
		})
		ends := find[agent.ToolCallEnd](r.run("go"))
		if len(ends) != 1 || ends[0].Outcome != tt.want || asked != tt.asked {
			t.Errorf("%s: asked %d times, %+v", name, asked, ends)
		}
	}
}

// Without a model nothing is asked and nothing is recorded; without a mode the
// gate is asked in the default one.
func TestLeastSettings(t *testing.T) {
	t.Parallel()
	var mode agent.Mode
	tools, err := agent.NewRegistry(note{name: "Note"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := agent.New(agent.Config{
		Model:    llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."}),
		Profiles: agent.Plain("", tools),
		Gate: agent.GateFunc(func(_ context.Context, c agent.GateCall) agent.Verdict {
			mode = c.Mode
			return agent.Verdict{Decision: agent.Allow}
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.FollowUp("go")
	for name, run := range map[string]func(func(agent.Event, error) bool){"run": s.Run(t.Context(), "go"), "queued": s.RunQueued(t.Context())} {
		for ev, err := range run {
			if !errors.Is(err, agent.ErrNoModel) {
				t.Errorf("%s: %+v, %v", name, ev, err)
			}
		}
	}
	if n := len(s.Queue().Items()); n != 1 {
		t.Errorf("%d messages are queued", n)
	}
	s.Configure(agent.Settings{Model: "m"})
	for _, err := range s.RunQueued(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if mode != agent.ModeDefault || s.Transcript().Turn != 1 {
		t.Errorf("mode %q, turn %d", mode, s.Transcript().Turn)
	}
}

// A configuration means the same to New and to a template.
func TestOneWayToDefault(t *testing.T) {
	t.Parallel()
	configure := func(model agent.Model) agent.Config {
		tools, err := agent.NewRegistry(note{name: "Look", readOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		return agent.Config{Model: model, Gate: agent.AllowAll, Profiles: agent.Plain("Look.", tools), Settings: scripted}
	}
	rounds := []llmtest.Round{{Text: "It", Finish: llm.FinishLength}, {Calls: []llmtest.Call{look}}, {Text: "Done."}}
	own, models := llmtest.Script(rounds...), llmtest.Script(rounds...)
	s, err := agent.New(configure(own))
	if err != nil {
		t.Fatal(err)
	}
	want, err := s.Prompt(t.Context(), "go")
	if err != nil {
		t.Fatal(err)
	}
	got, err := agent.NewTemplate(func(string) (agent.Config, error) { return configure(models), nil }).
		Runtime(agent.Settings{}, agent.Overrides{Limits: &agent.Limits{}}).Query(t.Context(), "go")
	if err != nil || got.Turns != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// COM-04: what sessions of one template do at the same time with the built-in
// tools and a policy each is theirs alone: none may edit what another has read.
func TestSessionsOfATemplateShareNoTools(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("It is noon.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	template := agent.NewTemplate(func(id string) (agent.Config, error) {
		place, err := env.NewLocal(dir)
		if err != nil {
			return agent.Config{}, err
		}
		tools, err := agent.NewRegistry(tool.Builtin(place, tool.Options{})...)
		if err != nil {
			return agent.Config{}, err
		}
		policy, err := permission.New(dir, permission.Rules{Allow: []string{"Write", "Edit"}})
		file := filepath.Join(dir, id+".txt")
		rounds := []llmtest.Round{{Calls: []llmtest.Call{
			llmtest.Use("Edit", map[string]any{"file_path": filepath.Join(dir, "notes.txt"), "old_string": "noon", "new_string": "one"}),
		}}}
		for i := range 20 {
			rounds = append(rounds, llmtest.Round{Calls: []llmtest.Call{
				llmtest.Use("Read", map[string]any{"file_path": filepath.Join(dir, "notes.txt")}),
				llmtest.Use("Write", map[string]any{"file_path": file, "content": fmt.Sprint(i, "\n")}),
				llmtest.Use("Edit", map[string]any{"file_path": file, "old_string": fmt.Sprint(i), "new_string": "done"}),
			}})
		}
		return agent.Config{
			Model: llmtest.Script(append(rounds, llmtest.Round{Text: "Done."})...), Gate: policy, Profiles: agent.Plain("", tools),
		}, err
	})
	r := template.Runtime(scripted, agent.Overrides{})
	query := func() {
		var failed []string
		for ev, err := range r.QueryStream(t.Context(), "go") {
			if err != nil {
				t.Error(err)
			}
			if d, ok := ev.Data.(agent.ToolCallEnd); ok && d.IsError {
				failed = append(failed, d.Tool+": "+d.Output)
			}
		}
		if len(failed) != 1 || !strings.Contains(failed[0], "read") {
			t.Errorf("what failed: %q", failed)
		}
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(query)
	}
	wg.Wait()
	query()
}

// The settings that a session begins with are those of its past, else of the
// runtime, else of the configuration. Nil tools mean none.
func TestSettingsToBeginWith(t *testing.T) {
	t.Parallel()
	by := func(model string) agent.Settings { return agent.Settings{Provider: llmtest.Provider, Model: model} }
	past := agent.Event{Data: agent.SettingsChange{Settings: by("past")}}
	for want, tt := range map[string]struct {
		runtime agent.Settings
		past    []agent.Event
	}{
		"config": {}, "runtime": {runtime: by("runtime")}, "past": {runtime: by("runtime"), past: []agent.Event{past}},
	} {
		model := llmtest.Script(llmtest.Round{Text: "Done."})
		s, err := agent.NewTemplate(func(string) (agent.Config, error) {
			return agent.Config{Model: model, Gate: agent.AllowAll, Profiles: agent.Plain("", nil), Settings: by("config")}, nil
		}).Runtime(tt.runtime, agent.Overrides{}).Session("", tt.past...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Prompt(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		if r := model.Requests()[0]; r.Model != want || len(r.Tools) != 0 {
			t.Errorf("%s: asked %s with %d tools", want, r.Model, len(r.Tools))
		}
	}
}

// LOOP-38: a binding that panics tells the model nothing of what it was to write.
func TestBindingPanics(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("look_at", secret)}}, llmtest.Round{Text: "Done."}))
	r.cfg.Profiles = bindings{r.cfg.Profiles, "m", show(t, []agent.Tool{note{name: "Look", readOnly: true}}, agent.Binding{
		Tool: "Look", ToolSpec: llm.ToolSpec{Name: "look_at"},
		Output: func(r agent.Result, _ func(string) string) string { panic("cannot write " + r.Output) },
	})}
	ends := find[agent.ToolCallEnd](r.run("go"))
	if len(ends) != 1 || strings.Contains(ends[0].ForModel(), secret) || !strings.Contains(ends[0].Output, secret) {
		t.Errorf("%+v", ends)
	}
}

// Err says what became of an input that was not taken to its end, and what to do.
func TestQueryResultErr(t *testing.T) {
	t.Parallel()
	calls := func(n int) (rounds []llmtest.Round) {
		for range n {
			rounds = append(rounds, llmtest.Round{Calls: []llmtest.Call{look}})
		}
		return rounds
	}
	for name, tt := range map[string]struct {
		rounds []llmtest.Round
		limits agent.Limits
		says   string
	}{
		"done":    {rounds: []llmtest.Round{{Text: "Done."}}},
		"refused": {rounds: []llmtest.Round{{Status: 401, Body: `{"error":{"message":"bad key"}}`}}, says: "Check the provider's key"},
		"limit":   {rounds: calls(2), limits: agent.Limits{Rounds: 1}, says: "Limits.Rounds"},
		"budget":  {rounds: []llmtest.Round{worth(9)}, limits: agent.Limits{Budget: 1}, says: "Limits.Budget"},
		"stopped": {rounds: []llmtest.Round{{Text: "It", Hang: true}}, says: "interrupted"},
	} {
		r := newRig(t, llmtest.Script(tt.rounds...))
		r.cfg.Limits, r.cfg.Facts = tt.limits, facts{}
		result := agent.NewQueryResult()
		s := r.open()
		for ev := range s.Run(t.Context(), "go") {
			result.Apply(ev)
			if _, ok := ev.Data.(agent.TextDelta); ok && name == "stopped" {
				s.Interrupt()
			}
		}
		if err := result.Err(); (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if agent.NewQueryResult().Err() == nil {
		t.Error("an input that nothing came of was taken to its end")
	}
}

// What lacks its essential part says so, or has nothing to offer, instead of a panic.
func TestMissingParts(t *testing.T) {
	t.Parallel()
	for _, template := range []*agent.Template{{}, agent.NewTemplate(nil)} {
		if _, err := template.Runtime(agent.Settings{}, agent.Overrides{}).Query(t.Context(), "go"); err == nil || !strings.Contains(err.Error(), "has no function") {
			t.Errorf("a template without a function: %v", err)
		}
	}
	if got := tool.Builtin(nil, tool.Options{}); len(got) != 0 {
		t.Errorf("%d tools without an environment", len(got))
	}
}
