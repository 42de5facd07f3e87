package agent

import (
	"fmt"

	"atelier.dev/atelier/agent/llm"
)

// defaultLoopWindow is how many calls are checked for a repetition (LOOP-04).
const defaultLoopWindow = 10

// watch warns the model when it repeats the same calls with the same results.
func (t *turn) watch(calls []llm.ToolCall) {
	window := t.session.cfg.Limits.LoopWindow
	if window <= 0 {
		return
	}
	cycle := t.repetition.Add(calls, window)
	if cycle == 0 {
		return
	}
	t.emit(LoopDetection{Cycle: cycle, Calls: window})
	t.emit(SteeringInjected{ByLoop: true, Text: fmt.Sprintf(
		"Your last %d tool calls repeat the same %d, and so do their results. Try something else, or say what keeps you from going on.", window, cycle)})
}
