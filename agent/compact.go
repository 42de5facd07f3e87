package agent

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strconv"
	"time"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
)

// CompactionTrigger says why a conversation is compacted.
type CompactionTrigger string

// The triggers.
const (
	CompactAuto     CompactionTrigger = "auto"     // it passed the threshold
	CompactManual   CompactionTrigger = "manual"   // somebody asked for it
	CompactLimit    CompactionTrigger = "limit"    // items of a type took more than they may
	CompactOverflow CompactionTrigger = "overflow" // the provider refused the request for its length
)

// CompactionStart says that a compaction begins (COM-18, COM-93).
type CompactionStart struct {
	Trigger CompactionTrigger `json:"trigger"`
	Tokens  int64             `json:"tokens"`
	// Threshold is the size that Tokens exceeded; 0 unless the trigger is auto.
	Threshold int64 `json:"threshold,omitempty"`
}

// CompactionPhase reports the progress of a compaction (COM-18, COM-93).
type CompactionPhase struct {
	Phase  Phase `json:"phase"`
	Before int64 `json:"tokens_before"`
	After  int64 `json:"tokens_after"`
	// ToolBlocks counts the tool results that the model will no longer see
	// complete.
	ToolBlocks int `json:"tool_blocks_dropped"`
}

// Phase is a step of a compaction. Each start is followed by its done, unless a
// rollback ends the compaction without a change.
type Phase string

// The phases.
const (
	PhaseSelectiveStart Phase = "selective_start" // old tool results are cut
	PhaseSelectiveDone  Phase = "selective_done"
	PhaseSummaryStart   Phase = "summary_start" // a model summarises the older part
	PhaseSummaryDone    Phase = "summary_done"
	PhaseRollback       Phase = "rollback"
)

// CompactionEnd reports the result of a compaction. Unless Outcome is done, the
// conversation is unchanged (COM-19).
type CompactionEnd struct {
	Trigger    CompactionTrigger `json:"trigger"`
	Outcome    Outcome           `json:"outcome"`
	Before     int64             `json:"tokens_before"`
	After      int64             `json:"tokens_after"`
	ToolBlocks int               `json:"tool_blocks_dropped,omitempty"`
	DurationMs int64             `json:"duration_ms"`
	// Elided is the number of bytes cut from old tool results, if that was
	// enough.
	Elided int `json:"elided,omitempty"`
	// Steps are the compactor's own rules that were applied instead.
	Steps []contextir.Step `json:"steps,omitempty"`
	// Summary replaces everything but the newest Kept items; empty if cutting
	// old results was enough.
	Summary string `json:"summary,omitempty"`
	Kept    int    `json:"kept,omitempty"`
	// Words is how many bytes of the user's messages stay beside the summary; 0 means the
	// usual number.
	Words int `json:"words,omitempty"`
	// Message says why it failed, as [Explain] does.
	ID      FailureID `json:"id,omitempty"`
	Args    []string  `json:"args,omitempty"`
	Message string    `json:"message,omitempty"`
}

const (
	// recentResults is how many of the newest tool results stay complete
	// (COM-14).
	recentResults = 5
	// maxTail limits what stays verbatim after a summary, in tokens. The limit
	// is a fifth of the conversation if that is less.
	maxTail = 20_000
	// maxCompactionFailures is the number of failures in a row after which
	// compaction is not tried again (OAS-110).
	maxCompactionFailures = 3
	// restAfterFailures is how long nothing is compacted by itself after a failure that
	// was not the first (OAS-110).
	restAfterFailures = 8 * time.Second
)

// Compact replaces the whole conversation by a summary, between two turns. The
// optional focus names what the summary should keep in particular. The error
// reports misuse, [ErrBusy] or [ErrClosed]; a failure is an event and changes
// nothing.
func (s *Session) Compact(ctx context.Context, focus string) iter.Seq2[Event, error] {
	return s.compacting(ctx, focus, "")
}

// CompactTo is [Session.Compact] with a summary that a person has read: no model is
// asked for one.
func (s *Session) CompactTo(ctx context.Context, summary string) iter.Seq2[Event, error] {
	return s.compacting(ctx, "", summary)
}

