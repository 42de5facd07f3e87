package agent_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

// facts are prices and limits for a test.
type facts struct{ limits llm.ModelLimits }

func (f facts) Limits(string, string) llm.ModelLimits { return f.limits }

// Price takes a dollar for a token written to the cache and a thousandth of
// one for any other, so that a request can cost much and estimate to little.
func (facts) Price(_, model string, u llm.Usage, _ time.Time) *llm.Cost {
	if model == "unknown" || !u.Known {
		return nil
	}
	return new(llm.Cost(u.CacheWrite)*llm.Dollar + llm.Cost(u.Input+u.Output)*llm.Dollar/1000)
}

// worth is an answer that costs so many dollars.
func worth(dollars int64, calls ...llmtest.Call) llmtest.Round {
	return llmtest.Round{Text: "So far.", Calls: calls, Usage: llm.Usage{CacheWrite: dollars, Known: true}}
}

var look = llmtest.Use("Look", map[string]string{"text": "x"})

// The tokens of a failed answer are paid for, whether it is requested again or
// given up.
func TestCostOfFailedAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed, silent := worth(11), llmtest.Round{Error: "server_error", Usage: llm.Usage{CacheWrite: 2, Known: true}}
		failed.Error = "server_error"
		r := newRig(t, llmtest.Script(failed, silent, failed, silent))
		r.cfg.Facts, r.cfg.Retry = facts{}, llm.DefaultRetries
		events := r.run("go")
		var costs []string
		for _, again := range find[agent.Retrying](events) {
			costs = append(costs, again.Cost.String())
		}
		last := find[agent.TextEnd](events)[0]
		if diff := cmp.Diff([]string{"$11.00", "$2.00", "$11.00", "$2.00"}, append(costs, last.Cost.String())); diff != "" {
			t.Error(diff)
		}
		whole := llm.Usage{CacheWrite: 26, Known: true}
		if ended := find[agent.ProcessingEnd](events)[0]; ended.Cost.Cost != 26*llm.Dollar || ended.Cost.Unknown != 0 || ended.Usage != whole {
			t.Errorf("the turn used %+v at %+v", ended.Usage, ended.Cost)
		}
		if tr := r.session.Transcript(); tr.Cost.Cost != 26*llm.Dollar || tr.Usage != whole {
			t.Errorf("the session used %+v at %+v", tr.Usage, tr.Cost)
		}
	})
}

// OAS-114: every answer carries its cost, the turn and the transcript their
// sums; a request of unknown cost is counted and not taken for free.
func TestCost(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(worth(11, look), worth(22), worth(1), llmtest.Round{Text: "Uncounted."}))
	r.cfg.Facts = facts{}
	first := r.run("one")
	var costs []string
	for _, end := range find[agent.TextEnd](first) {
		costs = append(costs, end.Cost.String())
	}
	if diff := cmp.Diff([]string{"$11.00", "$22.00"}, costs); diff != "" {
		t.Error(diff)
	}
	set := r.session.Transcript().Settings
	set.Model = "unknown"
	r.session.Configure(set)
	r.run("two")
	third := r.run("three")
	for name, got := range map[string]llm.Spending{
		"the first turn":        find[agent.ProcessingEnd](first)[0].Cost.Since(llm.Spending{Cost: 33 * llm.Dollar}),
		"the last turn":         find[agent.ProcessingEnd](third)[0].Cost.Since(llm.Spending{Unknown: 1}),
		"the session":           r.session.Transcript().Cost.Since(llm.Spending{Cost: 33 * llm.Dollar, Unknown: 2}),
		"the session, reopened": r.open().Transcript().Cost.Since(llm.Spending{Cost: 33 * llm.Dollar, Unknown: 2}),
	} {
		if got != (llm.Spending{}) {
			t.Errorf("%s is off by %+v", name, got)
		}
	}
}

// OAS-115: the budget warns at four fifths, refuses a request that would not
// fit, and ends the turn after one that went over, with everything kept.
func TestBudget(t *testing.T) {
	t.Parallel()
	const budget = 100 * llm.Dollar
	for _, tt := range []struct {
		name     string
		model    string
		budget   llm.Cost
		rounds   []llmtest.Round
		end      agent.EndReason
		requests int
		warnings []string
		spent    llm.Cost // when the budget ended the turn
		refused  bool     // it ended because of an estimate
	}{
		{"none", "m", 0, []llmtest.Round{worth(500, look), worth(500)}, agent.EndDone, 2, nil, 0, false},
		{"plenty", "m", budget, []llmtest.Round{worth(40, look), worth(39)}, agent.EndDone, 2, nil, 0, false},
		{"four fifths, said once", "m", budget, []llmtest.Round{worth(79, look), worth(1, look), worth(5, look), worth(5)}, agent.EndDone, 4, []string{"budget"}, 0, false},
		{"all of it", "m", budget, []llmtest.Round{worth(100)}, agent.EndDone, 1, []string{"budget"}, 0, false},
		{"no room for the next", "m", budget, []llmtest.Round{worth(99, look)}, agent.EndBudget, 1, []string{"budget"}, 99 * llm.Dollar, true},
		{"over, with calls to run", "m", budget, []llmtest.Round{worth(101, look, look)}, agent.EndBudget, 1, nil, 101 * llm.Dollar, false},
		{"over, at rest", "m", budget, []llmtest.Round{worth(101)}, agent.EndBudget, 1, nil, 101 * llm.Dollar, false},
		{"too small to begin", "m", llm.Dollar, nil, agent.EndBudget, 0, nil, 0, true},
		{"a price that nobody knows", "unknown", budget, []llmtest.Round{worth(500, look), worth(500)}, agent.EndDone, 2, []string{"cost_unknown"}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.Script(tt.rounds...)
			r := newRig(t, model)
			r.cfg.Facts, r.cfg.Limits.Budget = facts{}, tt.budget
			r.open()
			r.session.Configure(agent.Settings{Provider: llmtest.Provider, Model: tt.model, Mode: agent.ModeDefault})
			events := r.run("go")
			if got := end(t, events); got != tt.end || len(model.Requests()) != tt.requests {
				t.Errorf("ended as %s after %d requests", got, len(model.Requests()))
			}
			var warnings []string
			for _, w := range find[agent.Warning](events) {
				warnings = append(warnings, w.Code)
			}
			if diff := cmp.Diff(tt.warnings, warnings); diff != "" {
				t.Error(diff)
			}
			limits := find[agent.TurnLimit](events)
			if (len(limits) == 1) != (tt.end == agent.EndBudget) {
				t.Fatalf("limits: %+v", limits)
			}
			if len(limits) == 1 {
				if l := limits[0]; l.Limit != "budget" || l.Budget != tt.budget || l.Spent != tt.spent || (l.Next > 0) != tt.refused {
					t.Errorf("%+v", l)
				}
			}
			if n := len(find[agent.TextEnd](events)); n != tt.requests {
				t.Errorf("%d answers were kept", n)
			}
			calls := 0
			for _, a := range find[agent.TextEnd](events) {
				calls += len(a.Message.Calls())
			}
			if n := len(find[agent.ToolCallEnd](events)); n != calls {
				t.Errorf("%d of %d calls were answered", n, calls)
			}
		})
	}
}

