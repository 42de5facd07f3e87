package subagent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/subagent"
)

// named returns a tool that does nothing.
func named(name string) agent.Tool {
	return agent.Function(agent.Spec{Name: name, Description: "Does nothing."}, func(context.Context, struct{}) (string, error) { return "ok", nil })
}

// parentOf is the configuration of a parent with that model.
func parentOf(model agent.Model) agent.Config {
	return agent.Config{Model: model, Gate: agent.AllowAll, Settings: agent.Settings{Provider: llmtest.Provider, Model: "m", Mode: agent.ModeDefault}}
}

// OAS-501, OAS-503, COM-60, COM-62: an agent of the library has its parent's model, gate and mode or
// tighter ones, the tools of its kind without those that start agents, and fifty rounds;
// its report is the result of the call.
func TestCrew(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Agent", map[string]any{"prompt": "Look.", "subagent_type": "Explore", "mode": "bypassPermissions"})}},
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Grep", struct{}{}), llmtest.Use("Write", struct{}{})}},
		llmtest.Round{Text: "I found it."},
		llmtest.Round{Text: "Done."})
	cfg := parentOf(model)
	var asked []string
	cfg.Gate = agent.GateFunc(func(_ context.Context, c agent.GateCall) agent.Verdict {
		asked = append(asked, fmt.Sprint(c.Tool, " ", c.Mode))
		return agent.Verdict{Decision: agent.Allow}
	})
	var denied []string
	crew := &subagent.Crew{
		Parent: cfg, Tools: []agent.Tool{named("Grep"), named("Read"), named("Write")},
		Kinds: []subagent.Kind{{Name: "Explore", Description: "looks around", SystemPrompt: "You only look.", Tools: []string{"Grep", "Read"}}},
		CanUseTool: func(_ context.Context, c agent.GateCall) *agent.CanUseToolResult {
			denied = append(denied, c.Tool)
			return &agent.CanUseToolResult{Decision: agent.Deny, Reason: "Not today."}
		},
	}
	defer crew.Close()
	tools, err := agent.NewRegistry(append(subagent.Tools(crew, crew.Agents()), crew.Tools...)...)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Profiles = agent.Plain("You coordinate.", tools)
	result, err := session(t, cfg).Prompt(t.Context(), "go")
	if err != nil || result.Text != "Done." {
		t.Fatalf("%+v, %v", result, err)
	}
	requests := model.Requests()
	var shown []string
	for _, d := range requests[1].Tools {
		shown = append(shown, d.Name)
	}
	if diff := cmp.Diff([]string{"Grep", "Read"}, shown); diff != "" || requests[1].System != "You only look." || requests[1].Model != "m" {
		t.Errorf("the agent was asked with %q, %q: %s", requests[1].System, requests[1].Model, diff)
	}
	if diff := cmp.Diff([]string{"Agent default", "Grep default"}, asked); diff != "" {
		t.Errorf("the gate: %s", diff)
	}
	if diff := cmp.Diff([]string{"Grep"}, denied); diff != "" {
		t.Errorf("the parent's function: %s", diff)
	}
	last := requests[3].Messages[len(requests[3].Messages)-1]
	if told := fmt.Sprint(last.Parts[0].Result); !strings.Contains(told, "I found it.") {
		t.Errorf("the parent was told %s", told)
	}
}

// held is a model whose answers wait until they are released, or for their context to end.
type held struct {
	begun   chan string
	release chan struct{}
	answer  agent.Model
}

func (h held) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	h.begun <- req.Messages[len(req.Messages)-1].Text()
	select {
	case <-h.release:
	case <-ctx.Done():
	}
	return h.answer.Stream(ctx, req)
}

func holding(rounds int) held {
	all := make([]llmtest.Round, rounds)
	for i := range all {
		all[i] = llmtest.Round{Text: "Yes.", Usage: llm.Usage{Input: 10, Output: 1, Known: true}}
	}
	return held{make(chan string, rounds), make(chan struct{}), llmtest.Script(all...)}
}

