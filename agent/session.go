package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
)

// Config is what a host gives a session. Model, Profiles and Gate are required.
// Each session needs its own Gate and Profiles, unless they are safe for
// concurrent use and may share their memory.
type Config struct {
	ID       string // made up where it is empty
	Model    Model
	Profiles Profiles
	Gate     Gate
	// Settings are what a session begins with; without a model, [Session.Configure]
	// has to name one. The settings of a past win over them.
	Settings Settings
	// Approver asks a person. If it is nil, calls that need an approval are
	// denied.
	Approver Approver
	Limits   Limits
	// Retry says when a failed request is sent again; the zero value means
	// never.
	Retry llm.RetryPolicy
	// Reduce cuts a tool's output to the text that the model is shown. The
	// model sees nothing else, even if that text is empty, and sees nothing if
	// Reduce panics. wanted is [Result.Wanted]. A nil Reduce keeps the whole
	// output (LOOP-38). It must be safe for concurrent use.
	Reduce func(tool, output string, wanted int) string
	// Shorten returns what the model is told of a long result before Reduce cuts it, nil if it
	// stays. It passes on what that took, and must be safe for concurrent use; nil keeps all.
	Shorten func(ctx context.Context, tool, output string, spent func(SideRequest)) *string
	// Options go into every request to a provider, by its name, and override
	// those of the model's profile.
	Options map[string]ProviderOptions
	// Facts is what the host knows about models; nil means that it knows
	// nothing.
	Facts ModelFacts
	// Hooks run at the points of the session; nil means none.
	Hooks Hooks
	// Recorder records what calls do to files; nil means that nothing does.
	Recorder Recorder
	// Rewritten is told what a step did to files: by names a hook, and is empty for a call
	// or a command. It returns what the model is told of files that it knows; nil tells
	// nothing. It must be safe for concurrent use.
	Rewritten func(ctx context.Context, by string, files []FileRecord) string
	// Compactor compacts long conversations; nil means that nothing does.
	Compactor Compactor
	// Offload keeps the text of a tool's result which a compaction shortens, and returns the
	// path at which the model can read it; empty if it is not kept, or nil is set. Item names
	// the result. It must be safe for concurrent use.
	Offload func(ctx context.Context, item, text string) (path string)
	// Attach returns what is sent behind a queued message, such as the files that it
	// mentions, as they are when the message is delivered, and the pictures that go with it;
	// nil means that nothing is. A message with a skill is complete, so Attach does not see it.
	Attach func(ctx context.Context, text string) (string, []llm.Media)
	// News has what the model is told between its rounds though no person wrote it, each text
	// as a [Reminder]; nil if there never is anything. Waits reports whether Take would
	// return anything. It must be safe for concurrent use.
	News interface {
		Waits() bool
		Take() []string
	}
	// Remind returns what the model is reminded of before a request, each text as a [Reminder]; nil
	// reminds of nothing (COM-26). See package remind.
	Remind func(*contextir.Conversation) []string
	// CleanUp ends whatever tools left running, before the session closes; nil if
	// there cannot be anything (LOOP-54). It may be called more than once.
	CleanUp func(context.Context)
	// Now and NewID are the session's clock and its source of ids. If they are
	// nil, the system clock and random ids are used.
	Now   func() time.Time
	NewID func() string
}

// Limits bound a session. If no field is set, [DefaultLimits] apply. Once a
// field is set, a 0 in another field has the meaning that its comment gives.
// [New] refuses negative limits.
type Limits struct {
	Rounds int // tool rounds in one turn; 0 means unlimited (LOOP-104)
	Turns  int // assistant messages in total; 0 means unlimited (LOOP-105)
	// Continuations is how often in a row the model is asked to continue an
	// answer that reached its length limit; 0 means never (OAS-112, K-29).
	Continuations int
	// LoopWindow is how many calls are checked for a repetition; 0 switches the
	// check off (LOOP-20).
	LoopWindow int
	// Budget limits the cost of all requests together; 0 means unlimited
	// (OAS-115).
	Budget llm.Cost
	// OthersCost returns what other sessions have spent of the same budget, such
	// as the agents that this one started; nil if there are none.
	OthersCost func() llm.Cost
	// Admit is asked before each request, with what was spent, the estimate for the request and the
	// budget; nil means nobody is. It returns what the request may cost, or the limit, of what the
	// session shares with others, that keeps it from being made.
	Admit func(spent, next, budget llm.Cost) (most llm.Cost, over *TurnLimit)
}

