package live_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/storage"
)

// failing is a log with some failing methods.
type failing struct {
	*storage.Store
	mu    sync.Mutex
	fails map[string]error
	first map[string]int // how many calls succeed first
}

func (f *failing) set(method string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fails[method] = err
}

func (f *failing) err(method string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails[method] != nil && f.first[method] > 0 {
		f.first[method]--
		return nil
	}
	return f.fails[method]
}

func (f *failing) Append(ctx context.Context, events ...agent.Event) (int64, error) {
	for _, ev := range events {
		err := errors.Join(f.err("append"), f.err("append "+string(ev.Kind())))
		if r, ok := ev.Data.(agent.SideRequest); ok {
			err = errors.Join(err, f.err("append "+string(r.Purpose)))
		}
		if err != nil {
			return 0, err
		}
	}
	return f.Store.Append(ctx, events...)
}

func (f *failing) Events(ctx context.Context, r backend.EventRange) ([]agent.Event, error) {
	if err := f.err("events"); err != nil {
		return nil, err
	}
	return f.Store.Events(ctx, r)
}

func (f *failing) Session(ctx context.Context, id string) (backend.SessionInfo, error) {
	if err := f.err("session"); err != nil {
		return backend.SessionInfo{}, err
	}
	return f.Store.Session(ctx, id)
}

func (f *failing) Queue(ctx context.Context, session string) ([]agent.Queued, error) {
	if err := f.err("queue"); err != nil {
		return nil, err
	}
	return f.Store.Queue(ctx, session)
}

func (f *failing) Lease(session string) (func(), error) {
	if err := f.err("lease"); err != nil {
		return nil, err
	}
	return f.Store.Lease(session)
}

// stage is a set of sessions, among them "a", on a script and a log that fails.
type stage struct {
	t        *testing.T
	log      *failing
	model    *llmtest.Model
	sessions *live.Sessions
	shown    chan agent.Event
	hooks    agent.Hooks // of sessions that are read from now on
}

func newStage(t *testing.T, change func(*live.Config), rounds ...llmtest.Round) *stage {
	t.Helper()
	store, err := storage.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, log: &failing{Store: store, fails: map[string]error{}, first: map[string]int{}}, model: llmtest.Script(rounds...), shown: make(chan agent.Event, 1000)}
	cfg := live.Config{
		Log: s.log, Check: func(backend.SessionInfo) error { return s.log.err("check") },
		Build: func(_ context.Context, info backend.SessionInfo, past []agent.Event, approver agent.Approver) (*agent.Session, error) {
			if err := s.log.err("panic"); err != nil {
				panic(err)
			}
			tools, err := agent.NewRegistry()
			if err != nil {
				return nil, err
			}
			built, err := agent.New(agent.Config{
				ID: info.ID, Model: s.model, Gate: agent.AllowAll, Approver: approver, Profiles: agent.Plain("Be brief.", tools), Hooks: s.hooks,
			}, past...)
			return built, errors.Join(err, s.log.err("build"))
		},
		Start:   func(resumed bool) agent.SessionStart { return agent.SessionStart{Folder: "/p", Resumed: resumed} },
		Show:    func(ev agent.Event) { s.shown <- ev },
		CleanUp: func(context.Context, string) {}, Occupied: func(string) bool { return false },
	}
	if change != nil {
		change(&cfg)
	}
	s.sessions = live.New(cfg)
	t.Cleanup(func() {
		_ = s.sessions.Close(context.Background())
		_ = store.Close()
	})
	s.create("a", nil)
	return s
}

