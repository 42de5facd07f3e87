package agent

import (
	"cmp"
	"fmt"

	"atelier.dev/atelier/agent/llm"
)

const (
	// bytesPerToken turns text that no provider has counted into tokens.
	bytesPerToken = 4
	// pictureTokens is what a picture is taken to hold.
	pictureTokens = 1500
	// outputReserve is what an answer is taken to hold, in tokens, before it
	// is asked for.
	outputReserve = 1000
)

// price returns what a request cost; nil is unknown.
func (t *turn) price(who llm.Origin, u llm.Usage) *llm.Cost {
	cfg := t.session.cfg
	return cfg.Facts.Price(who.Provider, who.Model, u, cfg.Now())
}

// budget is what the session may cost; 0 is any amount. The settings count as
// they were recorded: a change holds from the next round on.
func (t *turn) budget() llm.Cost {
	return cmp.Or(t.session.transcript.Settings.Budget, t.session.cfg.Limits.Budget)
}

// spending is what the session has cost, with what others spent on its account.
func (t *turn) spending() llm.Spending {
	spent := t.session.transcript.Cost
	if beside := t.session.cfg.Limits.Beside; beside != nil && t.budget() > 0 {
		spent.Cost += beside()
	}
	return spent
}

// affordable reports whether the next request fits what is left of the budget
// (OAS-115). The estimate takes nothing to be cached, so that it is rather too
// high than too low; where it is unknown, only what is spent counts.
func (t *turn) affordable() bool {
	t.spent = t.spending()
	budget := t.budget()
	if budget == 0 {
		return true
	}
	set := t.session.transcript.Settings
	var next llm.Cost
	if c := t.price(llm.Origin{Provider: set.Provider, Model: set.Model}, t.nextUsage()); c != nil {
		next = *c
	}
	if t.spent.Cost < budget && t.spent.Cost+next <= budget {
		return true
	}
	t.emit(TurnLimit{Limit: "budget", Budget: budget, Spent: t.spent.Cost, Next: next})
	return false
}

// nextUsage guesses the next request: the context as the provider last counted
// it, and what came to it since.
func (t *turn) nextUsage() llm.Usage {
	s := t.session
	added := s.transcript.added
	if s.transcript.Context == 0 {
		who := llm.Origin{Provider: s.transcript.Settings.Provider, Model: s.transcript.Settings.Model}
		added += len(t.briefing(who).System)
		for _, tool := range s.cfg.Profiles.Profile(who.Provider, who.Model).Tools.Definitions() {
			added += len(tool.Description) + len(tool.Schema)
		}
	}
	return llm.Usage{Input: s.transcript.Context + int64(added/bytesPerToken), Output: outputReserve, Known: true}
}

// withinBudget reports whether the session may go on after the newest request.
// It warns, once each, when four fifths are spent and when the turn's first
// request of unknown cost makes the budget one that cannot be held.
func (t *turn) withinBudget() bool {
	budget, now := t.budget(), t.spending()
	if budget == 0 {
		return true
	}
	if now.Cost > budget {
		t.emit(TurnLimit{Limit: "budget", Budget: budget, Spent: now.Cost})
		return false
	}
	if mark := budget / 5 * 4; t.spent.Cost < mark && mark <= now.Cost {
		t.emit(Warning{Code: "budget", Message: fmt.Sprintf("%s of this session's budget of %s are spent.", now.Cost, budget)})
	}
	if t.spent.Unknown == t.before.Unknown && t.spent.Unknown < now.Unknown {
		t.emit(Warning{Code: "cost_unknown", Message: fmt.Sprintf(
			"What %s costs is not known, so the budget of %s does not stop it.", t.session.transcript.Settings.Model, budget)})
	}
	return true
}

// leave answers the calls of an answer that none of is run any more.
func (t *turn) leave(calls []llm.ToolCall) {
	for _, c := range calls {
		t.end(c, t.session.tools().Canonical(c.Name), Result{Output: "This call was not run: the session's budget is spent.", IsError: true}, OutcomeInterrupted, 0)
	}
}