func (s *Session) compacting(ctx context.Context, focus, summary string) iter.Seq2[Event, error] {
	return s.turn(ctx, func(t *turn) {
		if s.isOpen() {
			t.yield(Event{}, ErrBusy)
			return
		}
		t.recordSettings()
		t.summary = summary
		t.compact(CompactionStart{Trigger: CompactManual, Tokens: t.nextUsage().Input}, focus)
		t.closeIfAborted()
		t.settle()
	})
}

// compactIfFull compacts a conversation that exceeds the threshold (OAS-108,
// K-08) and reports whether it did. A failed compaction is tried again in the
// next turn, three times in all (OAS-110).
func (t *turn) compactIfFull() bool {
	tr, cfg := &t.session.transcript, t.session.cfg
	if cfg.Compactor == nil || t.uncompacted || tr.past.compaction.rests(cfg.Now()) {
		return false
	}
	window := cfg.Facts.Limits(tr.Settings.Provider, tr.Settings.Model).Window
	threshold, tokens := cfg.Compactor.Threshold(window), t.nextUsage().Input
	if fixed := t.session.window.fixed; threshold > 0 && threshold < 2*fixed { // a small window: half of what is free
		threshold = max(threshold, fixed+(window-fixed)/2)
	}
	if threshold == 0 || t.session.window.cramped() {
		return false
	}
	if tokens < threshold {
		if len(t.session.over()) > 0 {
			t.uncompacted = !t.compact(CompactionStart{Trigger: CompactLimit, Tokens: tokens}, "")
			return !t.uncompacted
		}
		return false
	}
	t.uncompacted = !t.compact(CompactionStart{Trigger: CompactAuto, Tokens: tokens, Threshold: threshold}, "")
	return !t.uncompacted
}

// compactAfter compacts the conversation after a provider has refused it for
// its length, once for each answer (K-08). It reports whether there is
// something new to send.
func (t *turn) compactAfter(model llm.Origin) bool {
	c := t.session.cfg.Compactor
	if c == nil || c.Threshold(0) == 0 || t.overflowed || t.session.transcript.past.compaction.failures >= maxCompactionFailures {
		return false
	}
	t.overflowed = true
	t.emit(Warn(WarnContextOverflow, model.Model))
	return t.compact(CompactionStart{Trigger: CompactOverflow, Tokens: t.nextUsage().Input}, "")
}

// compact compacts the conversation and reports whether it did. Nothing changes
// before the end event is in the log.
func (t *turn) compact(start CompactionStart, focus string) bool {
	advice := t.fire(PreCompactInput{Trigger: start.Trigger, Instructions: focus})
	if advice.Decision == Deny {
		t.emit(Warn(WarnCompactionVetoed, advice.Reason))
		return false
	}
	focus = joined(focus, advice.Context)
	began := t.session.cfg.Now()
	t.emit(start)
	end, err := t.shorten(start, focus)
	switch {
	case err == nil:
		end.Outcome = OutcomeDone
	case t.ctx.Err() != nil:
		end = CompactionEnd{Outcome: OutcomeInterrupted, After: start.Tokens, Message: "It was stopped."}
	default:
		f := Explain(err)
		end = CompactionEnd{Outcome: OutcomeFailed, After: start.Tokens, ID: f.ID, Args: f.Args, Message: f.Message}
	}
	end.Trigger, end.Before = start.Trigger, start.Tokens
	end.DurationMs = t.session.cfg.Now().Sub(began).Milliseconds()
	if err != nil {
		t.phase(PhaseRollback, end)
	}
	t.emit(end)
	if n := t.session.transcript.past.compaction.failures; n == maxCompactionFailures && end.Outcome == OutcomeFailed && start.Trigger != CompactManual {
		t.emit(Warn(WarnCompactionEnds, strconv.Itoa(n)))
	}
	if end.Outcome != OutcomeDone {
		return false
	}
	t.tell(t.fire(PostCompactInput{Trigger: start.Trigger, Summary: end.Summary}).Context)
	return true
}

