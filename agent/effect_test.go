package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

func TestOutlookOf(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 100)
	for name, tt := range map[string]struct {
		effects []agent.Effect
		want    agent.Forecast
	}{
		"nothing": {nil, agent.Forecast{Effects: []agent.Effect{{ID: agent.EffectUnknown}}, Risk: agent.RiskElevated}},
		"gravest first, the same once": {
			[]agent.Effect{
				{ID: agent.EffectChanges, Args: []string{"a", "b"}}, {ID: agent.EffectOtherUser}, {ID: agent.EffectChanges, Args: []string{"b", "c", "d", ""}, More: 2},
			},
			agent.Forecast{Risk: agent.RiskDangerous, Effects: []agent.Effect{
				{ID: agent.EffectOtherUser}, {ID: agent.EffectChanges, Args: []string{"a", "b", "c"}, More: 3},
			}},
		},
		"a long argument": {
			[]agent.Effect{{ID: agent.EffectReads, Args: []string{long}}},
			agent.Forecast{Risk: agent.RiskLow, Effects: []agent.Effect{{ID: agent.EffectReads, Args: []string{strings.Repeat("ä", 79) + "…"}}}},
		},
		"a host's own": {
			[]agent.Effect{{ID: agent.EffectReads}, {ID: "ours"}},
			agent.Forecast{Risk: agent.RiskDangerous, Effects: []agent.Effect{{ID: "ours"}, {ID: agent.EffectReads}}},
		},
	} {
		if diff := cmp.Diff(tt.want, agent.OutlookOf(tt.effects...)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestEffectInWords(t *testing.T) {
	t.Parallel()
	for want, effect := range map[string]agent.Effect{
		"Only reads":          {ID: agent.EffectReads},
		"Deletes files: a, b": {ID: agent.EffectDeletes, Args: []string{"a", "b"}},
		"Sends data to the network: a and 2 more": {ID: agent.EffectSends, Args: []string{"a"}, More: 2},
		"ours: x": {ID: "ours", Args: []string{"x"}},
	} {
		if got := effect.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// seer is a gate that asks and tells what a call would do.
type seer struct {
	*strict
	foretell func(agent.GateCall) agent.Forecast
}

func (s seer) Foretell(_ context.Context, c agent.GateCall) agent.Forecast { return s.foretell(c) }

// shellNote is a note that runs what it is told as a command line.
type shellNote struct{ note }

func (shellNote) Spec() agent.Spec {
	return agent.Spec{Name: "Shell", Description: "Runs.", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (shellNote) Access(_ context.Context, input json.RawMessage) agent.Access {
	return agent.Access{Command: textOf(input)}
}

func (shellNote) Preview(context.Context, json.RawMessage) ([]agent.FileChange, error) {
	return []agent.FileChange{{Path: "gone", Deleted: true}}, nil
}

// A request tells what the call would do, what its preview deletes, and what the
// model says about it; the log keeps all of that.
func TestRequestHasItsOutlook(t *testing.T) {
	t.Parallel()
	deletes := agent.Effect{ID: agent.EffectDeletes, Args: []string{"gone"}}
	for name, tt := range map[string]struct {
		foretell func(agent.GateCall) agent.Forecast
		want     *agent.Forecast
	}{
		"cannot tell": {nil, nil},
		"tells": {
			func(c agent.GateCall) agent.Forecast {
				return agent.OutlookOf(agent.Effect{ID: agent.EffectNetwork, Args: []string{c.Access.Command}})
			},
			&agent.Forecast{Risk: agent.RiskElevated, Effects: []agent.Effect{deletes, {ID: agent.EffectNetwork, Args: []string{"fetch"}}}},
		},
		"panics": {
			func(agent.GateCall) agent.Forecast { panic("broken") },
			&agent.Forecast{Risk: agent.RiskElevated, Effects: []agent.Effect{deletes}},
		},
	} {
		model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{{Name: "Shell", Arguments: `{"text":"fetch","description":"Fetch\n it \u202e!"}`}}}, llmtest.Round{Text: "ok"})
		r := newRig(t, model, shellNote{})
		r.cfg.Gate = &strict{agent.Verdict{Decision: agent.Ask, Reason: "It runs."}}
		if tt.foretell != nil {
			r.cfg.Gate = seer{&strict{agent.Verdict{Decision: agent.Ask, Reason: "It runs."}}, tt.foretell}
		}
		requests := find[agent.ApprovalRequest](r.run("go"))
		if len(requests) != 1 {
			t.Fatalf("%s: %d requests", name, len(requests))
		}
		if diff := cmp.Diff(tt.want, requests[0].Outlook); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if requests[0].Claim != "Fetch it \u202e!" {
			t.Errorf("%s: claim %q", name, requests[0].Claim)
		}
	}
}
