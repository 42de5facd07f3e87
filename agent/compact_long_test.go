package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/compaction"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// COM-08, COM-12, COM-27, K-08: a session of 400 turns goes through a window of 20,000 tokens, a
// hundred turns in each format of requests. After each turn the newest request fits, has the goal
// and what was pinned, and answers every call, or its server would have refused it.
func TestFourHundredTurns(t *testing.T) {
	t.Parallel()
	const each, window, goal, secret = 100, 20_000, "The login ships on Friday.", "The secret is 4711."
	all := endpoints(t)
	names := []string{"responses", "messages", "generate", "mistral"}
	servers := map[string]*llmtest.Server{}
	client := llm.NewClient()
	for n, name := range names {
		var rounds []llmtest.Round
		for i := range each {
			turn := n*each + i + 1
			rounds = append(rounds,
				llmtest.Round{Calls: []llmtest.Call{use("Look", fmt.Sprintf("place %d", turn))}},
				llmtest.Round{Text: fmt.Sprintf("Turn %d is done. ", turn) + long(100)})
		}
		server := llmtest.Serve(t, rounds...)
		server.Strict(all[name].rules)
		for range each {
			server.Script("small", llmtest.Round{Text: "## Goal\n" + goal + "\n## Decisions\nThe tests stay."})
		}
		adapter := all[name].adapter(server)
		client.Set(adapter)
		servers[adapter.Name()] = server
		names[n] = adapter.Name()
	}
	r := newRig(t, client)
	looks := 0
	r.use(note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
		if looks++; looks == 3 {
			return agent.Result{Output: secret + " " + long(300)}
		}
		return agent.Result{Output: fmt.Sprintf("look %d ", looks) + long(600), IsError: looks%9 == 0}
	}})
	r.cfg.Limits = agent.Limits{Rounds: 10}
	r.cfg.Facts = facts{limits: llm.ModelLimits{Window: window}}
	r.cfg.Compactor = &compaction.Service{Model: client, By: func(_ context.Context, s agent.Settings) llm.Origin {
		return llm.Origin{Provider: s.Provider, Model: "small"}
	}}
	for n, name := range names {
		r.open()
		r.session.Configure(agent.Settings{Provider: name, Model: llmtest.ModelID, Mode: agent.ModeDefault})
		server, compactions, summaries := servers[name], 0, 0
		for turn := n*each + 1; turn <= (n+1)*each; turn++ {
			input := goal
			if turn > 1 {
				input = fmt.Sprintf("Step %d. ", turn) + long(20)
			}
			events := r.run(input)
			if end(t, events) != agent.EndDone {
				t.Fatalf("%s, turn %d: %+v", name, turn, find[agent.Failure](events))
			}
			for _, c := range find[agent.CompactionEnd](events) {
				if compactions++; c.Summary != "" {
					summaries++
				}
				if c.Outcome != agent.OutcomeDone || c.After >= c.Before {
					t.Fatalf("%s, turn %d: %+v", name, turn, c)
				}
			}
			requests := server.Requests()
			body := string(requests[len(requests)-1].Body)
			if len(body) > 4*window || !strings.Contains(body, goal) || turn > 3 && !strings.Contains(body, secret) {
				t.Fatalf("%s, turn %d: %d bytes; the goal is in it: %t, the secret: %t",
					name, turn, len(body), strings.Contains(body, goal), strings.Contains(body, secret))
			}
			if turn == 3 {
				r.store(r.session.Record(agent.ContextMarked{Mark: contextir.MarkPin, Items: []string{"tool_result:3:1"}}))
			}
		}
		if got := len(server.Requests()); got != 2*each+summaries || compactions < 5 || summaries == 0 {
			t.Errorf("%s: %d requests, %d compactions, %d summaries", name, got, compactions, summaries)
		}
	}
}
