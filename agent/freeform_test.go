package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

// scribe is a freeform tool that gives back what it was run with.
type scribe struct{ note }

func (s scribe) Spec() agent.Spec {
	return agent.Spec{
		Name: s.name, Description: "Writes it down.", Freeform: &llm.Freeform{Grammar: "start: /.+/"},
		Schema: json.RawMessage(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`),
	}
}

func (s scribe) Run(_ context.Context, call agent.Invocation) agent.Result {
	return agent.Result{Output: string(call.Input)}
}

// LOOP-175: a call in plain text is checked, asked about and run as its JSON
// form, and stays in the conversation as the model wrote it.
func TestAFreeformCallIsRunAsJSON(t *testing.T) {
	t.Parallel()
	const text = "+a \"b\" <c>\n"
	model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{llmtest.Custom("Scribe", text), llmtest.Custom("Note", "no object"), {Name: "Scribe", Arguments: `"+a \"b\" <c>\n"`}}}, llmtest.Round{Text: "Done."})
	r := newRig(t, model, scribe{note{name: "Scribe"}}, note{name: "Note"})
	events := r.run("go")
	const input = `{"input":"+a \"b\" <c>\n"}`
	if got := find[agent.ToolCallStart](events)[0].Input; got != input {
		t.Errorf("started with %s", got)
	}
	if got := find[agent.ApprovalRequest](events)[0].Input; got != input {
		t.Errorf("asked about %s", got)
	}
	ends := find[agent.ToolCallEnd](events)
	if ends[0].Output != input || !ends[1].IsError || ends[2].Output != input { // the last had its text as a JSON string
		t.Errorf("ended with %+v", ends)
	}
	if spec := model.Requests()[0].Tools[0]; spec.Freeform == nil || spec.Freeform.Grammar == "" {
		t.Errorf("the model was shown %+v", spec)
	}
	call := model.Requests()[1].Messages[1].Calls()[0]
	if diff := cmp.Diff(llm.ToolCall{ID: call.ID, WireID: call.WireID, Name: "Scribe", Arguments: json.RawMessage(text), Custom: true}, call); diff != "" {
		t.Error(diff)
	}
}

// Draft implements [agent.Drafter]: it counts lines.
func (s scribe) Draft(freeform bool) func(string) agent.DraftedChanges {
	lines := 0
	return func(piece string) agent.DraftedChanges {
		lines += strings.Count(piece, "\n")
		return agent.DraftedChanges{Changes: []agent.FileChange{{Path: fmt.Sprint(freeform), Added: lines}}}
	}
}

// The effect of a call is shown while the model writes it, each piece at once.
func TestACallIsOutlinedWhileItIsWritten(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{llmtest.Custom("Scribe", "+a\n+b\n"), llmtest.Use("Note", map[string]any{"text": "x"})}}, llmtest.Round{})
	r := newRig(t, model, scribe{note{name: "Scribe"}}, note{name: "Note"})
	var got []string
	for _, d := range find[agent.CallDraft](r.run("go")) {
		got = append(got, fmt.Sprint(d.Tool, d.Bytes, d.Outline.Changes))
	}
	want := []string{
		"Scribe0 []", "Scribe3 [{true  false false 1 0 }]", "Scribe6 [{true  false false 2 0 }]",
		"Note0 []", "Note6 []", "Note12 []",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
