package subagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/agent/subagent"
)

// host records requests, from any goroutine.
type host struct {
	asked []string
	tasks []subagent.Task
}

func (h *host) Spawn(_ context.Context, t subagent.Task) (subagent.Started, error) {
	h.asked = append(h.asked, "spawn "+t.Text)
	h.tasks = append(h.tasks, t)
	return subagent.Started{ID: "a1", Background: t.Type == "sleeper"}, nil
}

func (h *host) Send(_ context.Context, id, message string) (string, error) {
	h.asked = append(h.asked, "send "+message)
	if id != "a1" && id != "looker" {
		return "", errors.New("there is no agent of that name")
	}
	return "a1", nil
}

func (h *host) Wait(context.Context, string) (subagent.Report, error) {
	h.asked = append(h.asked, "wait")
	return subagent.Report{Status: subagent.Completed, Turns: 2}, nil
}

func (h *host) End(context.Context, string) (subagent.Report, error) {
	h.asked = append(h.asked, "end")
	return subagent.Report{Status: subagent.Failed, Output: "half of it"}, nil
}

// LOOP-48, LOOP-150, K-05: the calls of one answer run in their order, changing
// ones included, without an approval; the model gets their results.
func TestOrder(t *testing.T) {
	t.Parallel()
	h := &host{}
	write := agent.Function(agent.Spec{Name: "Write", Description: "Writes."}, func(context.Context, struct{}) (string, error) {
		h.asked = append(h.asked, "write")
		return "", nil
	})
	tools, err := agent.NewRegistry(append(subagent.Tools(h, ""), write)...)
	if err != nil {
		t.Fatal(err)
	}
	gate, err := permission.New(t.TempDir(), permission.Rules{Allow: []string{"Write"}})
	if err != nil {
		t.Fatal(err)
	}
	a1 := map[string]string{"agent_id": "a1"}
	model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{
		llmtest.Use("Write", struct{}{}),
		llmtest.Use("Agent", map[string]any{"prompt": "look", "run_in_background": true}),
		llmtest.Use("SendInput", map[string]string{"agent_id": "a1", "message": "closer"}),
		llmtest.Use("Wait", a1),
		llmtest.Use("SendInput", map[string]string{"agent_id": "nobody", "message": "hello"}),
		llmtest.Use("SendInput", map[string]string{"agent_id": "a1", "message": " "}),
		llmtest.Use("CloseAgent", a1),
	}}, llmtest.Round{Text: "Done."})
	var told []string
	for ev, err := range session(t, agent.Config{Model: model, Gate: gate, Profiles: agent.Plain("", tools)}).Run(t.Context(), "go") {
		if err != nil {
			t.Fatal(err)
		}
		if end, ok := ev.Data.(agent.ToolCallEnd); ok && end.Tool != "Write" {
			told = append(told, end.Output)
		}
	}
	if diff := cmp.Diff([]string{"write", "spawn look", "send closer", "wait", "send hello", "end"}, h.asked); diff != "" {
		t.Error(diff)
	}
	want := []string{
		`{"agent_id":"a1","status":"running"}`, `{"agent_id":"a1","sent":true}`,
		`{"agent_id":"a1","output":"(The agent ended without a word.)","status":"completed","success":true,"turns_used":2}`,
		"There is no agent of that name.", "The message is empty.",
		`{"agent_id":"a1","output":"half of it","status":"failed","success":false,"turns_used":0}`,
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// meeting is a host whose agents end once two of them are awaited.
type meeting struct {
	host
	all sync.WaitGroup
}

func (m *meeting) Wait(context.Context, string) (subagent.Report, error) {
	m.all.Done()
	m.all.Wait()
	return subagent.Report{Status: subagent.Completed}, nil
}

// LOOP-48, K-40: several agents are awaited in parallel.
func TestWaitsRunTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // which fails at once if the second is never awaited
		h := &meeting{}
		h.all.Add(2)
		tools, err := agent.NewRegistry(subagent.Tools(h, "")...)
		if err != nil {
			t.Fatal(err)
		}
		gate, err := permission.New(t.TempDir(), permission.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{
			llmtest.Use("Wait", map[string]string{"agent_id": "a1"}), llmtest.Use("Wait", map[string]string{"agent_id": "a2"}),
		}}, llmtest.Round{Text: "Done."})
		result, err := session(t, agent.Config{Model: model, Gate: gate, Profiles: agent.Plain("", tools)}).Prompt(t.Context(), "go")
		if err != nil || result.Text != "Done." {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

// session returns a session that never asks for approval.
func session(t *testing.T, cfg agent.Config) *agent.Session {
	t.Helper()
	s, err := agent.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.Configure(agent.Settings{Provider: llmtest.Provider, Model: "m", Mode: agent.ModeDefault})
	return s
}

// LOOP-48: the schemas have the specification's members.
func TestSchemas(t *testing.T) {
	t.Parallel()
	got := map[string][]string{}
	for _, tool := range subagent.Tools(&host{}, "") {
		var schema struct{ Required []string }
		if err := json.Unmarshal(tool.Spec().Schema, &schema); err != nil {
			t.Fatal(err)
		}
		got[tool.Spec().Name] = schema.Required
	}
	want := map[string][]string{"Agent": {"prompt"}, "SendInput": {"agent_id", "message"}, "Wait": {"agent_id"}, "CloseAgent": {"agent_id"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// OAS-311, OAS-504, K-05: a call waits for the agent's report, unless it or the agent's definition
// says otherwise; an agent goes on with another task.
func TestAgent(t *testing.T) {
	t.Parallel()
	const started, report = `{"agent_id":"a1","status":"running"}`, `{"agent_id":"a1","output":"(The agent ended without a word.)","status":"completed","success":true,"turns_used":2}`
	for _, c := range []struct {
		in, want string
		asked    []string
	}{
		{`{"prompt":"look"}`, report, []string{"spawn look", "wait"}},
		{`{"prompt":"look","run_in_background":true}`, started, []string{"spawn look"}},
		{`{"prompt":"look","subagent_type":"sleeper"}`, started, []string{"spawn look"}},
		{`{"prompt":"look","subagent_type":"sleeper","run_in_background":false}`, report, []string{"spawn look", "wait"}},
		{`{"prompt":"more","resume":"looker"}`, report, []string{"send more", "wait"}},
		{`{"prompt":"more","resume":"nobody"}`, "There is no agent of that name.", []string{"send more"}},
	} {
		h := &host{}
		got := subagent.Tools(h, "")[0].Run(t.Context(), agent.Invocation{Input: json.RawMessage(c.in)})
		if got.Output != c.want {
			t.Errorf("%s: %s", c.in, got.Output)
		}
		if diff := cmp.Diff(c.asked, h.asked); diff != "" {
			t.Errorf("%s: %s", c.in, diff)
		}
	}
	h := &host{}
	all := `{"prompt":"p","description":"d","subagent_type":"t","model":"m","name":"n","max_turns":3,"run_in_background":false,"isolation":"worktree","working_dir":"w","mode":"plan","skills":["s"],"mcp_servers":["x"],"resume":"","team_name":"red"}`
	subagent.Tools(h, "")[0].Run(t.Context(), agent.Invocation{Input: json.RawMessage(all)})
	want := subagent.Task{Text: "p", Label: "d", Type: "t", Name: "n", Place: subagent.Place{WorkingDir: "w", Isolation: "worktree"}, Model: "m", MaxTurns: 3, Mode: "plan", Skills: []string{"s"}, Servers: []string{"x"}, Team: "red", Waits: true}
	if diff := cmp.Diff([]subagent.Task{want}, h.tasks); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`{"prompt":" "}`, `{"prompt":"x","mode":"yolo"}`, `{"prompt":"x","max_turns":-1}`, `{"prompt":"x","team_name":"red"}`} {
		if err := subagent.Tools(h, "")[0].(agent.Validator).Validate(json.RawMessage(bad)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// An interrupted call ends its agent.
func TestAgentIsEndedWithItsCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := &absent{}
	got := subagent.Tools(h, "")[0].Run(ctx, agent.Invocation{Input: json.RawMessage(`{"prompt":"look"}`)})
	if !got.IsError || h.asked[len(h.asked)-1] != "end" {
		t.Errorf("%+v after %v", got, h.asked)
	}
}

// absent is a host whose agents are never done.
type absent struct{ host }

func (h *absent) Wait(ctx context.Context, _ string) (subagent.Report, error) {
	<-ctx.Done()
	return subagent.Report{}, ctx.Err()
}