// DefaultLimits are those of the loop specification (LOOP-04, K-06).
var DefaultLimits = Limits{Rounds: 200, Continuations: 3, LoopWindow: defaultLoopWindow}

// orDefault returns the default limits if no field is set.
func (l Limits) orDefault() Limits {
	if l.Rounds != 0 || l.Turns != 0 || l.Continuations != 0 || l.LoopWindow != 0 || l.Budget != 0 {
		return l
	}
	others, admit := l.OthersCost, l.Admit
	l = DefaultLimits
	l.OthersCost, l.Admit = others, admit
	return l
}

// check returns an error that names the first negative limit.
func (l Limits) check() error {
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"Rounds", int64(l.Rounds)}, {"Turns", int64(l.Turns)}, {"Continuations", int64(l.Continuations)},
		{"LoopWindow", int64(l.LoopWindow)}, {"Budget", int64(l.Budget)},
	} {
		if limit.value < 0 {
			return fmt.Errorf("the limit %s is negative: %d", limit.name, limit.value)
		}
	}
	return nil
}

// Session is one conversation and its loop. One goroutine owns it: the one that
// calls Run, RunCommand, Compact, Resume, Record, RecordSettings, Affords,
// Close and Transcript. Configure, Asked, Latest, Steer, FollowUp, Queue, Interrupt,
// Abort and Suspend are safe from any goroutine.
type Session struct {
	cfg        Config
	transcript Transcript
	fitted     fitted
	shown      shown
	window     window
	full       bool   // the context is close to the window's size; see watchContext
	dir        string // of the newest command; empty for the session's own folder
	queue      Queue
	control    control
	beside     beside
	left       *left // of the turn that a call moved elsewhere; nil without one
}

// control is the state that other goroutines may reach.
type control struct {
	mu       sync.Mutex
	cancel   context.CancelCauseFunc // of the current turn, else nil
	settings *Settings               // requested, not yet recorded
	latest   Settings                // those, or else the recorded ones
	canUse   CanUseTool              // nil if nobody is asked
}

// New returns a session with the given past, which is empty for a new one. Models are
// not told of what a [Rewound] in it took back. The error names what the configuration lacks.
func New(cfg Config, past ...Event) (*Session, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	s := &Session{cfg: cfg}
	copied, taken := copiedEvents(past), TakenBack(past)
	for i, ev := range past {
		switch {
		case taken(ev.Seq) && ev.Kind() != KindSettings:
			s.transcript.ApplyTakenBack(ev)
		case i < copied:
			s.fold(ev) // what a person allowed there is not allowed here
		default:
			s.apply(ev)
		}
	}
	if s.transcript.Settings.Model == "" && cfg.Settings.Model != "" {
		s.Configure(cfg.Settings)
	}
	return s, nil
}

