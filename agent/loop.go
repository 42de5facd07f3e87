package agent

import (
	"cmp"
	"context"
	"iter"
	"strconv"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/internal/repetition"
	"atelier.dev/atelier/agent/llm"
)

// maxPauses limits how often a provider may pause its answer in one turn.
const maxPauses = 10

// turn is the processing of one input until the agent is at rest. It lives in
// the goroutine that ranges over Run.
type turn struct {
	session *Session
	ctx     context.Context
	cancel  context.CancelCauseFunc
	yield   func(Event, error) bool
	number  int
	progress
	usage   llm.Usage
	before  llm.Spending // by the session, when the turn began
	spent   llm.Spending // by the session, when the newest request was made
	held    *Event       // emitted, not yielded yet
	stopped bool         // record nothing more: the caller stopped ranging, or the session was suspended
	away    bool         // a call moved the session, which has to be made again where it works now
	fatal   bool         // the session ends with the turn
	limited EndReason    // by what kind of limit the turn was ended
}

// progress counts what a turn has done, and marks what it does not try again.
type progress struct {
	rounds     int // of tools
	pauses     int
	continued  int  // answers in a row that reached the length limit
	emptied    int  // the round, from 1, in which an answer was empty; 0 for none
	reminded   bool // that a text calls no tool
	repetition repetition.Watch
	// uncompacted says that a compaction failed in this turn, overflowed and elided that
	// one was tried, or old outputs were cut, for the current answer.
	uncompacted, overflowed, elided bool
	summary                         string   // that a person gave for a compaction
	described                       bool     // the model's whole situation was checked
	worked                          []string // files that calls touched since then
	said                            string   // the text of the newest answer
	halt                            *string  // why hooks ended the turn; nil if they did not
}

// Run takes one input to its end, then runs queued follow-ups, and yields every
// event in the caller's goroutine (LOOP-07, LOOP-08, LOOP-152). After an
// interrupt, a failure or a limit the queue stays as it is. A provider's
// failure is an event; the error reports misuse: [ErrBusy], [ErrClosed] or
// [ErrNoModel]. If the caller stops ranging, the turn is abandoned and nothing
// keeps running.
func (s *Session) Run(ctx context.Context, input string) iter.Seq2[Event, error] {
	return s.RunInput(ctx, Queued{Text: input})
}

// RunInput is Run with an input that may begin a skill. Its verb does not matter.
func (s *Session) RunInput(ctx context.Context, input Queued) iter.Seq2[Event, error] {
	return s.asking(ctx, func(t *turn) { t.process(input) })
}

// asking is a turn that asks a model.
func (s *Session) asking(ctx context.Context, body func(*turn)) iter.Seq2[Event, error] {
	return s.turn(ctx, func(t *turn) {
		if s.Latest().Model == "" {
			t.yield(Event{}, ErrNoModel)
			return
		}
		body(t)
	})
}

// RunQueued is Run with the next queued message. If there is none, it yields
// nothing.
func (s *Session) RunQueued(ctx context.Context) iter.Seq2[Event, error] {
	return s.asking(ctx, func(t *turn) {
		if next, ok := s.queue.takeInput(); ok {
			t.process(next)
		}
	})
}

// Continue continues the newest turn, with fresh limits, if a limit, a failure
// or the user stopped it (K-06). The error reports misuse: [ErrBusy],
// [ErrClosed] or [ErrDone].
func (s *Session) Continue(ctx context.Context) iter.Seq2[Event, error] {
	return s.turn(ctx, func(t *turn) {
		if end := s.transcript.LastEnd; end == "" || end == EndDone || end == EndRefused {
			t.yield(Event{}, ErrDone)
			return
		}
		t.emit(TurnContinued{})
		t.pickUp()
		t.toRest(t.loop())
	})
}