func (s *stage) create(id string, helper *agent.Helper) {
	s.t.Helper()
	set := agent.Settings{Provider: llmtest.Provider, Model: "m", Mode: agent.ModeDefault}
	if err := s.log.CreateSession(s.t.Context(), backend.SessionInfo{ID: id, Folder: "/p", State: agent.StateIdle, Settings: set, Helper: helper}); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.log.Store.Append(s.t.Context(), agent.Event{Session: id, Data: agent.SettingsChange{Settings: set}}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) open(id string) (*live.Session, func()) {
	s.t.Helper()
	l, release, err := s.sessions.Open(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return l, release
}

func run(text string) live.Turn {
	return func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] { return s.Run(ctx, text) }
}

// turn runs one turn to its end.
func (s *stage) turn(l *live.Session, text string) {
	s.t.Helper()
	if err := l.Start(run(text)); err != nil {
		s.t.Fatal(err)
	}
	s.await(agent.KindProcessingEnd)
	if err := l.Wait(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// await returns the next shown event of a kind.
func (s *stage) await(kind agent.Kind) agent.Event {
	s.t.Helper()
	for {
		select {
		case ev := <-s.shown:
			if ev.Kind() == kind {
				return ev
			}
		case <-s.t.Context().Done():
			s.t.Fatalf("no %s was shown", kind)
		}
	}
}

// kinds returns the kinds of a session's events, without settings, briefings
// and titles.
func (s *stage) kinds(id string) (out []agent.Kind) {
	s.t.Helper()
	events, err := s.log.Store.Events(context.Background(), backend.EventRange{Session: id})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, ev := range events {
		if k := ev.Kind(); !slices.Contains([]agent.Kind{agent.KindSettings, agent.KindBriefing, agent.KindTitle}, k) {
			out = append(out, k)
		}
	}
	return out
}

var errDisk = errors.New("the disk is on fire")

// A session that cannot be read is reported and leaves nothing behind: it can
// be opened once it is readable.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"session", "events", "queue", "check", "build", "panic"} {
		left := make(chan string, 9)
		s := newStage(t, func(cfg *live.Config) { cfg.CleanUp = func(_ context.Context, id string) { left <- id } })
		s.log.set(what, errDisk)
		_, _, err := s.sessions.Open(t.Context(), "a")
		if err == nil || what != "panic" && !errors.Is(err, errDisk) {
			t.Errorf("%s: opened with %v", what, err)
		}
		<-left
		s.log.set(what, nil)
		if _, err := s.sessions.CloseAtRest(t.Context(), []string{"a"}); err != nil { // which waits until the failed one is gone
			t.Fatal(err)
		}
		_, release := s.open("a")
		release()
	}
}

// While all sessions are being closed, none is opened, and none accepts a turn.
func TestClosedSessions(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	l, release := s.open("a")
	defer release()
	if err := s.sessions.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.sessions.Open(t.Context(), "a"); code(err) != backend.CodeBusy {
		t.Errorf("opened with %v", err)
	}
	if err := l.Start(run("go")); code(err) != backend.CodeBusy || l.Busy() {
		t.Errorf("started with %v, busy %t", err, l.Busy())
	}
	if got := s.kinds("a"); got != nil {
		t.Errorf("the log has %v", got)
	}
}

func code(err error) backend.Code {
	var e *backend.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// A session that hangs at its end keeps nobody waiting longer than their
// context lasts.
func TestSlowEnd(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	s := newStage(t, func(cfg *live.Config) { cfg.CleanUp = func(context.Context, string) { <-hang } })
	s.create("h", &agent.Helper{Parent: "a"})
	for _, id := range []string{"a", "h"} {
		_, release := s.open(id)
		release()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.sessions.CloseStartedBy(ctx, "a")
	if closed, err := s.sessions.CloseAtRest(ctx, []string{"a"}); closed || !errors.Is(err, context.Canceled) {
		t.Errorf("closed for deletion: %t, %v", closed, err)
	}
	if _, _, err := s.sessions.Open(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("opened with %v", err)
	}
	if err := s.sessions.Close(ctx); err == nil {
		t.Error("all are closed")
	}
	close(hang)
	if err := s.sessions.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A turn that cannot begin or be saved is reported. The session is at rest,
// saved events stay, and the next turn continues from them.
func TestUnsavedTurn(t *testing.T) {
	t.Parallel()
	for what, kept := range map[string][]agent.Kind{
		"lease": nil, "append": nil, "append " + string(agent.KindTextEnd): {agent.KindUserInput},
	} {
		s := newStage(t, nil, llmtest.Round{Text: "Lost."}, llmtest.Round{Text: "Done."})
		l, release := s.open("a")
		s.log.set(what, errDisk)
		if err := l.Start(run("go")); what == "lease" {
			if !errors.Is(err, errDisk) || l.Busy() {
				t.Errorf("%s: started with %v, busy %t", what, err, l.Busy())
			}
		} else if end := s.await(agent.KindProcessingEnd); end.Data.(agent.ProcessingEnd).Reason != agent.EndFailed {
			t.Errorf("%s: %+v", what, end)
		}
		if err := l.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(kept, s.kinds("a")); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		s.log.set(what, nil)
		s.turn(l, "again")
		if got := s.kinds("a"); len(got) < 3 || got[len(got)-1] != agent.KindProcessingEnd {
			t.Errorf("%s: then %v", what, got)
		}
		release()
	}
}

// A session that was closed in the log is reopened there before its next turn.
// If that cannot be saved, the turn does not begin.
func TestReopenedTurn(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	if _, err := s.log.Store.Append(t.Context(), agent.Event{Session: "a", Data: agent.SessionEnd{}}); err != nil {
		t.Fatal(err)
	}
	l, release := s.open("a")
	defer release()
	s.log.set("append "+string(agent.KindSessionStart), errDisk)
	if err := l.Start(run("go")); err != nil {
		t.Fatal(err)
	}
	s.await(agent.KindProcessingEnd)
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]agent.Kind{agent.KindSessionEnd}, s.kinds("a")); diff != "" || len(s.model.Requests()) != 0 {
		t.Errorf("%d requests, %s", len(s.model.Requests()), diff)
	}
	s.log.set("append "+string(agent.KindSessionStart), nil)
	s.turn(l, "go")
	want := []agent.Kind{agent.KindSessionEnd, agent.KindSessionStart, agent.KindUserInput, agent.KindTextEnd, agent.KindProcessingEnd}
	if diff := cmp.Diff(want, s.kinds("a")); diff != "" {
		t.Error(diff)
	}
}

// The results of a side job that could not be saved are saved before the next turn:
// each request once, and the event if it is still wanted.
func TestUnsavedJobs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fails  string
		wanted bool
		want   []agent.Kind // in addition to the turns' events
	}{
		"a request":         {"append side_request", true, []agent.Kind{agent.KindSideRequest, agent.KindSideRequest, agent.KindPromptSuggestion}},
		"the event":         {"append prompt_suggestion", true, []agent.Kind{agent.KindSideRequest, agent.KindSideRequest, agent.KindPromptSuggestion}},
		"the last request":  {"append two", false, []agent.Kind{agent.KindSideRequest, agent.KindSideRequest}},
		"an unwanted event": {"append side_request", false, []agent.Kind{agent.KindSideRequest, agent.KindSideRequest}},
	} {
		began := 0
		s := newStage(t, func(cfg *live.Config) {
			cfg.SideJobs = func(context.Context, backend.SessionInfo, *agent.Session) ([]live.Job, error) {
				if began++; began > 1 {
					return nil, nil
				}
				return []live.Job{func(context.Context) live.Outcome {
					requests := []agent.SideRequest{{Purpose: "one", Usage: llm.Usage{Known: true}}, {Purpose: "two", Usage: llm.Usage{Known: true}}}
					return live.Outcome{Requests: requests, Event: agent.PromptSuggestion{Text: "Go on"}, Wanted: func(*agent.Transcript) bool { return tt.wanted }}
				}}, nil
			}
		}, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
		l, release := s.open("a")
		s.log.set(tt.fails, errDisk)
		s.turn(l, "go")
		s.await(agent.KindProcessingEnd) // of the job that could not be saved
		s.log.set(tt.fails, nil)
		s.turn(l, "again")
		release()
		if err := s.sessions.Close(t.Context()); err != nil {
			t.Error(err)
		}
		var got []agent.Kind
		for _, k := range s.kinds("a") {
			if slices.Contains([]agent.Kind{agent.KindSideRequest, agent.KindPromptSuggestion}, k) {
				got = append(got, k)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A session is read again before its next turn if another process or a page has added
// to its log, between two turns or during one; otherwise it is not.
func TestReadAgain(t *testing.T) {
	t.Parallel()
	name := agent.Event{Session: "a", Data: agent.Title{Text: "Mine", ByUser: true}}
	for when, reads := range map[string]int{"never": 1, "within": 2, "between": 2} {
		var past [][]agent.Event
		var s *stage
		add := func() {
			if _, err := s.log.Store.Append(context.Background(), name); err != nil {
				t.Error(err)
			}
		}
		s = newStage(t, func(cfg *live.Config) {
			build, show := cfg.Build, cfg.Show
			cfg.Build = func(ctx context.Context, info backend.SessionInfo, events []agent.Event, approver agent.Approver) (*agent.Session, error) {
				past = append(past, events)
				return build(ctx, info, events, approver)
			}
			cfg.Show = func(ev agent.Event) {
				if ev.Kind() == agent.KindUserInput && when == "within" && len(past) == 1 {
					add()
				}
				show(ev)
			}
		}, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."}, llmtest.Round{Text: "Three."})
		l, release := s.open("a")
		s.turn(l, "go")
		if when == "between" {
			add()
		}
		s.turn(l, "again")
		early := len(past)
		s.turn(l, "and again")
		release()
		if err := s.sessions.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if early != reads || len(past) != reads || reads > 1 && !slices.ContainsFunc(past[1], func(ev agent.Event) bool { return ev.Data == name.Data }) {
			t.Errorf("%s: read %d times by the end of the second turn, %d times in all", when, early, len(past))
		}
	}
}

// No side job starts for a session that cannot be read after its turn.
func TestNoJobsForAnUnreadSession(t *testing.T) {
	t.Parallel()
	for first := range 3 {
		began := 0
		var s *stage
		s = newStage(t, func(cfg *live.Config) {
			show := cfg.Show
			cfg.Show = func(ev agent.Event) {
				if ev.Kind() == agent.KindProcessingEnd {
					s.log.first["session"] = first
					s.log.set("session", errDisk)
				}
				show(ev)
			}
			cfg.SideJobs = func(context.Context, backend.SessionInfo, *agent.Session) ([]live.Job, error) {
				began++
				return nil, nil
			}
		}, llmtest.Round{Text: "One."})
		l, release := s.open("a")
		s.turn(l, "go")
		if err := l.Start(run("again")); !errors.Is(err, errDisk) { // once the owner is done with the first
			t.Errorf("began again: %v", err)
		}
		if want := first / 2; began != want { // it is read once for the turn and once for the jobs
			t.Errorf("side jobs were started %d times when reading failed after %d times, want %d", began, first, want)
		}
		release()
	}
}

// The cost of a side job is in the log before the session is closed there, however
// long the job takes to stop.
func TestCloseAwaitsJobs(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	var s *stage
	s = newStage(t, func(cfg *live.Config) {
		cfg.SideJobs = func(context.Context, backend.SessionInfo, *agent.Session) ([]live.Job, error) {
			return []live.Job{func(ctx context.Context) live.Outcome {
				close(began)
				<-ctx.Done()
				for range 20 { // it takes its time
					if _, err := s.log.Store.Append(context.Background(), agent.Event{Session: "other", Data: agent.Warning{}}); err != nil {
						t.Error(err)
					}
				}
				return live.Outcome{Requests: []agent.SideRequest{{Purpose: "one"}}}
			}}, nil
		}
	}, llmtest.Round{Text: "One."})
	s.create("other", nil)
	l, release := s.open("a")
	s.turn(l, "go")
	release()
	<-began
	if err := s.sessions.Close(t.Context()); err != nil {
		t.Error(err)
	}
	want := []agent.Kind{agent.KindUserInput, agent.KindTextEnd, agent.KindProcessingEnd, agent.KindSideRequest, agent.KindSessionEnd}
	if diff := cmp.Diff(want, s.kinds("a")); diff != "" {
		t.Error(diff)
	}
}
