package output

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// The cost of a run includes answers that broke off, summaries, and what its agents
// asked models. Its text is the run's own.
func TestTheResultCountsEveryRequest(t *testing.T) {
	t.Parallel()
	cent := llm.Dollar / 100
	used := llm.Usage{Input: 1000, Known: true}
	said := agent.TextEnd{Provider: "openai", Model: "big", Usage: used, Cost: &cent, Message: llm.Text(llm.RoleAssistant, "Done.")}
	helper := said
	helper.Message = llm.Text(llm.RoleAssistant, "Found it.")
	var out bytes.Buffer
	r := jsonReport{out: &out}
	for _, ev := range []struct {
		data agent.Payload
		own  bool
	}{
		{agent.Retrying{Provider: "openai", Model: "big", Sent: true, Usage: used, Cost: &cent}, true},
		{agent.Retrying{Provider: "openai", Model: "big"}, true}, // nothing was sent, so nothing is charged
		{agent.SideRequest{Purpose: agent.PurposeSummary, Provider: "openai", Model: "small", Usage: used, Cost: &cent}, true},
		{said, true},
		{helper, false},
		{agent.Retrying{Provider: "openai", Model: "small", Sent: true}, false},
	} {
		r.Event(agent.Event{Session: "a", Data: ev.data}, ev.own)
	}
	r.Finish(End{ProcessingEnd: agent.ProcessingEnd{Reason: agent.EndDone}})
	type cost struct {
		Model    string  `json:"model"`
		Requests int     `json:"requests"`
		Cost     float64 `json:"cost_usd"`
		Unknown  bool    `json:"cost_unknown"`
	}
	var got struct {
		Text    string  `json:"text"`
		Cost    float64 `json:"total_cost_usd"`
		Unknown bool    `json:"cost_unknown"`
		ByModel []cost  `json:"cost_by_model"`
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Text != "Done." || got.Cost != 0.04 || !got.Unknown {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff([]cost{{"openai/big", 3, 0.03, false}, {"openai/small", 2, 0.01, true}}, got.ByModel); diff != "" {
		t.Errorf("by model (-want +got):\n%s", diff)
	}
}
