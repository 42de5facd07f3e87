package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"atelier.dev/atelier/agent/llm"
)

// Config is what a host gives a session. Model, Profiles and Gate are required.
// A session has its own Gate and Profiles unless theirs are safe for concurrent
// use and may share what they remember.
type Config struct {
	ID       string // made up where it is empty
	Model    Model
	Profiles Profiles
	Gate     Gate
	// Approver asks a person; nil where there is nobody, so that what needs an
	// approval is denied.
	Approver Approver
	Limits   Limits
	// Retry says when a failed request is asked again; the zero value never.
	Retry llm.RetryPolicy
	// Reduce cuts a tool's output to what the model is shown: nothing more, also
	// where that is empty, and nothing at all if it panics. wanted is
	// [Result.Wanted]. nil keeps the output whole (LOOP-38). It is safe for
	// concurrent use.
	Reduce func(tool, output string, wanted int) string
	// Options go into every request to a provider, by its name, over those of the
	// model's profile.
	Options map[string]ProviderOptions
	// Facts is what is known about models; nil where nothing is.
	Facts Facts
	// Hooks are run at the moments of the session; nil where there are none.
	Hooks Hooks
	// Compactor makes long conversations short; nil where nothing does.
	Compactor Compactor
	// Leave ends what tools left running, before the session is closed; nil
	// where nothing can be (LOOP-54). It may be called again.
	Leave func(context.Context)
	// Now and NewID are the session's clock and its source of ids: the machine's
	// and random ones where they are nil.
	Now   func() time.Time
	NewID func() string
}

// Limits bound a session. Where none of them is set they are [DefaultLimits];
// where one is, a 0 in another means what that says.
type Limits struct {
	Rounds int // tool rounds in one turn; 0 for any number (LOOP-104)
	Turns  int // assistant messages in all; 0 for any number (LOOP-105)
	// Continuations is how often in a row the model is asked to go on where its
	// answer reached its length limit; 0 for never (OAS-112, K-29).
	Continuations int
	// LoopWindow is how many calls are looked at for a repetition; 0 for none
	// (LOOP-20).
	LoopWindow int
	// Budget is what all requests together may cost; 0 for any sum (OAS-115).
	Budget llm.Cost
	// Beside says what was spent on the session's account by others, such as
	// the agents that it started; nil where nobody does.
	Beside func() llm.Cost
}

// DefaultLimits are those of the loop specification (LOOP-04, K-06).
var DefaultLimits = Limits{Rounds: 200, Continuations: 3, LoopWindow: defaultLoopWindow}

// orDefault fills in limits of which none is set.
func (l Limits) orDefault() Limits {
	if l.Rounds != 0 || l.Turns != 0 || l.Continuations != 0 || l.LoopWindow != 0 || l.Budget != 0 {
		return l
	}
	beside := l.Beside
	l = DefaultLimits
	l.Beside = beside
	return l
}

// Session is one conversation and the loop that carries it on. One goroutine
// owns it: the one that calls Run, RunCommand, Compact, Resume, Record,
// RecordSettings, Affords, Close and Transcript. Configure, Asked, Steer,
// FollowUp, Queue, Interrupt, Abort and Suspend are safe from any goroutine.
type Session struct {
	cfg        Config
	transcript Transcript
	fitted     fitted
	full       bool // the context fills the window; see watchContext
	queue      Queue
	control    control
}

// control is what other goroutines may reach.
type control struct {
	mu       sync.Mutex
	cancel   context.CancelCauseFunc // of the turn under way, else nil
	settings *Settings               // asked for, not yet recorded
}

// New returns a session with the given past: none for a new one. The error names
// what the configuration lacks.
func New(cfg Config, past ...Event) (*Session, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	s := &Session{cfg: cfg}
	for _, ev := range past {
		s.apply(ev)
	}
	return s, nil
}

