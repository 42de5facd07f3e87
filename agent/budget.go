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
func (s *Session) price(who llm.Origin, u llm.Usage) *llm.Cost {
	return s.cfg.Facts.Price(who.Provider, who.Model, u, s.cfg.Now())
}

// budget is what the session may cost; 0 is any amount. The settings count as
// they were recorded: a change holds from the next round on.
func (s *Session) budget() llm.Cost {
	return cmp.Or(s.transcript.Settings.Budget, s.cfg.Limits.Budget)
}

// spending is what the session has cost, with what others spent on its account.
func (s *Session) spending() llm.Spending {
	spent := s.transcript.Cost
	if beside := s.cfg.Limits.Beside; beside != nil && s.budget() > 0 {
		spent.Cost += beside()
	}
	return spent
}

// fits reports whether a request fits what the budget leaves of what was spent,
// and what it is taken to cost: 0 where that is unknown, so that only what is
// spent counts.
func (s *Session) fits(spent llm.Cost, who llm.Origin, u llm.Usage) (next llm.Cost, ok bool) {
	if c := s.price(who, u); c != nil {
		next = *c
	}
	budget := s.budget()
	return next, spent < budget && spent+next <= budget
}

// Affords reports whether a request beside the conversation, which gives a model
// so many bytes of text, fits what is left of the budget (OAS-115).
func (s *Session) Affords(who llm.Origin, bytes int) bool {
	if s.budget() == 0 {
		return true
	}
	_, ok := s.fits(s.spending().Cost, who, llm.Usage{Input: int64(bytes / bytesPerToken), Output: outputReserve, Known: true})
	return ok
}

// affordable reports whether the next request fits what is left of the budget
// (OAS-115). The estimate takes nothing to be cached, so that it is rather too
// high than too low.
func (t *turn) affordable() bool {
	t.spent = t.session.spending()
	return t.nextFits()
}

// nextFits is affordable for what is spent by now.
func (t *turn) nextFits() bool {
	s := t.session
	if s.budget() == 0 {
		return true
	}
	set, spent := s.transcript.Settings, s.spending().Cost
	next, ok := s.fits(spent, llm.Origin{Provider: set.Provider, Model: set.Model}, t.nextUsage())
	if !ok {
		t.emit(TurnLimit{Limit: "budget", Budget: s.budget(), Spent: spent, Next: next})
	}
	return ok
}

// nextUsage guesses the next request: the context as the provider last counted
// it, and what came to it since.
func (t *turn) nextUsage() llm.Usage {
	s := t.session
	added := s.transcript.tally.added
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
	budget, now := t.session.budget(), t.session.spending()
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