// shorten cuts old tool results. If that is not enough, or if a person asked
// for a compaction, it has the older part summarised (COM-14, COM-15).
func (t *turn) shorten(start CompactionStart, focus string) (CompactionEnd, error) {
	past := &t.session.transcript.conversation
	if start.Trigger == CompactLimit {
		end := CompactionEnd{Before: start.Tokens, Steps: t.session.over()}
		t.phase(PhaseSelectiveStart, end)
		end = t.session.cut(t.ctx, end)
		t.phase(PhaseSelectiveDone, end)
		return end, nil
	}
	if start.Trigger != CompactManual {
		end := CompactionEnd{Before: start.Tokens, After: start.Tokens}
		t.phase(PhaseSelectiveStart, end)
		end = t.session.selected(t.ctx, start, end)
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

// selected shortens the conversation by rules: the compactor's, if it has any.
func (s *Session) selected(ctx context.Context, start CompactionStart, end CompactionEnd) CompactionEnd {
	tr := &s.transcript
	if c, ok := s.cfg.Compactor.(Selector); ok {
		if rules := c.Rules(); rules != nil {
			end.Steps = tr.conversation.Plan(rules, func(short *contextir.Conversation) bool {
				return tr.scaled(end.Before, short) <= roomy(start)
			})
			return s.cut(ctx, end)
		}
	}
	end.Elided, end.ToolBlocks = tr.conversation.Elidable(recentResults)
	end.After = tr.sizeAfter(end)
	return end
}

// over returns the rules to apply because items of a type take more than they may.
func (s *Session) over() []contextir.Step {
	c, ok := s.cfg.Compactor.(Selector)
	if !ok {
		return nil
	}
	return s.transcript.conversation.Over(c.Rules(), func(bytes int) int64 { return int64(bytes / bytesPerToken) })
}

// cut returns the end of a compaction with its steps applied.
func (s *Session) cut(ctx context.Context, end CompactionEnd) CompactionEnd {
	past, short := &s.transcript.conversation, s.offload(ctx, end.Steps)
	end.After = s.transcript.scaled(end.Before, short)
	end.ToolBlocks = past.Results(0) - short.Results(0) + short.Shortened() - past.Shortened()
	return end
}

// offload has the whole texts kept of what steps shorten, says so in the steps, and returns
// the conversation after them.
func (s *Session) offload(ctx context.Context, steps []contextir.Step) *contextir.Conversation {
	short := s.transcript.conversation.Clone()
	for i, step := range steps {
		for _, it := range short.Shortens(step) {
			if s.cfg.Offload == nil || ctx.Err() != nil {
				break
			}
			if path := s.cfg.Offload(ctx, it.ID(), it.Text()); path != "" {
				if steps[i].Files == nil {
					steps[i].Files = map[string]string{}
				}
				steps[i].Files[it.ID()] = path
			}
		}
		short.Apply(steps[i])
	}
	return short
}

// roomy is the target size of a compaction. It is well below the size that
// triggered it, so that the next one is many rounds away.
func roomy(start CompactionStart) int64 {
	if start.Trigger == CompactAuto {
		return start.Threshold / 2
	}
	return start.Tokens / 2
}

// summarise has the model summarise everything but the newest items.
func (t *turn) summarise(start CompactionStart, focus string, keep int) (CompactionEnd, error) {
	tr, cfg := &t.session.transcript, t.session.cfg
	end := CompactionEnd{Before: start.Tokens, After: start.Tokens, Kept: keep}
	before, messages := tr.conversation.Older(keep)
	switch {
	case len(messages) > 0 && t.summary != "":
		return tr.replaced(end, t.summary, start.Tokens)
	case cfg.Compactor == nil:
		return end, failedError(FailureNoCompactor)
	case len(messages) == 0:
		return end, failedError(FailureNothingToCompact)
	case !t.session.Affords(llm.Origin{Provider: tr.Settings.Provider, Model: tr.Settings.Model}, tr.conversation.Bytes()):
		return end, failedError(FailureCompactionBudget)
	}
	limit := start.Tokens
	if start.Trigger != CompactManual { // in a small window words take an eighth, and a smaller gain would soon need another, paid summary
		limit = cmp.Or(start.Threshold, start.Tokens)
		end.Words, limit = int(limit)*bytesPerToken/8, limit/10*9
	}
	if least := (CompactionEnd{Before: start.Tokens, Summary: "-", Kept: keep, Words: end.Words}); tr.sizeAfter(least) >= limit {
		return end, failedError(FailureTooLittle) // so nothing is paid for
	}
	t.phase(PhaseSummaryStart, end)
	t.settle()
	got, err := cfg.Compactor.Summarise(t.ctx, SummaryRequest{
		Settings: tr.Settings, Window: cfg.Facts.Limits(tr.Settings.Provider, tr.Settings.Model).Window,
		Before: before, Messages: messages, Focus: focus,
	})
	for _, paid := range got.SideRequests(t.session.price) {
		t.emit(paid)
	}
	if err != nil {
		return end, err
	}
	if end, err = tr.replaced(end, got.Text, limit); err == nil {
		t.phase(PhaseSummaryDone, end)
	}
	return end, err
}

// replaced returns the end of a compaction with a summary, which has to leave less than
// limit tokens.
func (t *Transcript) replaced(end CompactionEnd, summary string, limit int64) (CompactionEnd, error) {
	end.Summary, end.ToolBlocks = summary, t.conversation.Results(end.Kept)
	if end.After = t.sizeAfter(end); end.After >= limit {
		return end, failedError(FailureSummaryTooLong)
	}
	return end, nil
}

// AfterCompaction estimates the tokens of the context after a summary replaces
// everything but the newest kept items and those that are pinned. Now is its size before.
func (t *Transcript) AfterCompaction(now int64, summary string, kept int) int64 {
	return t.sizeAfter(CompactionEnd{Before: now, Summary: summary, Kept: kept})
}

func (t *turn) phase(p Phase, end CompactionEnd) {
	t.emit(CompactionPhase{Phase: p, Before: end.Before, After: end.After, ToolBlocks: end.ToolBlocks})
}

// sizeAfter estimates the tokens of the next request after a compaction. Its
// other parts keep their size.
func (t *Transcript) sizeAfter(end CompactionEnd) int64 {
	short := t.conversation.Clone()
	end.apply(short, t.past.compaction.files)
	return t.scaled(end.Before, short)
}

// scaled estimates the tokens of the next request with a shorter conversation.
func (t *Transcript) scaled(before int64, short *contextir.Conversation) int64 {
	whole := int64(max(1, t.conversation.Bytes()))
	held := min(before, whole/bytesPerToken)
	return before - held + held*int64(short.Bytes())/whole
}

// apply applies a compaction's result to a conversation.
func (e CompactionEnd) apply(c *contextir.Conversation, files []string) {
	if e.Summary != "" {
		c.CompactWithin(e.Summary, e.Kept, files, e.Words)
		return
	}
	c.DropNative() // a provider's reasoning is bound to what it had read
	for _, step := range e.Steps {
		c.Apply(step)
	}
	c.Elide(e.Elided)
}

// cut returns the end of a compaction that a crash interrupted.
func (c CompactionStart) cut() CompactionEnd {
	return CompactionEnd{
		Trigger: c.Trigger, Outcome: OutcomeInterrupted, Before: c.Tokens, After: c.Tokens,
		Message: "The program ended before it was done.",
	}
}

// compaction is the state that the next compaction needs.
type compaction struct {
	open     *CompactionStart // under way
	failures int              // in a row, of which the newest
	failedAt time.Time        // was then
	paused   bool             // a person took one back
	files    []string         // changed by calls, the newest last
}

// rests reports whether no compaction may begin by itself.
func (c *compaction) rests(now time.Time) bool {
	return c.paused || c.failures >= maxCompactionFailures || c.failures > 1 && now.Sub(c.failedAt) < restAfterFailures
}

// changedFiles is how many files a summary names.
const changedFiles = 20

// applyCompaction folds in the end of a compaction, which was at a Unix time in milliseconds.
func (t *Transcript) applyCompaction(end CompactionEnd, at int64) {
	t.past.compaction.open = nil
	if end.Trigger == CompactManual {
		t.State, t.past.held = StateIdle, t.past.held || end.Outcome != OutcomeDone
	}
	switch {
	case end.Outcome == OutcomeDone:
		end.apply(&t.conversation, t.past.compaction.files)
		t.Context, t.tally, t.past.compaction.failures = end.After, tally{items: t.conversation.Len()}, 0
		t.past.compaction.paused = false
		t.forgetUpdates()
		if end.Summary != "" {
			t.remindOfKept()
		}
	case end.Outcome == OutcomeFailed && end.Trigger != CompactManual:
		t.past.compaction.failures++
		t.past.compaction.failedAt = time.UnixMilli(at)
	}
}

// noteChanges remembers the files that a call changed.
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
