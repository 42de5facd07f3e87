package agent

import (
	"fmt"
	"strconv"

	"atelier.dev/atelier/agent/llm"
)

// maxCalls limits how many calls of one answer run. Useful answers make a few
// dozen at most.
const maxCalls = 128

// admit returns an answer as it enters the conversation, and the number of
// calls it left out. The conversation ends before call number maxCalls+1 and
// before the reasoning that led to it, because a provider may refuse reasoning
// without its call. Every call gets an id that is unique in the session.
func (t *Transcript) admit(m llm.Message) (llm.Message, int) {
	var parts []llm.Part
	calls := 0
	seen := map[string]bool{}
	for _, p := range m.Parts {
		isCall := p.Kind == llm.PartToolCall && p.Call != nil
		if isCall {
			calls++
		}
		if calls > maxCalls {
			continue
		}
		if isCall {
			p.Call = t.identified(p.Call, seen)
		}
		parts = append(parts, p)
	}
	if calls > maxCalls {
		for len(parts) > 0 && parts[len(parts)-1].Kind == llm.PartReasoning {
			parts = parts[:len(parts)-1]
		}
	}
	m.Parts = parts
	return m, max(0, calls-maxCalls)
}

// identified returns the call with an id that no other call of the session has.
func (t *Transcript) identified(call *llm.ToolCall, seen map[string]bool) *llm.ToolCall {
	if call.ID == "" || seen[call.ID] || t.past.calls[call.ID] {
		named := *call
		named.ID = newID()
		call = &named
	}
	seen[call.ID] = true
	return call
}

// leftOut tells the user and the model that calls of an answer were left out.
func (t *turn) leftOut(calls int) {
	if calls == 0 {
		return
	}
	t.emit(Warn(WarnCalls, strconv.Itoa(calls+maxCalls), strconv.Itoa(maxCalls)))
	t.emit(SteeringInjected{ByLoop: true, Text: fmt.Sprintf(
		"Your answer made %d tool calls. Only the first %d were run; the other %d were left out. Make those that you still need again, at most %d in one answer.",
		calls+maxCalls, maxCalls, calls, maxCalls)})
}