// The estimate grows with what came to the context since it was counted.
func TestBudgetCountsWhatCame(t *testing.T) {
	t.Parallel()
	long := note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
		return agent.Result{Output: strings.Repeat("word ", 40_000)}
	}}
	r := newRig(t, llmtest.Script(worth(1, look)), long)
	r.cfg.Facts, r.cfg.Limits.Budget = facts{}, 50*llm.Dollar
	events := r.run("go")
	limits := find[agent.TurnLimit](events)
	if len(limits) != 1 || limits[0].Next < 50*llm.Dollar || limits[0].Next > 55*llm.Dollar {
		t.Errorf("a request with 200,000 more bytes is estimated at %+v", limits)
	}
}

// A picture weighs something, too.
func TestBudgetCountsPictures(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(worth(1, look)), shows(llm.Media{MIME: "image/png", Data: drawn(t, 10)}))
	r.cfg.Facts, r.cfg.Limits.Budget = facts{}, 3*llm.Dollar // a request of 1,500 tokens more would cost 3.50
	if limits := find[agent.TurnLimit](r.run("go")); len(limits) != 1 || limits[0].Next < 5*llm.Dollar/2 {
		t.Errorf("a request with a picture is estimated at %+v", limits)
	}
}

// A session's own budget counts before the host's, and can be raised to go on.
func TestBudgetOfTheSession(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(worth(11), worth(11)))
	r.cfg.Facts, r.cfg.Limits.Budget = facts{}, 100*llm.Dollar
	r.open()
	set := agent.Settings{Provider: llmtest.Provider, Model: "m", Mode: agent.ModeDefault, Budget: 10 * llm.Dollar}
	r.session.Configure(set)
	if got := end(t, r.run("go")); got != agent.EndBudget {
		t.Fatalf("ended as %s", got)
	}
	set.Budget = 30 * llm.Dollar
	r.session.Configure(set)
	if got := end(t, r.run("go on")); got != agent.EndDone {
		t.Errorf("ended as %s", got)
	}
}

// OAS-115: a request beside the conversation is held to the same budget.
func TestAffords(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(worth(8)))
	r.cfg.Facts = facts{}
	r.run("go")
	for _, tt := range []struct {
		budget llm.Cost
		model  string
		bytes  int
		want   bool
	}{
		{0, "m", 1 << 30, true},
		{10 * llm.Dollar, "m", 4000, true}, // a dollar, and another for the answer
		{10 * llm.Dollar, "m", 4004, false},
		{10 * llm.Dollar, "unknown", 1 << 30, true},
		{8 * llm.Dollar, "unknown", 0, false},
	} {
		set := r.session.Transcript().Settings
		set.Budget = tt.budget
		r.session.Record(agent.SettingsChange{Settings: set})
		if got := r.session.Affords(llm.Origin{Provider: llmtest.Provider, Model: tt.model}, tt.bytes); got != tt.want {
			t.Errorf("of %s, %s given %d bytes fits: %t", tt.budget, tt.model, tt.bytes, got)
		}
	}
}

// OAS-115, K-06: near its end the budget limits the length of the answer, so that an answer as long
// as allowed spends it to the cent, and no more; far from it, or without one, nothing is limited.
func TestBudgetLimitsAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		budget llm.Cost
		admit  func(spent, next, budget llm.Cost) (llm.Cost, *agent.TurnLimit)
		least  int
		most   int
	}{
		"no budget":      {0, nil, 0, 0},
		"much is left":   {1000 * llm.Dollar, nil, 0, 0},
		"little is left": {5 * llm.Dollar, nil, 4900, 5000},
		"a part of it": {5 * llm.Dollar, func(_, _, _ llm.Cost) (llm.Cost, *agent.TurnLimit) {
			return 2 * llm.Dollar, nil
		}, 1900, 2000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := llmtest.Script(llmtest.Round{Text: "So far."})
			r := newRig(t, script)
			r.cfg.Facts, r.cfg.Limits.Budget, r.cfg.Limits.Admit = facts{}, tt.budget, tt.admit
			r.run("go")
			if most := script.Requests()[0].MaxOutput; most < tt.least || most > tt.most {
				t.Errorf("an answer may have %d tokens", most)
			}
		})
	}
}
