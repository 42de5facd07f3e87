package trace_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/trace"
)

func at(ms int64, d agent.Payload) agent.Event { return agent.Event{At: ms, Data: d} }

// COM-91: a turn, its requests, a call with its hook and the wait for a person, a server's tool
// and a retry are spans with their times and parents; what has no end is open.
func TestSpans(t *testing.T) {
	t.Parallel()
	usage := llm.Usage{Input: 5, Known: true}
	got := trace.Of([]agent.Event{
		at(100, agent.UserInput{}),
		at(150, agent.Retrying{Provider: "p", Model: "m", DelayMs: 50}),
		at(400, agent.TextEnd{Provider: "p", Model: "m", Usage: usage, Finish: llm.Finish{Reason: llm.FinishToolCalls}}),
		at(410, agent.ToolCallStart{CallID: "a", Tool: "Bash"}),
		at(430, agent.HookEnd{Name: "guard", CallID: "a", DurationMs: 15}),
		at(440, agent.ApprovalRequest{ID: "q", CallID: "a", Tool: "Bash"}),
		at(900, agent.ApprovalAnswer{ID: "q", CallID: "a"}),
		at(1000, agent.ToolCallEnd{CallID: "a", Tool: "Bash", IsError: true}),
		at(1001, agent.ToolCallStart{CallID: "b", Tool: "mcp__x__y"}),
		at(1100, agent.ToolCallEnd{CallID: "b", Tool: "mcp__x__y", Details: &agent.Details{Server: &agent.ServerResult{Server: "x"}}}),
		at(1300, agent.TextEnd{Provider: "p", Model: "m", Finish: llm.Finish{Reason: llm.FinishStop}}),
		at(1301, agent.ProcessingEnd{Reason: agent.EndDone}),
		at(2000, agent.UserInput{}),
		at(2100, agent.ToolCallStart{CallID: "c", Tool: "Read"}),
	})
	want := []trace.TimeSpan{
		{ID: 1, Kind: trace.KindTurn, Start: 100, End: 1301},
		{ID: 2, Parent: 1, Kind: trace.KindRequest, Name: "m", Provider: "p", Start: 100, End: 150, Failed: true},
		{ID: 3, Parent: 1, Kind: trace.KindRequest, Name: "m", Provider: "p", Start: 200, End: 400, Usage: &usage},
		{ID: 4, Parent: 1, Kind: trace.KindTool, Name: "Bash", CallID: "a", Start: 410, End: 1000, Failed: true},
		{ID: 5, Parent: 4, Kind: trace.KindHook, Name: "guard", CallID: "a", Start: 415, End: 430},
		{ID: 6, Parent: 4, Kind: trace.KindWait, Name: "Bash", CallID: "a", Start: 440, End: 900},
		{ID: 7, Parent: 1, Kind: trace.KindServer, Name: "mcp__x__y", CallID: "b", Start: 1001, End: 1100},
		{ID: 8, Parent: 1, Kind: trace.KindRequest, Name: "m", Provider: "p", Start: 1100, End: 1300, Usage: &llm.Usage{}},
		{ID: 9, Kind: trace.KindTurn, Start: 2000},
		{ID: 10, Parent: 9, Kind: trace.KindTool, Name: "Read", CallID: "c", Start: 2100},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A turn that broke off ends with the next one, with what was open in it; a part of a log that
// begins within a turn has its calls.
func TestBrokenOff(t *testing.T) {
	t.Parallel()
	var done []trace.TimeSpan
	b := trace.Builder{Done: func(s trace.TimeSpan) { done = append(done, s) }}
	b.Add(at(50, agent.ToolCallEnd{CallID: "z", Tool: "Grep", DurationMs: 20}))
	b.Add(at(100, agent.UserInput{}))
	b.Add(at(110, agent.ToolCallStart{CallID: "a", Tool: "Bash"}))
	b.Add(at(500, agent.UserInput{}))
	want := []trace.TimeSpan{
		{ID: 1, Kind: trace.KindTool, Name: "Grep", CallID: "z", Start: 30, End: 50},
		{ID: 3, Parent: 2, Kind: trace.KindTool, Name: "Bash", CallID: "a", Start: 110, End: 500, Failed: true},
		{ID: 2, Kind: trace.KindTurn, Start: 100, End: 500, Failed: true},
	}
	if diff := cmp.Diff(want, done); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