// Resume continues a turn that was open when its session was last stored. Calls
// that wait for a person keep waiting under the same request. Calls that had
// started are answered as interrupted, because their effect is unknown; only
// idempotent calls run again. With nothing to wait for, the turn ends as
// crashed. A user's command that was cut off ends as interrupted. If nothing is
// open, Resume yields nothing.
func (s *Session) Resume(ctx context.Context) iter.Seq2[Event, error] {
	return s.turn(ctx, func(t *turn) {
		if c := s.transcript.past.compaction.open; c != nil {
			t.emit(c.cut())
		}
		switch {
		case s.transcript.past.command != nil:
			t.cutOff(*s.transcript.past.command)
		case s.isOpen():
			t.toRest(t.resume())
		}
		t.settle()
	})
}

func (s *Session) turn(ctx context.Context, body func(*turn)) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if s.transcript.State == StateClosed {
			yield(Event{}, ErrClosed)
			return
		}
		ctx, cancel := context.WithCancelCause(ctx)
		s.control.mu.Lock()
		if s.control.cancel != nil {
			s.control.mu.Unlock()
			cancel(nil)
			yield(Event{}, ErrBusy)
			return
		}
		s.control.cancel = cancel
		s.control.mu.Unlock()
		defer func() {
			s.control.mu.Lock()
			s.control.cancel = nil
			s.control.mu.Unlock()
			cancel(nil)
		}()
		body(&turn{
			session: s, ctx: ctx, cancel: cancel, yield: yield,
			number: s.transcript.Turn, usage: llm.Usage{Known: true}, before: s.transcript.Cost,
		})
	}
}

// emit stamps and applies an event. It holds back a durable event until it
// knows whether another one follows at once, because a host can store the two
// together. Once the caller has stopped ranging, nothing is applied any more,
// because nobody would store it.
func (t *turn) emit(p Payload) {
	if t.stopped {
		return
	}
	if end, ok := p.(ToolCallEnd); ok {
		t.repetition.Note(end.CallID, string(end.Outcome), end.Output, end.Media)
		t.away = t.away || end.Details != nil && end.Details.Worktree != nil && !end.IsError
	}
	s := t.session
	ev := Event{Session: s.cfg.ID, Turn: t.number, At: s.cfg.Now().UnixMilli(), Data: p}
	if !ev.Durable() {
		t.settle()
		t.pass(ev)
		return
	}
	s.apply(ev)
	t.hold(ev)
}

// hold keeps an applied event back and passes on the previous one.
func (t *turn) hold(ev Event) {
	if t.held != nil {
		t.held.More = true
		t.pass(*t.held)
	}
	t.held = &ev
}

// settle passes on the event that is held back. It is called before anything
// slow, so that events are shown without delay.
func (t *turn) settle() {
	if ev := t.held; ev != nil {
		t.held = nil
		t.pass(*ev)
	}
}

// pass yields an event that has been applied.
func (t *turn) pass(ev Event) {
	if t.stopped {
		return
	}
	if !t.yield(ev, nil) {
		t.stopped = true
		t.cancel(context.Canceled)
	}
}

// process runs an input to its end, and then the follow-ups that are queued.
func (t *turn) process(input Queued) {
	t.toRest(t.begin(input))
}

// begin runs the loop for an input, unless hooks refuse it. The first one after
// the session was opened runs the start hooks.
func (t *turn) begin(input Queued) EndReason {
	told := t.besides() // what they changed since is part of the last turn
	t.number++
	opened := !t.session.transcript.past.begun
	input = t.attached(input)
	t.emit(UserInput{Text: input.Text, QueueID: input.ID, Typed: input.Typed, Skill: input.Skill, From: input.From, Media: input.Media})
	t.tell(told)
	if opened {
		start := SessionStartInput{Source: "startup", Model: t.session.Latest().Model}
		if t.number > 1 {
			start.Source = "resume"
		}
		t.tell(t.fire(start).Context)
	}
	advice, ok := t.admitted(input.Text)
	switch {
	case !ok:
		return EndRefused
	case t.undecided(t.ctx.Err() != nil):
		return t.undecide()
	}
	t.tell(advice.Context)
	return t.loop()
}

