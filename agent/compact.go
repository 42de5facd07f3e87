package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
)

// CompactionTrigger says why a conversation is made short.
type CompactionTrigger string

// The triggers.
const (
	CompactAuto     CompactionTrigger = "auto"     // it passed the threshold
	CompactManual   CompactionTrigger = "manual"   // somebody asked for it
	CompactOverflow CompactionTrigger = "overflow" // the provider refused it for its length
)

// CompactionStart says that the conversation is about to be made short (COM-18,
// COM-93).
type CompactionStart struct {
	Trigger CompactionTrigger `json:"trigger"`
	Tokens  int64             `json:"tokens"`
	// Threshold is what Tokens passed; 0 unless the trigger is auto.
	Threshold int64 `json:"threshold,omitempty"`
}

// CompactionPhase says how far that is (COM-18, COM-93).
type CompactionPhase struct {
	Phase  Phase `json:"phase"`
	Before int64 `json:"tokens_before"`
	After  int64 `json:"tokens_after"`
	// ToolBlocks is how many tool results the model will not see whole any more.
	ToolBlocks int `json:"tool_blocks_dropped"`
}

// Phase is a step of a compaction. A start is followed by its done, unless a
// rollback ends it with nothing changed.
type Phase string

// The phases.
const (
	PhaseSelectiveStart Phase = "selective_start" // old tool results are cut
	PhaseSelectiveDone  Phase = "selective_done"
	PhaseSummaryStart   Phase = "summary_start" // a model summarises the older part
	PhaseSummaryDone    Phase = "summary_done"
	PhaseRollback       Phase = "rollback"
)

// CompactionEnd says what became of it. Unless Outcome is done the conversation
// is what it was (COM-19).
type CompactionEnd struct {
	Trigger    CompactionTrigger `json:"trigger"`
	Outcome    Outcome           `json:"outcome"`
	Before     int64             `json:"tokens_before"`
	After      int64             `json:"tokens_after"`
	ToolBlocks int               `json:"tool_blocks_dropped,omitempty"`
	DurationMs int64             `json:"duration_ms"`
	// Elided is how much was cut from old tool results, in bytes, where that was
	// enough.
	Elided int `json:"elided,omitempty"`
	// Summary stands for everything but the newest Kept items; empty where old
	// results were enough.
	Summary string `json:"summary,omitempty"`
	Kept    int    `json:"kept,omitempty"`
	// Message says why it failed.
	Message string `json:"message,omitempty"`
}

const (
	// recentResults is how many of the newest tool results stay whole (COM-14).
	recentResults = 5
	// maxTail bounds what stays word for word behind a summary, in tokens. It is
	// less where it would be more than a fifth of the conversation.
	maxTail = 20_000
	// maxCompactionFailures is how many in a row end the trying (OAS-110).
	maxCompactionFailures = 3
)

// Compact puts a summary in the place of the whole conversation, between two
// turns. focus is what to keep in particular; it may be empty. The error is for
// misuse, [ErrBusy] or [ErrClosed]; a failure is an event, and leaves everything
// as it was.
func (s *Session) Compact(ctx context.Context, focus string) iter.Seq2[Event, error] {
	return s.turn(ctx, func(t *turn) {
		if s.isOpen() {
			t.yield(Event{}, ErrBusy)
			return
		}
		if ev, ok := s.RecordSettings(); ok {
			t.hold(ev)
		}
		t.compact(CompactionStart{Trigger: CompactManual, Tokens: t.nextUsage().Input}, focus)
		t.closeIfAborted()
		t.settle()
	})
}

// compactIfFull makes the conversation short where it has passed the threshold
// (OAS-108, K-08), and reports whether it did. What failed is tried again in
// the next turn, three times in all (OAS-110).
func (t *turn) compactIfFull() bool {
	tr, cfg := &t.session.transcript, t.session.cfg
	if cfg.Compactor == nil || t.uncompacted || tr.past.compaction.failures >= maxCompactionFailures {
		return false
	}
	window := cfg.Facts.Limits(tr.Settings.Provider, tr.Settings.Model).Window
	if window == 0 {
		return false
	}
	threshold, tokens := cfg.Compactor.Threshold(window), t.nextUsage().Input
	if threshold == 0 || tokens < threshold {
		return false
	}
	t.uncompacted = !t.compact(CompactionStart{Trigger: CompactAuto, Tokens: tokens, Threshold: threshold}, "")
	return !t.uncompacted
}