// complete fills in what was left out.
func (c Config) complete() (Config, error) {
	var missing []string
	for _, required := range []struct {
		name   string
		absent bool
	}{{"Model", c.Model == nil}, {"Profiles", c.Profiles == nil}, {"Gate", c.Gate == nil}} {
		if required.absent {
			missing = append(missing, required.name)
		}
	}
	if len(missing) > 0 {
		return c, fmt.Errorf("make session: its configuration has no %s", strings.Join(missing, ", no "))
	}
	if err := checkOptions(c.Options); err != nil {
		return c, fmt.Errorf("make session: %w", err)
	}
	options := make(map[string]ProviderOptions, len(c.Options))
	for provider, o := range c.Options {
		options[provider] = o.over(ProviderOptions{}) // which nobody can change any more
	}
	c.Options = options
	if c.Approver == nil {
		c.Approver = unattended{}
	}
	if c.Facts == nil {
		c.Facts = noFacts{}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = newID
	}
	if c.ID == "" {
		c.ID = c.NewID()
	}
	c.Limits = c.Limits.orDefault()
	return c, nil
}

// newID returns a random id that sorts by time.
func newID() string { return ulid.Make().String() }

// unattended is the approver where there is nobody to ask.
type unattended struct{}

func (unattended) Approve(context.Context, ApprovalRequest) (Answer, error) {
	return Answer{}, errors.New("nobody watches this session")
}

// apply folds an event into the session. Allows that hold for the session are
// handed to the gate here, so that they survive reopening.
func (s *Session) apply(ev Event) {
	if a, ok := ev.Data.(ApprovalAnswer); ok && a.Answer.Decision == Allow && a.Answer.Scope == ScopeSession {
		if c := s.transcript.openCall(a.CallID); c != nil && c.request != nil {
			if g, ok := s.cfg.Gate.(Granter); ok {
				g.Grant(c.request.gateCall())
			}
		}
	}
	s.transcript.Apply(ev)
}

// Transcript returns what the session's events add up to so far.
func (s *Session) Transcript() *Transcript { return &s.transcript }

// Record stamps an event that happens outside a turn, applies it and returns
// it for storing.
func (s *Session) Record(p Payload) Event {
	ev := Event{Session: s.cfg.ID, Turn: s.transcript.Turn, At: s.cfg.Now().UnixMilli(), Data: p}
	s.apply(ev)
	return ev
}

// Configure changes the settings. The permission mode holds at once, the rest
// from the next round; the change is recorded there (LOOP-137).
func (s *Session) Configure(set Settings) {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	s.control.settings = &set
}

// Queue holds what is to be delivered to the session while it works, or once
// it has.
func (s *Session) Queue() *Queue { return &s.queue }

// Asked returns the settings that were asked for and are not recorded yet. A
// host that opens the session anew hands them on.
func (s *Session) Asked() (Settings, bool) {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	if s.control.settings == nil {
		return Settings{}, false
	}
	return *s.control.settings, true
}

// Steer adds a message for the model, delivered after the tools that are
// running, or with the next input if none are (LOOP-14).
func (s *Session) Steer(text string) {
	s.queue.Add(Queued{ID: s.cfg.NewID(), Verb: Steer, Text: text})
}

// FollowUp adds an input for when the turn under way is done (LOOP-15). Where
// none is, RunQueued runs it.
func (s *Session) FollowUp(text string) {
	s.queue.Add(Queued{ID: s.cfg.NewID(), Verb: FollowUp, Text: text})
}

// Interrupt ends the turn under way, if there is one: the model's stream is
// closed, tools are stopped, what they gave is kept, and the session can go on
// (K-09).
func (s *Session) Interrupt() {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	if s.control.cancel != nil {
		s.control.cancel(ErrInterrupted)
	}
}

// Abort is Interrupt for good: the session is closed with the turn, once its
// processes are gone (LOOP-17, LOOP-54). Where no turn is under way it does
// nothing; then [Session.Close] closes it.
func (s *Session) Abort() {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	if s.control.cancel != nil {
		s.control.cancel(errAborted)
	}
}

