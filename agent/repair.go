package agent

import (
	"errors"
	"regexp"
	"slices"
	"sync"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/tokens"
)

// This file repairs a conversation that a provider would refuse, or has
// refused, so that no request makes a session unusable. A [HistoryRepaired]
// reports each change. Lowering the conversation already answers calls without
// a result, and leaves out empty messages and results without a call.

// sendable returns the conversation in a form that a model accepts, with remedies
// that are being tried.
func (t *turn) sendable(model llm.Origin, remedies []HistoryRepaired) []llm.Message {
	limits := t.session.cfg.Facts.Limits(model.Provider, model.Model)
	t.noteForeign(model)
	t.makeRoom(model, limits)
	past := &t.session.transcript.conversation
	if len(remedies) > 0 {
		past = past.Clone()
		for _, r := range remedies {
			r.apply(past)
		}
	}
	messages := past.Lower()
	if !past.Pictures() {
		return messages
	}
	return t.fitPictures(model, limits, messages)
}

// ofItems matches a provider's complaint about an unknown part of the
// conversation, as opposed to an unknown model.
var ofItems = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bitems?\b`) })

// remedy returns the next repair to try after a provider refused the content of
// the conversation, or nil. The refusal may have another cause, so a repair is
// recorded and kept only once the provider has accepted the conversation with
// it: the model benefits from the provider's own data as long as it can be
// sent.
func (t *turn) remedy(err error, tried []HistoryRepaired) *HistoryRepaired {
	var e *llm.Error
	if !errors.As(err, &e) || e.Retryable || e.Class != llm.ClassInvalid && !(e.Class == llm.ClassNotFound && ofItems().MatchString(e.Message)) {
		return nil
	}
	was := func(r Repair) bool {
		return slices.ContainsFunc(tried, func(h HistoryRepaired) bool { return h.Repair == r })
	}
	past := &t.session.transcript.conversation
	switch {
	case past.Malformed() && !was(RepairCalls):
		return new(Repaired(RepairCalls, reasonOf(e)))
	case past.Native() && !was(RepairNative):
		return new(Repaired(RepairNative, reasonOf(e)))
	}
	return nil
}

// apply applies the repair to a conversation.
func (d HistoryRepaired) apply(c *contextir.Conversation) {
	if d.Repair == RepairCalls {
		c.CleanCalls()
		return
	}
	c.DropNative()
}

// repair shortens the conversation after a provider refused it as too long: it
// compacts it (K-08), or cuts old outputs. It reports whether there is anything
// new to send.
func (t *turn) repair(model llm.Origin, err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Class != llm.ClassContextOverflow {
		return false
	}
	if t.compactAfter(model) {
		return true
	}
	if t.ctx.Err() != nil {
		return false // the user stopped it and expects no change
	}
	all, _ := t.session.transcript.conversation.Elidable(0)
	return t.elide(model, max(t.excess(t.session.cfg.Facts.Limits(model.Provider, model.Model).Window), all/2))
}

// noteForeign reports what a conversation with another model loses for who:
// data that only the other provider understands. Adapters leave it out (LLM-28).
func (t *turn) noteForeign(model llm.Origin) {
	tr := &t.session.transcript
	last := tr.past.by
	if model.Model != tr.Settings.Model || model.Provider != tr.Settings.Provider {
		return // a fallback, which is announced as such
	}
	if last == nil || *last == model || tr.past.repairs[model.Provider+"/"+model.Model] || !tr.conversation.Native() {
		return
	}
	told := Repaired(RepairForeign, model.Model, last.Model)
	told.Subject = model.Provider + "/" + model.Model
	t.emit(told)
}

// windowReserve is the extra share of a window that is freed, as a divisor, so
// that not every request needs the repair.
const windowReserve = 5

// makeRoom cuts old outputs from a conversation that does not fit the window.
func (t *turn) makeRoom(model llm.Origin, limits llm.ModelLimits) {
	if excess := t.excess(limits.Window); excess > 0 {
		t.elide(model, excess)
	}
}

// excess returns how many bytes must go so that the next request fits the
// window with some reserve. It returns 0 if the request fits or the window is
// unknown.
func (t *turn) excess(window int64) int {
	tr := &t.session.transcript
	if window == 0 || tr.Context+int64(tr.tally.added)/densest+outputReserve <= window {
		return 0
	}
	set := tr.Settings
	next := int64(tokens.CountMessages(set.Provider, set.Model, tr.conversation.Since(tr.tally.items), tokens.Patience)) + tr.Context + outputReserve
	if next <= window {
		return 0
	}
	return int(next-window+window/windowReserve) * bytesPerToken
}

// densest is the smallest number of bytes per token in a longer text.
const densest = 2

// elide cuts about the given number of bytes from old outputs. It reports
// whether there were any.
func (t *turn) elide(model llm.Origin, bytes int) bool {
	tr := &t.session.transcript
	all, _ := tr.conversation.Elidable(0)
	if bytes = min(bytes, all); bytes == 0 {
		return false
	}
	told := Repaired(RepairElided, model.Model)
	told.Bytes = bytes
	t.emit(told)
	return true
}
