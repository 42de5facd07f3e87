package agent

import (
	"cmp"

	"atelier.dev/atelier/agent/llm"
)

const (
	// bytesPerToken converts text that no provider has counted into tokens.
	bytesPerToken = 4
	// pictureTokens is the assumed size of a picture.
	pictureTokens = 1500
	// outputReserve is the assumed size of an answer, in tokens, before it is
	// requested.
	outputReserve = 1000
)

// price returns the cost of a request; nil means unknown.
func (s *Session) price(model llm.Origin, u llm.Usage) *llm.Cost {
	return s.cfg.Facts.Price(model.Provider, model.Model, u, s.cfg.Now())
}

// budget returns the session's budget; 0 means unlimited. It uses the recorded
// settings, so a change holds from the next round on.
func (s *Session) budget() llm.Cost {
	return cmp.Or(s.transcript.Settings.Budget, s.cfg.Limits.Budget)
}

// spending returns what the session has cost, including what its agents spent.
func (s *Session) spending() llm.Spending {
	spent := s.transcript.Cost
	if others := s.cfg.Limits.OthersCost; others != nil && s.budget() > 0 {
		spent.Cost += others()
	}
	return spent
}

// fits reports whether the budget covers what was spent and the estimated next
// request. An unknown estimate counts as 0, so that only actual spending
// counts.
func (s *Session) fits(spent llm.Cost, model llm.Origin, u llm.Usage) (next llm.Cost, ok bool) {
	if c := s.price(model, u); c != nil {
		next = *c
	}
	budget := s.budget()
	return next, spent < budget && spent+next <= budget
}

// Affords reports whether the remaining budget covers a request beside the
// conversation with the given bytes of text (OAS-115).
func (s *Session) Affords(model llm.Origin, bytes int) bool {
	if s.budget() == 0 {
		return true
	}
	_, ok := s.fits(s.spending().Cost, model, llm.Usage{Input: int64(bytes / bytesPerToken), Output: outputReserve, Known: true})
	return ok
}

// affordable reports whether the remaining budget covers the next request
// (OAS-115). The estimate assumes that nothing is cached, so that it is too
// high rather than too low.
func (t *turn) affordable() bool {
	t.spent = t.session.spending()
	return t.nextFits()
}

// nextFits is affordable for the spending so far.
func (t *turn) nextFits() bool {
	s := t.session
	set, spent := s.transcript.effective(), s.spending().Cost
	next, ok := s.fits(spent, llm.Origin{Provider: set.Provider, Model: set.Model}, t.nextUsage())
	over := &TurnLimit{Limit: "budget", Budget: s.budget(), Spent: spent, Next: next}
	if ok || s.budget() == 0 {
		s.window.most = s.budget() - spent
		if s.cfg.Limits.Admit == nil {
			return true
		}
		if s.window.most, over = s.cfg.Limits.Admit(s.transcript.Cost.Cost, next, s.budget()); over == nil {
			return true
		}
	}
	t.emit(*over)
	t.limited = EndLimit
	if over.Limit == "budget" {
		t.limited = EndBudget
	}
	return false
}

// longestAnswer is above the length of any model's longest answer, in tokens.
const longestAnswer = 200_000

// mostOutput returns how many tokens the next answer may have, so that the budget covers it; 0
// if it covers any answer, or if that is not known.
func mostOutput(s *Session, model llm.Origin, next llm.Usage) int {
	next.Output = 0
	asked := s.price(model, next)
	next.Output = longestAnswer
	whole := s.price(model, next)
	if s.budget() == 0 || asked == nil || whole == nil || *whole <= *asked || *whole <= s.window.most {
		return 0
	}
	return max(outputReserve, int(float64(s.window.most-*asked)/float64(*whole-*asked)*longestAnswer))
}

// nextUsage estimates the next request: the context as the provider last
// counted it, plus everything added since.
func (t *turn) nextUsage() llm.Usage {
	s := t.session
	added := s.transcript.tally.added
	if s.transcript.Context == 0 {
		set := s.transcript.effective()
		model := llm.Origin{Provider: set.Provider, Model: set.Model}
		added += int(t.fixed(model)) * bytesPerToken
	}
	return llm.Usage{Input: s.transcript.Context + int64(added/bytesPerToken), Output: outputReserve, Known: true}
}

// withinBudget reports whether the session may continue after the newest
// request. It warns once when four fifths of the budget are spent, and once
// when the turn's first request of unknown cost makes the budget unenforceable.
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
		t.emit(Warn(WarnBudget, now.Cost.String(), budget.String()))
	}
	if t.spent.Unknown == t.before.Unknown && t.spent.Unknown < now.Unknown {
		t.emit(Warn(WarnCostUnknown, t.session.transcript.effective().Model, budget.String()))
	}
	return true
}

// leave answers calls that will not run any more.
func (t *turn) leave(calls []llm.ToolCall, why string) {
	for _, c := range calls {
		t.end(c, t.session.tools().Canonical(c.Name), Fail(why), OutcomeInterrupted, 0)
	}
}