// complete fills in defaults.
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
	if err := cmp.Or(checkOptions(c.Options), c.Limits.check()); err != nil {
		return c, fmt.Errorf("make session: %w", err)
	}
	options := make(map[string]ProviderOptions, len(c.Options))
	for provider, o := range c.Options {
		options[provider] = o.over(ProviderOptions{}) // a copy, which nobody else can change
	}
	c.Options = options
	if c.Approver == nil {
		c.Approver = unattended
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

// unattended is the approver if there is nobody to ask.
var unattended = ApproverFunc(func(context.Context, ApprovalRequest) (Answer, error) {
	return Answer{}, errors.New("it runs unattended")
})

// apply folds an event into the session. It also passes allows for the session
// to the gate, so that they survive reopening. Where an answer has a rule, the host
// has stored it and the gate knows it.
func (s *Session) apply(ev Event) {
	if a, ok := ev.Data.(ApprovalAnswer); ok && a.Answer.Decision == Allow && a.Answer.Scope == ScopeSession && a.Answer.Rule == "" {
		if c := s.transcript.openCall(a.CallID); c != nil && c.request != nil {
			if g, ok := s.cfg.Gate.(Granter); ok {
				g.Grant(c.request.gateCall())
			}
		}
	}
	s.fold(ev)
}

// fold is apply without the allows.
func (s *Session) fold(ev Event) {
	s.transcript.Apply(ev)
	if _, ok := ev.Data.(SettingsChange); ok {
		s.control.mu.Lock()
		defer s.control.mu.Unlock()
		if s.control.settings == nil {
			s.control.latest = s.transcript.Settings
		}
	}
}

// Transcript returns the fold of the session's events so far.
func (s *Session) Transcript() *Transcript { return &s.transcript }

// Record stamps an event outside a turn, applies it and returns it for storing.
func (s *Session) Record(p Payload) Event {
	ev := Event{Session: s.cfg.ID, Turn: s.transcript.Turn, At: s.cfg.Now().UnixMilli(), Data: p}
	s.apply(ev)
	return ev
}

// Configure changes the settings. The permission mode holds at once; the other
// settings hold from the next round, which also records the change (LOOP-137).
func (s *Session) Configure(set Settings) {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	s.control.configure(set)
}

func (c *control) configure(set Settings) {
	set.Mode = cmp.Or(set.Mode, ModeDefault)
	if set.Mode != cmp.Or(c.latest.Mode, ModeDefault) {
		c.canUse = nil
	}
	c.settings, c.latest = &set, set
}

// Queue returns the messages that wait for delivery.
func (s *Session) Queue() *Queue { return &s.queue }

// Asked returns requested settings that are not recorded yet. A host that
// reopens the session passes them on.
func (s *Session) Asked() (Settings, bool) {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	if s.control.settings == nil {
		return Settings{}, false
	}
	return *s.control.settings, true
}

// Latest returns the settings that were requested last, recorded or not.
func (s *Session) Latest() Settings {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	return s.control.latest
}

// Steer queues a message for the model. It is delivered after the running
// tools, or with the next input if none are running (LOOP-14).
func (s *Session) Steer(text string) {
	s.queue.Add(Queued{ID: s.cfg.NewID(), Verb: Steer, Text: text})
}

// FollowUp queues an input to run after the current turn (LOOP-15). If no turn
// is running, RunQueued runs it.
func (s *Session) FollowUp(text string) {
	s.queue.Add(Queued{ID: s.cfg.NewID(), Verb: FollowUp, Text: text})
}

// Interrupt ends the current turn, if there is one. It closes the model's
// stream and stops tools; their output so far is kept, and the session can
// continue (K-09).
func (s *Session) Interrupt() {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	if s.control.cancel != nil {
		s.control.cancel(ErrInterrupted)
	}
}

// Abort interrupts the current turn and closes the session with it, once its
// processes have ended (LOOP-17, LOOP-54). Without a current turn it does
// nothing; use [Session.Close] then.
func (s *Session) Abort() {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	if s.control.cancel != nil {
		s.control.cancel(errAborted)
	}
}

// Close closes a session at rest: it runs the end hooks, ends whatever tools
// left running and returns the events for storing; none if the session was
// already closed (LOOP-54, LOOP-159). To continue, open the session again from
// its events.
func (s *Session) Close(ctx context.Context) []Event {
	if s.transcript.State == StateClosed {
		return nil
	}
	var events []Event
	ended, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	s.fire(ended, SessionEndInput{Reason: "closed"}, func(p Payload) {
		if ev := s.Record(p); ev.Durable() {
			events = append(events, ev)
		}
	})
	s.cleanUp(ctx)
	ends, _ := s.besides()
	for _, end := range ends {
		events = append(events, s.Record(end))
	}
	return append(events, s.Record(SessionEnd{State: s.transcript.State}))
}

// cleanUp ends whatever tools left running.
func (s *Session) cleanUp(ctx context.Context) {
	if s.cfg.CleanUp != nil {
		s.cfg.CleanUp(ctx)
	}
}

// Suspend stops the current turn. If the turn waits for a person, it stays open
// in the log, and [Session.Resume] continues it, even after a restart. Any
// other turn is interrupted.
func (s *Session) Suspend() {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	if s.control.cancel != nil {
		s.control.cancel(ErrSuspended)
	}
}

// RecordSettings records settings that Configure requested and that are not in
// the log yet. It reports false if there are none.
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
