package agent_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// steps are what a session did, in order.
type steps struct {
	mu  sync.Mutex
	all []string
}

// add notes a step; the same one again and again is one.
func (s *steps) add(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.all); n == 0 || s.all[n-1] != step {
		s.all = append(s.all, step)
	}
}

// flowHost notes when a session turns to its host: for what a model is shown, its price, the
// answer, and the room in the window.
type flowHost struct {
	agent.Profiles
	facts
	agent.Model
	*compactor
	rules contextir.Rules
	steps *steps
}

func (s flowHost) Profile(provider, model string) agent.Profile {
	s.steps.add("resolve model and tools")
	return s.Profiles.Profile(provider, model)
}

func (s flowHost) Brief(ctx context.Context, about agent.BriefingInput) agent.Briefing {
	s.steps.add("resolve memory")
	b := s.Profiles.Brief(ctx, about)
	b.System += "\n\nThe team writes short tests."
	return b
}

func (s flowHost) Price(provider, model string, u llm.Usage, at time.Time) *llm.Cost {
	s.steps.add("cost")
	return s.facts.Price(provider, model, u, at)
}

func (s flowHost) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	s.steps.add(fmt.Sprintf("lower to %d messages and ask", len(r.Messages)))
	return s.Model.Stream(ctx, r)
}

func (s flowHost) Threshold(window int64) int64 {
	s.steps.add("check usage")
	return s.compactor.Threshold(window)
}

func (s flowHost) Rules() contextir.Rules {
	s.steps.add("check budget")
	return s.rules
}

func (s flowHost) Summarise(ctx context.Context, r agent.SummaryRequest) (agent.Summary, error) {
	s.steps.add("summarise")
	return s.compactor.Summarise(ctx, r)
}

// stepOf names what an event tells of; empty for other events.
func stepOf(p agent.Payload) string {
	switch d := p.(type) {
	case agent.Retrying:
		return fmt.Sprintf("retry %d of %d", d.Attempt, d.Of)
	case agent.TextDelta:
		return "text"
	case agent.TextEnd:
		return fmt.Sprintf("count %d tokens", d.Usage.Total())
	case agent.ToolCallEnd:
		return "tool"
	case agent.CompactionStart:
		return "compact: " + string(d.Trigger)
	case agent.CompactionPhase:
		return string(d.Phase)
	case agent.CompactionEnd:
		return "compacted: " + string(d.Outcome)
	case agent.ProcessingEnd:
		return "stop: " + string(d.Reason)
	}
	return ""
}

// COM-27: an agent resolves its model, tools and memory, lowers the conversation, asks with
// retries, counts and prices the answer, shows text, runs tools, checks usage, budget and what
// can be left out, and goes on or stops; the same in all four formats of requests.
func TestFlow(t *testing.T) {
	t.Parallel()
	want := []string{
		"resolve memory", "resolve model and tools", "check usage", "check budget",
		"lower to 1 messages and ask", "retry 1 of 1", "lower to 1 messages and ask", "text", "cost", "count 110 tokens", "tool",
		"check usage", "check budget", "lower to 3 messages and ask", "count 310 tokens", "tool",
		"compact: limit", "selective_start", "selective_done", "compacted: done",
		"lower to 5 messages and ask", "count 9010 tokens", "tool",
		"compact: auto", "summary_start", "summarise", "cost", "summary_done", "compacted: done",
		"text", "count 210 tokens", "stop: done",
	}
	for name, e := range endpoints(t) {
		if name == "ollama" || name == "llama.cpp" || name == "claude in chat" {
			continue // the format of mistral
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := func(n int) llmtest.Call { return use("Look", fmt.Sprintf("place %d", n)) }
			server := llmtest.Serve(t,
				llmtest.Round{Status: 503, Body: `{"error":{"message":"busy"}}`},
				llmtest.Round{Text: "I look. " + long(1000), Calls: []llmtest.Call{look(1), look(2)}, Usage: llm.Usage{Input: 100, Output: 10, Known: true}},
				llmtest.Round{Text: "I look again. " + long(1000), Calls: []llmtest.Call{look(3)}, Usage: llm.Usage{Input: 300, Output: 10, Known: true}},
				llmtest.Round{Calls: []llmtest.Call{look(4)}, Usage: llm.Usage{Input: 9000, Output: 10, Known: true}},
				llmtest.Round{Text: "Done.", Usage: llm.Usage{Input: 200, Output: 10, Known: true}})
			server.Strict(e.rules)
			adapter := e.adapter(server)
			r := newRig(t, llm.NewClient(adapter), note{name: "Look", readOnly: true, run: func(_ context.Context, call agent.Invocation) agent.Result {
				return agent.Result{Output: textOf(call.Input) + " " + long(900)}
			}})
			did := &steps{}
			host := flowHost{
				Profiles: r.cfg.Profiles, Model: r.cfg.Model, facts: facts{limits: llm.ModelLimits{Window: 10_000}}, steps: did,
				compactor: &compactor{threshold: 8000}, rules: contextir.Rules{contextir.ToolResult: {Strategy: contextir.StrategyTruncate, Keep: 1, Limit: 1500}},
			}
			r.cfg.Profiles, r.cfg.Model, r.cfg.Facts, r.cfg.Compactor = host, host, host, host
			r.cfg.Retry = llm.RetryPolicy{Retries: 1, Base: time.Millisecond, Max: time.Millisecond}
			r.open()
			r.session.Configure(agent.Settings{Provider: adapter.Name(), Model: llmtest.ModelID, Mode: agent.ModeDefault})
			for ev, err := range r.session.Run(t.Context(), "look around") {
				if err != nil {
					t.Fatal(err)
				}
				if step := stepOf(r.store(ev).Data); step != "" {
					did.add(step)
				}
			}
			if missing := after(did.all, want); missing != "" {
				t.Errorf("%q did not follow: %s", missing, strings.Join(did.all, "\n"))
			}
			requests := server.Requests()
			if last := string(requests[len(requests)-1].Body); !strings.Contains(last, "In short.") || !strings.Contains(last, "short tests") {
				t.Errorf("the last request has %d bytes", len(last))
			}
		})
	}
}

// after returns the first of some steps that does not come after those before it; empty if
// all do.
func after(all, want []string) string {
	for _, step := range all {
		if len(want) > 0 && step == want[0] {
			want = want[1:]
		}
	}
	if len(want) > 0 {
		return want[0]
	}
	return ""
}
