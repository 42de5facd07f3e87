package workbench_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// LOOP-53, LOOP-156: a session retries as often as its host says.
func TestRetriesAreTheHosts(t *testing.T) {
	t.Parallel()
	for retries, want := range map[int]agent.EndReason{0: agent.EndFailed, 2: agent.EndFailed, 3: agent.EndDone} {
		t.Run(fmt.Sprint(retries), func(t *testing.T) {
			t.Parallel()
			busy := llmtest.Round{Status: 503}
			server := llmtest.Serve(t, busy, busy, busy, llmtest.Round{Text: "At last."})
			p := openPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"), func(s *storage.Store) backend.Store { return s }, func(c *workbench.Config) {
				c.Retry = llm.RetryPolicy{Retries: retries, Base: time.Millisecond, Max: time.Millisecond}
			})
			id := p.session("compat")
			p.send(id, "go")
			if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != want {
				t.Errorf("ended as %s, want %s", end.Reason, want)
			}
			again := log[agent.Retrying](p, id)
			if len(again) != retries || len(server.Requests()) != 1+retries {
				t.Errorf("%d requests, %d of them again: %+v", len(server.Requests()), len(again), again)
			}
			for _, r := range again {
				if r.Of != retries {
					t.Errorf("%+v, want one of %d", r, retries)
				}
			}
		})
	}
}

// LOOP-45: a model is told its knowledge cutoff from the catalogue.
func TestModelsAreToldTheirKnowledgeCutoff(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.provider, func(t *testing.T) {
			t.Parallel()
			known, ok := catalogue.New().Lookup(d.provider, d.model)
			if !ok || known.KnowledgeCutoff == "" {
				t.Skip("the catalogue has no date")
			}
			c := newCell(t, d)
			c.turn("Hello")
			if want := `Knowledge cutoff: ` + known.KnowledgeCutoff; !strings.Contains(c.last(), want) {
				t.Errorf("%q is not in the request", want)
			}
		})
	}
}

// LOOP-48, LOOP-49: an agent has the number of rounds that it was given.
func TestAgentsHaveTheirOwnTurnLimit(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	for range 5 {
		server.Script("helper", llmtest.Round{Calls: []llmtest.Call{llmtest.Use("ListDir", map[string]any{"path": "."})}})
	}
	server.Script("helper", llmtest.Round{Text: "Looked."})
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look around.", map[string]any{"max_turns": 2})}})
	id := p.session("openai")
	p.send(id, "go")
	child, _ := agentOf(p, "Agent")
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Wait", map[string]any{"agent_id": child})}}, llmtest.Round{Text: "Stopped."})
	await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "Stopped." })
	limits := log[agent.TurnLimit](p, child)
	if len(limits) != 1 || limits[0].Limit != "rounds" || limits[0].Count != 2 {
		t.Errorf("the agent was stopped by %+v", limits)
	}
	if n := len(asked(server, "helper")); n != 2 {
		t.Errorf("the agent's model was asked %d times", n)
	}
	own := asked(server, model)
	if last := own[len(own)-1]; !strings.Contains(last, `\"turns_used\":2`) || !strings.Contains(last, `\"success\":false`) {
		t.Errorf("the parent reads %s", last)
	}
}