// toRest ends a turn whose loop ended for the given reason, and then runs
// queued follow-ups to their end.
func (t *turn) toRest(reason EndReason) {
	for {
		if t.away {
			t.settle()
			t.session.left = &left{t.progress, t.usage, t.before}
			return
		}
		reason = t.conclude(reason)
		t.tell(t.besides())
		var input Queued
		var next bool
		if reason == EndDone && t.ctx.Err() == nil {
			input, next = t.session.queue.takeInput()
		}
		t.finish(reason, next)
		if !next {
			return
		}
		t.progress, t.usage, t.before = progress{}, llm.Usage{Known: true}, t.session.transcript.Cost
		reason = t.begin(input)
	}
}

// pickUp asks the model to continue where an answer broke off. Without it the
// last message would be the model's own, or a user's command that asks for no
// action.
func (t *turn) pickUp() {
	past := &t.session.transcript.conversation
	messages := past.Lower()
	switch n := len(messages); {
	case n > 0 && messages[n-1].Role == llm.RoleAssistant:
		t.emit(SteeringInjected{ByLoop: true, Text: "Your answer broke off here. Go on where it stopped, without repeating anything."})
	case past.Newest() == contextir.LocalCommand:
		t.emit(SteeringInjected{ByLoop: true, Text: "Go on with what you were doing before the user's command."})
	}
}

// loop asks the model and runs its tools, round by round, until it calls none
// (LOOP-07).
func (t *turn) loop() EndReason {
	limits := t.session.cfg.Limits
	for {
		if t.ctx.Err() != nil {
			return EndInterrupted // waiting messages stay in the queue
		}
		if t.halt != nil {
			return t.halted()
		}
		t.deliver()
		t.renewBriefing()
		if limits.Rounds > 0 && t.rounds >= limits.Rounds {
			t.emit(TurnLimit{Limit: "rounds", Count: t.rounds})
			return EndLimit
		}
		if n := t.session.transcript.past.count; limits.Turns > 0 && n >= limits.Turns {
			t.emit(TurnLimit{Limit: "turns", Count: n})
			return EndLimit
		}
		t.acquaint()
		if !t.affordable() || t.compactIfFull() && !t.nextFits() {
			return t.limited
		}
		if t.halt != nil {
			return t.halted()
		}
		answer, err := t.ask()
		if err != nil {
			return t.fail(err)
		}
		calls := answer.Message.Calls()
		t.watchCount(answer.Usage)
		t.watchContext()
		t.sampled(answer, len(calls))
		if t.halt != nil {
			t.leave(calls, haltedText)
			return t.halted()
		}
		if !t.withinBudget() {
			t.leave(calls, "This call was not run: the session's budget is spent.")
			return EndBudget
		}
		if answer.Finish.Reason == llm.FinishPause && t.pauses < maxPauses {
			t.pauses++ // the provider wants the same request again
			continue
		}
		if answer.Finish.Reason == llm.FinishLength {
			if t.goOn(calls) {
				continue
			}
			return t.rest(answer.Finish)
		}
		if len(calls) == 0 {
			if t.session.queue.Has(Steer) || t.session.HasNews() || t.remindOfCalls(answer.Message) {
				continue // it came while the model gave its last answer
			}
			if isEmpty(answer) {
				if t.askAgain() {
					continue
				}
				f := Failed(FailureEmpty, t.session.transcript.past.last.Model)
				f.Code = "empty"
				t.emit(f)
				return EndFailed
			}
			return t.rest(answer.Finish)
		}
		t.rounds++
		t.continued = 0
		t.dispatch(calls)
		t.watch(calls)
		if t.away {
			return ""
		}
	}
}

// goOn asks the model to continue an answer that reached the length limit, as
// often as allowed (OAS-112). A call in such an answer may be cut anywhere, so
// none of them runs.
func (t *turn) goOn(calls []llm.ToolCall) bool {
	for _, c := range calls {
		t.end(c, t.session.tools().Canonical(c.Name), Fail("This call was not run: your answer reached its length limit before it was complete. Make it again, in smaller parts."), OutcomeFailed, 0)
	}
	if t.continued >= t.session.cfg.Limits.Continuations {
		return false
	}
	t.continued++
	if len(calls) == 0 {
		t.emit(SteeringInjected{ByLoop: true, Text: "Your answer reached its length limit. Go on exactly where it stopped, without repeating anything."})
	}
	return true
}

