package undoing

import (
	"testing"

	"atelier.dev/atelier/agent"
)

// What an agent did stays in the turn in which it was started although the computer's clock was
// set back meanwhile, and what it did in a later turn is in that one.
func TestTurnsWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	called := agent.ToolCallEnd{CallID: "1", Tool: "Agent", Details: &agent.Details{Agent: &agent.AgentRef{Session: "a"}}}
	past := &undoable{agents: map[string]clock{}}
	var now clock
	for _, ev := range []agent.Event{
		{Turn: 1, At: 1000, Data: agent.UserInput{Text: "one"}},
		{Turn: 1, At: 1010, Data: called},
		{Turn: 1, At: 510, Data: called}, // set back by more than half a second
		{Turn: 2, At: 600, Data: agent.UserInput{Text: "two"}},
	} {
		ev.At = now.read(ev.At)
		past.begun(ev, now)
		if in, ok := ev.Data.(agent.UserInput); ok {
			past.turns = append(past.turns, turnStart{ev.Turn, ev.Seq, ev.At, in.Text})
		}
	}
	now = past.agents["a"]
	for _, step := range []struct {
		at   int64
		want int
	}{{1011, 1}, {512, 1}, {560, 1}, {650, 2}, {700, 2}} {
		if got := past.turnAt(now.read(step.at)); got != step.want {
			t.Errorf("a step at %d is in turn %d, want %d", step.at, got, step.want)
		}
	}
}