// COM-62: four agents work at once. Another one in the background is refused, and one that is
// waited for waits.
func TestFourAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := holding(10)
		crew := &subagent.Crew{Parent: parentOf(model)}
		for i := range subagent.MaxWorking {
			if _, err := crew.Spawn(t.Context(), subagent.Task{Text: fmt.Sprint("task ", i)}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := crew.Spawn(t.Context(), subagent.Task{Text: "too many"}); err == nil {
			t.Error("a fifth works in the background")
		}
		waited := make(chan error, 1)
		go func() {
			_, err := crew.Spawn(t.Context(), subagent.Task{Text: "the fifth", Waits: true})
			waited <- err
		}()
		synctest.Wait()
		if len(model.begun) != subagent.MaxWorking {
			t.Errorf("%d work at once", len(model.begun))
		}
		model.release <- struct{}{}
		synctest.Wait()
		if err := <-waited; err != nil || len(model.begun) != subagent.MaxWorking+1 {
			t.Errorf("%v, %d began", err, len(model.begun))
		}
		crew.Close()
		for _, id := range []string{"agent-1", "agent-5"} {
			if _, err := crew.Wait(t.Context(), id); err != nil {
				t.Error(err)
			}
		}
		if _, err := crew.Spawn(t.Context(), subagent.Task{Text: "late"}); err == nil || len(model.begun) != subagent.MaxWorking+1 {
			t.Errorf("after the end: %v, %d began", err, len(model.begun))
		}
	})
}

// What is sent while an agent works reaches it, also at its last moment, and what is sent
// later makes it go on; a call that is interrupted ends its agent.
func TestCrewGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := holding(10)
		crew := &subagent.Crew{Parent: parentOf(model)}
		started, err := crew.Spawn(t.Context(), subagent.Task{Text: "begin", Name: "Ada"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := crew.Spawn(t.Context(), subagent.Task{Text: "again", Name: "Ada"}); err == nil {
			t.Error("two have one name")
		}
		synctest.Wait()
		if id, err := crew.Send(t.Context(), "Ada", "and this"); err != nil || id != started.ID {
			t.Error(id, err)
		}
		model.release <- struct{}{}
		model.release <- struct{}{}
		if r, err := crew.Wait(t.Context(), "Ada"); err != nil || r.Status != subagent.Completed || r.Output != "Yes." {
			t.Errorf("%+v, %v", r, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan subagent.Report, 1)
		go func() {
			r, err := subagent.Spawn(ctx, crew.Spawner(), subagent.Enhancement{Base: subagent.Base{Prompt: "go on"}, Resume: "Ada"})
			if err != nil {
				t.Error(err)
			}
			ended <- r
		}()
		synctest.Wait()
		cancel()
		if r := <-ended; r.Status != subagent.Failed {
			t.Errorf("%+v", r)
		}
		var said []string
		for range len(model.begun) {
			said = append(said, <-model.begun)
		}
		if diff := cmp.Diff([]string{"begin", "and this", "go on"}, said); diff != "" {
			t.Error(diff)
		}
		if _, err := crew.Send(t.Context(), "Bob", "x"); err == nil {
			t.Error("sent to nobody")
		}
		crew.Close()
	})
}

// The budget that an agent shares with its parent and its siblings ends its turn before a
// request (OAS-503).
func TestCrewShares(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Text: "Yes."})
	cfg := parentOf(model)
	cfg.Settings.Budget = llm.Dollar
	crew := &subagent.Crew{Parent: cfg, Spent: func() llm.Cost { return 2 * llm.Dollar }}
	r, err := crew.Spawner().Spawn(t.Context(), subagent.Base{Prompt: "go"})
	if err != nil || r.Status != subagent.Failed || len(model.Requests()) != 0 {
		t.Errorf("%+v, %v; %d requests", r, err, len(model.Requests()))
	}
	for name, task := range map[string]subagent.Task{
		"a worktree": {Place: subagent.Place{Isolation: subagent.Worktree}}, "a folder": {Place: subagent.Place{WorkingDir: "x"}},
		"a team": {Team: "t"}, "a skill": {Skills: []string{"s"}}, "a kind": {Type: "Nobody"},
	} {
		if _, err := crew.Spawn(t.Context(), task); err == nil {
			t.Errorf("%s is taken and ignored", name)
		}
	}
	crew.Close()
}

// plainSpawner knows the base form alone.
type plainSpawner struct{ got []subagent.Base }

func (p *plainSpawner) Spawn(_ context.Context, in subagent.Base) (subagent.Report, error) {
	p.got = append(p.got, in)
	return subagent.Report{Status: subagent.Completed}, errors.ErrUnsupported
}

// OAS-501: the enhanced form is the base form for a spawner that knows only that.
func TestSpawnerOfTheBaseForm(t *testing.T) {
	t.Parallel()
	base := subagent.Base{Prompt: "go", Model: "m", SystemPrompt: "s", AllowedTools: []string{"Read"}, MaxTurns: 3}
	p := &plainSpawner{}
	r, err := subagent.Spawn(t.Context(), p, subagent.Enhancement{Base: base, Name: "Ada", Background: true})
	if !errors.Is(err, errors.ErrUnsupported) || r.Status != subagent.Completed || cmp.Diff([]subagent.Base{base}, p.got) != "" {
		t.Errorf("%+v, %v, %+v", r, err, p.got)
	}
}
