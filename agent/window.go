package agent

import (
	"errors"
	"strconv"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/tokens"
)

// This file notices windows that are too small for an agent, and requests that a
// server cuts without a word. Both are usual of servers that people run
// themselves.

const (
	// leastCounted is the smallest count, in tokens, that can be that of a request
	// which was cut: no window is smaller.
	leastCounted = 256
	// cutMargin is how many tokens an estimate must be beyond a count before the
	// difference means anything.
	cutMargin = 1000
	// leastWindow is the smallest window that is worth setting.
	leastWindow = 16_384
)

// window is what a session knows of the window of its model.
type window struct {
	model  llm.Origin
	tokens int64 // 0 means unknown
	fixed  int64 // tokens of the instructions and tools, by estimate
	// small and cut say that the user was told of the window, and of a request that
	// was cut; answered that the model has answered.
	small, cut, answered bool
	// sent is the size of the newest request, by estimate; sentBefore that of the one
	// before, of which the server counted countedBefore.
	sent, sentBefore, countedBefore int64
	// most is what the next request may cost, if there is a budget.
	most llm.Cost
}

// cramped reports whether next to nothing fits beside the instructions and
// tools, so that no shorter conversation would help.
func (w *window) cramped() bool { return w.tokens > 0 && w.fixed*10 > w.tokens*9 }

// fixed estimates the tokens of what every request to a model begins with.
func (t *turn) fixed(model llm.Origin) int64 {
	n := len(t.briefing(model).System)
	for _, tool := range t.session.cfg.Profiles.Profile(model.Provider, model.Model).Tools.Definitions() {
		n += len(tool.Description) + len(tool.Schema)
	}
	return int64(n / bytesPerToken)
}

// acquaint learns the window of a model before its first request.
func (t *turn) acquaint() {
	set := t.session.transcript.effective()
	if model := (llm.Origin{Provider: set.Provider, Model: set.Model}); t.session.window.model != model {
		t.session.window = window{model: model}
		t.measure()
	}
}

// measure asks for the window anew, and says once if the instructions and tools
// alone take most of it.
func (t *turn) measure() {
	w, facts := &t.session.window, t.session.cfg.Facts
	server, ok := facts.(ModelServer)
	if ok {
		t.settle()
		server.Refresh(t.ctx, w.model.Provider)
	}
	if w.tokens = facts.Limits(w.model.Provider, w.model.Model).Window; w.tokens == 0 {
		return
	}
	w.fixed = t.fixed(w.model)
	if w.small || w.fixed*2 <= w.tokens {
		return
	}
	w.small = true
	id, args := WarnWindowSmall, []string{strconv.FormatInt(w.fixed, 10), strconv.FormatInt(w.tokens, 10), w.model.Model}
	if setting := t.widening(); setting != "" {
		id, args = WarnWindowSet, append(args, setting)
	}
	t.emit(Warn(id, args...))
}

// widening returns the setting that gives the model's server a window with room
// for a conversation; empty if people do not run it themselves.
func (t *turn) widening() string {
	server, ok := t.session.cfg.Facts.(ModelServer)
	if !ok {
		return ""
	}
	w := &t.session.window
	enough := int64(leastWindow)
	for enough < 4*max(w.fixed, w.sent/2) {
		enough *= 2
	}
	return server.Widening(w.model.Provider, enough)
}

// watchCount compares what a server counted of a request with what was sent. A
// server that cuts a request counts only the rest: much less than was sent, or no
// more than before, although more was sent. It is said once.
func (t *turn) watchCount(u llm.Usage) {
	w := &t.session.window
	by := t.session.transcript.past.last
	if w.cut || by == nil || *by != w.model || t.widening() == "" {
		return
	}
	if !w.answered { // a server that loads a model when it is first asked knows its window now
		w.answered = true
		t.measure()
	}
	counted := u.Context()
	sent, sentBefore, countedBefore := w.sent, w.sentBefore, w.countedBefore
	w.sentBefore, w.countedBefore = sent, counted
	if !u.Known || counted < leastCounted {
		return
	}
	less := sent > 2*counted+cutMargin && t.countedTokens() > 2*counted+cutMargin
	still := countedBefore >= leastCounted && counted <= countedBefore && sent > sentBefore+cutMargin
	if !less && !still {
		return
	}
	w.cut = true
	t.emit(Warn(WarnPromptCut, w.model.Model, strconv.FormatInt(counted, 10), strconv.FormatInt(sent, 10), t.widening()))
	t.measure()
}

// countedTokens counts what a request says, which bytes overestimate if it has
// long runs of blanks or lines.
func (t *turn) countedTokens() int64 {
	w := &t.session.window
	past := t.session.transcript.conversation.Since(0)
	return w.fixed + int64(tokens.Bounded(w.model.Provider, w.model.Model).Messages(past))
}

// requestTokens estimates the tokens of a request, rather too low: pictures and
// reasoning do not count.
func requestTokens(req *llm.Request) int64 {
	n := len(req.System)
	for _, tool := range req.Tools {
		n += len(tool.Description) + len(tool.Schema)
	}
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			n += len(p.Text)
			if p.Call != nil {
				n += len(p.Call.Arguments)
			}
			if p.Result == nil {
				continue
			}
			for _, r := range p.Result.Parts {
				n += len(r.Text)
			}
		}
	}
	return int64(n / bytesPerToken)
}

// overflows reports whether a provider refused a request for its length.
func overflows(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.Class == llm.ClassContextOverflow
}

// explain is [Explain]. If the instructions and tools alone are too long, it says
// so, because shortening the conversation would not help.
func (t *turn) explain(err error) Failure {
	f, w := Explain(err), &t.session.window
	if !overflows(err) || !w.cramped() {
		return f
	}
	id, args := FailureWindowSmall, []string{strconv.FormatInt(w.fixed, 10), strconv.FormatInt(w.tokens, 10)}
	if setting := t.widening(); setting != "" {
		id, args = FailureWindowSet, append(args, setting)
	}
	small := Failed(id, args...)
	small.Code, small.Details = f.Code, f.Details
	return small
}