// fullContext is the share of a window, in percent, at which a warning is due
// (LOOP-42).
const fullContext = 80

// watchContext warns once when the context grows beyond four fifths of the
// model's window (LOOP-42, K-08).
func (t *turn) watchContext() {
	tr := &t.session.transcript
	window := t.session.cfg.Facts.Limits(tr.Settings.Provider, tr.Settings.Model).Window
	if window == 0 || t.session.window.cramped() {
		return
	}
	share := (tr.Context + tr.tally.tokens()) * 100 / window
	if full := share >= fullContext; full != t.session.full {
		t.session.full = full
		if !full {
			return
		}
		warning := WarnContextFull
		if c := t.session.cfg.Compactor; c != nil && c.Threshold(window) > 0 {
			warning = WarnContextCompacts
		}
		t.emit(Warn(warning, strconv.FormatInt(share, 10), tr.Settings.Model))
	}
}

// deliver handles what other goroutines requested since the last round.
func (t *turn) deliver() {
	t.recordSettings()
	tellNews(t)
	for {
		m, waits := t.session.queue.steering()
		if !waits {
			return
		}
		advice, ok := t.admitted(m.Text)
		if t.undecided(t.ctx.Err() != nil) {
			return // it stays in the queue
		}
		if !t.session.queue.take(m) {
			continue // the user changed it meanwhile
		}
		if ok {
			m = t.attached(m)
		}
		t.emit(SteeringInjected{Text: m.Text, QueueID: m.ID, Refused: !ok, Typed: m.Typed, From: m.From, Media: m.Media})
		if ok {
			t.tell(advice.Context)
		}
	}
}

// recordSettings records settings that were requested, and tells hooks of a
// change.
func (t *turn) recordSettings() {
	isChange := t.session.transcript.Settings.Model != ""
	ev, ok := t.session.RecordSettings()
	if !ok {
		return
	}
	t.hold(ev)
	if isChange {
		t.tell(t.fire(ConfigChangeInput{Source: SessionSettings}).Context)
	}
}

// rest ends a turn whose last answer has no tool calls.
func (t *turn) rest(f llm.Finish) EndReason {
	switch f.Reason {
	case llm.FinishLength:
		t.emit(Warn(WarnLength))
	case llm.FinishPause:
		t.emit(Warn(WarnPaused, strconv.Itoa(t.pauses+1)))
	case llm.FinishContentFilter:
		t.emit(Warn(WarnFiltered, cmp.Or(f.Detail, f.Raw)))
		return EndFailed
	case llm.FinishRefusal:
		t.emit(Warn(WarnRefused, cmp.Or(f.Detail, f.Raw)))
		return EndFailed
	case llm.FinishOther:
		t.emit(Warn(WarnEnded, cmp.Or(f.Detail, f.Raw)))
	}
	return EndDone
}

// fail turns a provider's error into the end of the turn.
func (t *turn) fail(err error) EndReason {
	if t.ctx.Err() != nil {
		return EndInterrupted
	}
	t.emit(t.explain(err))
	return EndFailed
}

// finish ends a turn. next says that another input follows at once.
func (t *turn) finish(reason EndReason, next bool) {
	if !next {
		t.notifyEnd(reason)
	}
	t.emit(ProcessingEnd{Reason: reason, Next: next, Rounds: t.rounds, Usage: t.usage, Cost: t.session.transcript.Cost.Since(t.before)})
	t.closeIfAborted()
	t.settle()
}

// idempotent reports whether a call may be run again.
func (t *turn) idempotent(call llm.ToolCall) bool {
	c, fault := t.prepare(call)
	return fault == "" && c.spec.Idempotent
}