// Close closes a session at rest: it runs the hooks of its end, ends what its
// tools left running and returns the events for storing, none where it was
// closed already (LOOP-54, LOOP-159). To go on, open it again from its events.
func (s *Session) Close(ctx context.Context) []Event {
	if s.transcript.State == StateClosed {
		return nil
	}
	var events []Event
	s.fire(ctx, HookCall{Point: HookSessionEnd}, func(p Payload) {
		if ev := s.Record(p); ev.Durable() {
			events = append(events, ev)
		}
	})
	s.leave(ctx)
	return append(events, s.Record(SessionEnd{State: s.transcript.State}))
}

// leave ends what tools left running.
func (s *Session) leave(ctx context.Context) {
	if s.cfg.Leave != nil {
		s.cfg.Leave(ctx)
	}
}

// Suspend ends the turn under way without ending it in the log, if it waits for
// a person: [Session.Resume] carries it on, after a restart if need be. Any
// other turn is interrupted.
func (s *Session) Suspend() {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	if s.control.cancel != nil {
		s.control.cancel(ErrSuspended)
	}
}

// Run takes one input to its end, and after it those that were queued to follow
// it, and yields every event on the way, in the caller's goroutine (LOOP-07,
// LOOP-08, LOOP-152). What is queued stays so after an interrupt, a failure or
// a limit. A provider's failure is an event; the
// error is for misuse: [ErrBusy] or [ErrClosed]. If the caller stops ranging,
// the turn is abandoned where it is: nothing runs on.
func (s *Session) Run(ctx context.Context, input string) iter.Seq2[Event, error] {
	return s.turn(ctx, func(t *turn) { t.process(Queued{Text: input}) })
}

// RunQueued is Run with the first input that is queued to follow. Where there
// is none it yields nothing.
func (s *Session) RunQueued(ctx context.Context) iter.Seq2[Event, error] {
	return s.turn(ctx, func(t *turn) {
		if next, ok := s.queue.takeFollowUp(); ok {
			t.process(next)
		}
	})
}

// Continue carries on the newest turn where something other than its own end
// stopped it, a limit, a failure or the user, with its limits anew (K-06). The
// error is for misuse: [ErrBusy], [ErrClosed] or [ErrDone].
func (s *Session) Continue(ctx context.Context) iter.Seq2[Event, error] {
	return s.turn(ctx, func(t *turn) {
		if end := s.transcript.LastEnd; end == "" || end == EndDone {
			t.yield(Event{}, ErrDone)
			return
		}
		t.emit(TurnContinued{})
		t.pickUp()
		t.toRest(t.loop())
	})
}

// Resume carries on a turn that was open when its session was last stored.
// Calls that wait for a person go on waiting, under the same request; calls
// that had started are answered as interrupted, because whether they had an
// effect is unknown, but for those that only read, which are run again. With
// nothing to wait for, the turn ends as crashed. A command of the user's that was
// cut off ends as interrupted. Where nothing is open it yields nothing.
func (s *Session) Resume(ctx context.Context) iter.Seq2[Event, error] {
	return s.turn(ctx, func(t *turn) {
		if c := s.transcript.past.compaction.open; c != nil {
			t.emit(c.cut())
		}
		switch {
		case s.transcript.past.command != nil:
			t.cutOff(*s.transcript.past.command)
		case s.transcript.State != StateIdle:
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

// settings returns what holds now, recorded or not.
func (s *Session) settings() Settings {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	if s.control.settings != nil {
		return *s.control.settings
	}
	return s.transcript.Settings
}

// RecordSettings records settings that were asked for by Configure and are not
// in the log yet. It reports false where there are none.
func (s *Session) RecordSettings() (Event, bool) {
	s.control.mu.Lock()
	set := s.control.settings
	s.control.settings = nil
	s.control.mu.Unlock()
	if set == nil || *set == s.transcript.Settings {
		return Event{}, false
	}
	if before := s.transcript.Settings; before.Model != "" && (before.Provider != set.Provider || before.Model != set.Model) {
		slog.Info("model switched", "module", "agent", "session", s.cfg.ID,
			"from", before.Provider+"/"+before.Model, "to", set.Provider+"/"+set.Model)
	}
	return s.Record(SettingsChange{Settings: *set}), true
}
