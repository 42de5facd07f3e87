package live_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"
)

const (
	stressSessions = 100
	stressWorkers  = 8
	// stressSteps is how many steps each worker does if STRESS names no
	// duration.
	stressSteps = 120
	// stuck is far longer than any step takes.
	stuck = time.Minute
)

// moody answers each request in one of a provider's ways: with text, with a
// call, not at all, or with a failure.
type moody struct{}

func (moody) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	round := llmtest.Round{Text: "Done."}
	switch rand.IntN(8) {
	case 0, 1:
		round = llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Touch", struct{}{})}}
	case 2:
		round = llmtest.Round{Text: "Let me think", Hang: true}
	case 3:
		round = llmtest.Round{Status: 500, Body: "{}"}
	}
	return llmtest.Script(round).Stream(ctx, req)
}

// asking is a gate that asks a person about every other call.
type asking struct{ calls *atomic.Int64 }

func (g asking) Decide(context.Context, agent.GateCall) agent.Verdict {
	if g.calls.Add(1)%2 == 0 {
		return agent.Verdict{Decision: agent.Allow}
	}
	return agent.Verdict{Decision: agent.Ask}
}

// crowd is a hundred sessions and their users.
type crowd struct {
	t        *testing.T
	store    *storage.Store
	folder   string
	sessions *live.Sessions

	mu       sync.Mutex
	ids      []string            // of sessions that were not deleted
	accepted map[string][]string // accepted inputs, by session
	deleted  map[string]bool
	requests map[string]string // pending approvals and their sessions
	stops    int
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	store, err := storage.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	c := &crowd{t: t, store: store, folder: t.TempDir(), accepted: map[string][]string{}, deleted: map[string]bool{}, requests: map[string]string{}}
	touch := agent.Function(agent.Spec{Name: "Touch", Description: "Touches."}, func(context.Context, struct{}) (string, error) { return "touched", nil })
	var calls atomic.Int64
	c.sessions = live.New(live.Config{
		Log: store, Check: func(backend.SessionInfo) error { return nil },
		Build: func(_ context.Context, info backend.SessionInfo, past []agent.Event, approver agent.Approver) (*agent.Session, error) {
			tools, err := agent.NewRegistry(touch)
			if err != nil {
				return nil, err
			}
			return agent.New(agent.Config{
				ID: info.ID, Model: moody{}, Gate: asking{&calls}, Approver: approver, Profiles: agent.Plain("You touch things.", tools),
				NewID: func() string { return ulid.Make().String() }, // like the application
			}, past...)
		},
		Start: func(resumed bool) agent.SessionStart { return agent.SessionStart{Folder: c.folder, Resumed: resumed} },
		Show:  c.show, CleanUp: func(ctx context.Context, id string) { c.sessions.CloseStartedBy(ctx, id) },
		Occupied: func(string) bool { return false },
	})
	for i := range stressSessions {
		var helper *agent.Helper
		if i%10 == 9 {
			helper = &agent.Helper{Parent: c.ids[i-1], Folder: c.folder, Rounds: 5}
		}
		c.create(helper)
	}
	return c
}

