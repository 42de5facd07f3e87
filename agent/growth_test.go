package agent_test

import (
	"fmt"
	"runtime"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// A round in a long conversation takes no more work of the loop than one at its
// beginning, counted in what it allocates. Not parallel: the count is the
// program's.
func TestRoundsDoNotGrow(t *testing.T) {
	const rounds, some = 500, 50
	var script []llmtest.Round
	for i := range rounds {
		script = append(script, llmtest.Round{Calls: []llmtest.Call{use("Look", fmt.Sprint(i))}})
	}
	r := newRig(t, llmtest.Script(append(script, llmtest.Round{Text: "Done."})...))
	r.cfg.Limits = agent.Limits{Turns: 2 * rounds}
	r.open()
	var counts []uint64 // after each round
	for ev, err := range r.session.Run(t.Context(), "go") {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind() == agent.KindToolCallEnd {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			counts = append(counts, m.Mallocs)
		}
	}
	if len(counts) != rounds {
		t.Fatalf("%d rounds", len(counts))
	}
	first, last := counts[2*some]-counts[some], counts[rounds-1]-counts[rounds-1-some]
	if last > first+first/4 {
		t.Errorf("%d rounds took %d allocations at first and %d in the end", some, first, last)
	}
}