// compactAfter makes the conversation short once a provider has refused it for
// its length, once for each answer (K-08). It reports whether there is
// something new to ask.
func (t *turn) compactAfter(who llm.Origin) bool {
	c := t.session.cfg.Compactor
	if c == nil || c.Threshold(unknownWindow) == 0 || t.overflowed || t.session.transcript.past.compaction.failures >= maxCompactionFailures {
		return false
	}
	t.overflowed = true
	t.emit(Warning{Code: "context", Message: fmt.Sprintf("The conversation is longer than %s can read. It is made shorter and sent again.", who.Model)})
	return t.compact(CompactionStart{Trigger: CompactOverflow, Tokens: t.nextUsage().Input}, "")
}

// unknownWindow stands for a window that is large enough for anything.
const unknownWindow = 1 << 40

// compact makes the conversation short and reports whether it did. Nothing is
// changed before its end is in the log.
func (t *turn) compact(start CompactionStart, focus string) bool {
	advice := t.fire(HookCall{Point: HookPreCompact, Trigger: start.Trigger})
	if advice.Decision == Deny {
		t.emit(Warning{Code: "hooks", Message: "A hook kept the conversation from being made shorter. " + advice.Reason})
		return false
	}
	if focus == "" {
		focus = advice.Context
	}
	began := t.session.cfg.Now()
	t.emit(start)
	end, err := t.shorten(start, focus)
	switch {
	case err == nil:
		end.Outcome = OutcomeDone
	case t.ctx.Err() != nil:
		end = CompactionEnd{Outcome: OutcomeInterrupted, After: start.Tokens, Message: "It was stopped."}
	default:
		end = CompactionEnd{Outcome: OutcomeFailed, After: start.Tokens, Message: sentence(Explain(err).Message)}
	}
	end.Trigger, end.Before = start.Trigger, start.Tokens
	end.DurationMs = t.session.cfg.Now().Sub(began).Milliseconds()
	if err != nil {
		t.phase(PhaseRollback, end)
	}
	t.emit(end)
	if n := t.session.transcript.past.compaction.failures; n == maxCompactionFailures && end.Outcome == OutcomeFailed && start.Trigger != CompactManual {
		t.emit(Warning{Code: "context", Message: fmt.Sprintf("The conversation could not be made shorter %d times. It is not tried again until you ask for it.", n)})
	}
	if end.Outcome != OutcomeDone {
		return false
	}
	if told := t.fire(HookCall{Point: HookPostCompact, Trigger: start.Trigger, Output: end.Summary}); told.Context != "" {
		t.emit(SteeringInjected{ByLoop: true, Text: told.Context})
	}
	return true
}

// shorten cuts old tool results, and where that is not enough, or a person has
// asked, has the older part summarised (COM-14, COM-15).
func (t *turn) shorten(start CompactionStart, focus string) (CompactionEnd, error) {
	past := &t.session.transcript.conversation
	if start.Trigger != CompactManual {
		end := CompactionEnd{Before: start.Tokens, After: start.Tokens}
		t.phase(PhaseSelectiveStart, end)
		end.Elided, end.ToolBlocks = past.Elidable(recentResults)
		end.After = t.session.transcript.sizeAfter(end)
		t.phase(PhaseSelectiveDone, end)
		if end.After <= roomy(start) {
			return end, nil
		}
	}
	room := int64(0)
	if start.Trigger != CompactManual {
		room = min(maxTail, start.Tokens/5)
	}
	return t.summarise(start, focus, past.Tail(int(room)*bytesPerToken))
}

// roomy is the size that a conversation should come down to: much less than what
// was too much, so that it is not made shorter again after a few rounds.
func roomy(start CompactionStart) int64 {
	if start.Trigger == CompactAuto {
		return start.Threshold / 2
	}
	return start.Tokens / 2
}