func (c *crowd) create(helper *agent.Helper) {
	id := ulid.Make().String()
	set := agent.Settings{Provider: llmtest.Provider, Model: "m", Mode: agent.ModeDefault}
	if err := c.store.CreateSession(c.t.Context(), backend.SessionInfo{ID: id, Folder: c.folder, State: agent.StateIdle, Settings: set, Helper: helper}); err != nil {
		c.t.Fatal(err)
	}
	for _, p := range []agent.Payload{agent.SessionStart{Folder: c.folder}, agent.SettingsChange{Settings: set}} {
		if _, err := c.store.Append(c.t.Context(), agent.Event{Session: id, At: 1, Data: p}); err != nil {
			c.t.Fatal(err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = append(c.ids, id)
}

// show keeps the pending approvals.
func (c *crowd) show(ev agent.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch d := ev.Data.(type) {
	case agent.ApprovalRequest:
		c.requests[d.ID] = ev.Session
	case agent.ApprovalAnswer:
		delete(c.requests, d.ID)
	}
}

// any returns one of the sessions.
func (c *crowd) any() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ids[rand.IntN(len(c.ids))]
}

// step does one thing to one session, whatever others do to it meanwhile.
func (c *crowd) step(ctx context.Context) {
	id := c.any()
	switch n := rand.IntN(20); {
	case n < 8:
		c.send(ctx, id)
	case n < 13:
		c.stop(id)
	case n < 16:
		c.answer()
	case n < 18:
		c.configure(ctx, id)
	case n < 19:
		c.remove(ctx, id)
	default:
		c.wait(ctx, id)
	}
}

// open returns a session, or nil if it was deleted or is being closed.
func (c *crowd) open(ctx context.Context, id string) (*live.Session, func()) {
	l, release, err := c.sessions.Open(ctx, id)
	if err == nil {
		return l, release
	}
	c.expect(id, "open", err)
	return nil, nil
}

// expect fails the test for an unexpected error.
func (c *crowd) expect(id, what string, err error) {
	var e *backend.Error
	if errors.As(err, &e) && (e.Code == backend.CodeBusy || e.Code == backend.CodeNotFound) {
		return
	}
	c.t.Errorf("%s of %s: %v", what, id, err)
}

func (c *crowd) send(ctx context.Context, id string) {
	l, release := c.open(ctx, id)
	if l == nil {
		return
	}
	defer release()
	text := ulid.Make().String()
	if err := l.Start(func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] { return s.Run(ctx, text) }); err != nil {
		c.expect(id, "send", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted[id] = append(c.accepted[id], text)
}

func (c *crowd) stop(id string) {
	if l := c.sessions.Find(id); l != nil && l.Busy() {
		l.Interrupt()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stops++
	}
}

func (c *crowd) answer() {
	c.mu.Lock()
	var session, request string
	for request, session = range c.requests {
		break
	}
	c.mu.Unlock()
	if l := c.sessions.Find(session); l != nil {
		_, _ = l.Answer(request, agent.Answer{Decision: agent.Allow}, func() error { return nil })
	}
}

func (c *crowd) configure(ctx context.Context, id string) {
	l, release := c.open(ctx, id)
	if l == nil {
		return
	}
	defer release()
	l.Configure(agent.Settings{Provider: llmtest.Provider, Model: fmt.Sprintf("m%d", rand.IntN(3)), Mode: agent.ModeDefault})
}

// remove deletes a session at rest with those that it started, and creates
// another.
func (c *crowd) remove(ctx context.Context, id string) {
	started, err := c.store.Helpers(ctx, id)
	if err != nil {
		c.expect(id, "list the agents", err)
		return
	}
	ids := []string{id}
	for _, h := range started {
		ids = append(ids, h.ID)
	}
	if closed, err := c.sessions.CloseAtRest(ctx, ids); err != nil || !closed {
		if err != nil {
			c.expect(id, "close", err)
		}
		return
	}
	for _, id := range ids {
		release, err := c.store.Lease(id)
		if err != nil {
			c.expect(id, "lease", err)
			return
		}
		defer release()
	}
	if err := c.store.DeleteSessions(ctx, ids...); err != nil {
		c.expect(id, "delete", err)
		return
	}
	c.mu.Lock()
	for _, id := range ids {
		c.deleted[id] = true
	}
	c.ids = slices.DeleteFunc(c.ids, func(id string) bool { return c.deleted[id] })
	c.mu.Unlock()
	for range ids {
		c.create(nil)
	}
}

// wait stops a session and waits until it is at rest.
func (c *crowd) wait(ctx context.Context, id string) {
	l := c.sessions.Find(id)
	if l == nil {
		return
	}
	l.Interrupt()
	ctx, cancel := context.WithTimeout(ctx, stuck)
	defer cancel()
	for l.Busy() && ctx.Err() == nil { // another worker may have begun a turn meanwhile
		l.Interrupt()
		waiting, done := context.WithTimeout(ctx, time.Second)
		_ = l.Wait(waiting)
		done()
	}
	if ctx.Err() != nil {
		c.t.Errorf("%s did not come to rest", id)
	}
}

// check reads the log of a session that was closed: every accepted input is in
// it once, each turn has an end, and nothing is missing in between.
func (c *crowd) check(id string) {
	events, err := c.store.Events(context.Background(), backend.EventRange{Session: id})
	if err != nil {
		c.t.Errorf("%s: %v", id, err)
		return
	}
	var inputs []string
	open := 0
	for i, ev := range events {
		if ev.Seq != int64(i+1) {
			c.t.Fatalf("%s: event %d has place %d", id, i+1, ev.Seq)
		}
		switch d := ev.Data.(type) {
		case agent.UserInput:
			inputs = append(inputs, d.Text)
			open++
		case agent.ProcessingEnd:
			open--
		}
		if open < 0 || open > 1 {
			c.t.Fatalf("%s: %d turns are open after event %d", id, open, i+1)
		}
	}
	slices.Sort(inputs)
	slices.Sort(c.accepted[id])
	if diff := cmp.Diff(c.accepted[id], inputs); diff != "" {
		c.t.Errorf("%s: accepted and recorded inputs differ (-accepted +recorded):\n%s", id, diff)
	}
	if last := events[len(events)-1]; open == 1 && c.waiting(events) == "" {
		c.t.Errorf("%s: a turn is open without a pending request; the log ends in %s", id, last.Kind())
	}
}

// waiting returns the request for which the newest turn waits, if it does.
func (c *crowd) waiting(events []agent.Event) (request string) {
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case agent.ApprovalRequest:
			request = d.ID
		case agent.ApprovalAnswer:
			request = ""
		}
	}
	return request
}

// Many workers send to, stop, answer, configure, delete and reopen a hundred
// sessions at random. Accepted inputs are in the log, each turn has one end,
// and nothing is stuck. STRESS=10m continues for that long.
func TestStress(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	ctx := t.Context()
	more := func(n int) bool { return n < stressSteps }
	if d, err := time.ParseDuration(os.Getenv("STRESS")); err == nil {
		until := time.Now().Add(d)
		more = func(int) bool { return time.Now().Before(until) }
	}
	var workers sync.WaitGroup
	for range stressWorkers {
		workers.Go(func() {
			for n := 0; more(n) && !t.Failed(); n++ {
				c.step(ctx)
			}
		})
	}
	workers.Wait()
	end, cancel := context.WithTimeout(ctx, stuck)
	defer cancel()
	if err := c.sessions.Close(end); err != nil {
		t.Fatal(err)
	}
	if n := c.sessions.Len(); n != 0 {
		t.Errorf("%d sessions are in memory after the end", n)
	}
	inputs := 0
	for _, id := range c.ids {
		c.check(id)
		inputs += len(c.accepted[id])
	}
	if inputs == 0 || c.stops == 0 || len(c.deleted) == 0 {
		t.Errorf("%d inputs, %d stops and %d deletions show nothing", inputs, c.stops, len(c.deleted))
	}
	t.Logf("%d inputs to the sessions that are left, %d stops, %d deletions", inputs, c.stops, len(c.deleted))
}