// summarise has everything but the newest items summarised.
func (t *turn) summarise(start CompactionStart, focus string, keep int) (CompactionEnd, error) {
	tr, cfg := &t.session.transcript, t.session.cfg
	end := CompactionEnd{Before: start.Tokens, After: start.Tokens, Kept: keep}
	before, messages := tr.conversation.Older(keep)
	switch {
	case cfg.Compactor == nil:
		return end, errors.New("nothing here makes summaries")
	case len(messages) == 0:
		return end, errors.New("there is nothing new to summarise")
	case !t.session.Affords(llm.Origin{Provider: tr.Settings.Provider, Model: tr.Settings.Model}, tr.conversation.Bytes()):
		return end, errors.New("a summary would cost more than the session's budget leaves")
	}
	limit := start.Tokens
	if start.Trigger != CompactManual { // less of a gain would be asked for again, and paid for, in no time
		limit = cmp.Or(start.Threshold, start.Tokens) / 10 * 9
	}
	if least := (CompactionEnd{Before: start.Tokens, Summary: "-", Kept: keep}); tr.sizeAfter(least) >= limit {
		return end, errors.New("what could be summarised is too little to make room") // so nothing is paid for
	}
	t.phase(PhaseSummaryStart, end)
	t.settle()
	got, err := cfg.Compactor.Summarise(t.ctx, SummaryRequest{
		Settings: tr.Settings, Window: cfg.Facts.Limits(tr.Settings.Provider, tr.Settings.Model).Window,
		Before: before, Messages: messages, Focus: focus,
	})
	for _, usage := range got.Requests {
		t.emit(SideRequest{Purpose: PurposeSummary, Provider: got.By.Provider, Model: got.By.Model, Usage: usage, Cost: t.session.price(got.By, usage)})
	}
	if err != nil {
		return end, err
	}
	end.Summary, end.ToolBlocks = got.Text, tr.conversation.Results(keep)
	end.After = tr.sizeAfter(end)
	if end.After >= limit {
		return end, errors.New("the summary does not make enough room")
	}
	t.phase(PhaseSummaryDone, end)
	return end, nil
}

func (t *turn) phase(p Phase, end CompactionEnd) {
	t.emit(CompactionPhase{Phase: p, Before: end.Before, After: end.After, ToolBlocks: end.ToolBlocks})
}

// sizeAfter is how many tokens the next request would hold: what it holds
// besides the conversation stays.
func (t *Transcript) sizeAfter(end CompactionEnd) int64 {
	short := t.conversation.Clone()
	end.apply(short, t.past.compaction.files)
	whole := int64(max(1, t.conversation.Bytes()))
	held := min(end.Before, whole/bytesPerToken)
	return end.Before - held + held*int64(short.Bytes())/whole
}

// apply does to a conversation what a compaction came to.
func (e CompactionEnd) apply(c *contextir.Conversation, files []string) {
	if e.Summary != "" {
		c.Compact(e.Summary, e.Kept, files)
		return
	}
	c.DropNative() // what a provider thought is bound to what it had read
	c.Elide(e.Elided)
}

// cut is the end of a compaction that was found under way.
func (c CompactionStart) cut() CompactionEnd {
	return CompactionEnd{
		Trigger: c.Trigger, Outcome: OutcomeInterrupted, Before: c.Tokens, After: c.Tokens,
		Message: "Atelier ended before it was done.",
	}
}

// compaction is what is remembered for the next one.
type compaction struct {
	open     *CompactionStart // under way
	failures int              // in a row
	files    []string         // that calls changed, the newest last
}

// changedFiles is how many files a summary names.
const changedFiles = 20

// applyCompaction folds the end of a compaction in.
func (t *Transcript) applyCompaction(end CompactionEnd) {
	t.past.compaction.open = nil
	if end.Trigger == CompactManual {
		t.State, t.past.held = StateIdle, t.past.held || end.Outcome != OutcomeDone
	}
	switch {
	case end.Outcome == OutcomeDone:
		end.apply(&t.conversation, t.past.compaction.files)
		t.Context, t.tally, t.past.compaction.failures = end.After, tally{items: t.conversation.Len()}, 0
		t.forgetUpdates()
	case end.Outcome == OutcomeFailed && end.Trigger != CompactManual:
		t.past.compaction.failures++
	}
}

// noteChanges remembers which files a call changed.
func (c *compaction) noteChanges(details *Details) {
	if details == nil {
		return
	}
	for _, change := range details.Changes {
		path := change.Path
		if change.MovedTo != "" {
			path = change.MovedTo
		}
		c.files = append(slices.DeleteFunc(c.files, func(known string) bool { return known == path }), path)
	}
	if n := len(c.files); n > changedFiles {
		c.files = c.files[n-changedFiles:]
	}
}
