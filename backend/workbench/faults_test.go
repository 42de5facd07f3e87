package workbench_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/hooks"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/reading"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// faulty is a store with one failing call.
type faulty struct {
	backend.Store
	mu    sync.Mutex
	calls []string // the calls that count; nil for all
	left  int      // how many calls until one fails; 0 if none does
	fired bool
	// creates is called after an agent's session was stored; it may be nil.
	creates func()
}

var errFault = &backend.Error{Code: backend.CodeStoreFailed, Message: "The disk is on fire."}

// arm makes the n-th of some calls fail.
func (f *faulty) arm(n int, calls []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.calls, f.fired = n, calls, false
}

// disarm reports whether a call failed.
func (f *faulty) disarm() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = 0
	return f.fired
}

func (f *faulty) fault(call string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == 0 || f.calls != nil && !slices.Contains(f.calls, call) {
		return nil
	}
	if f.left--; f.left > 0 {
		return nil
	}
	f.fired = true
	return errFault
}

// faultyly makes a call unless it is to fail.
func faultyly[T any](f *faulty, call string, do func() (T, error)) (T, error) {
	if err := f.fault(call); err != nil {
		var none T
		return none, err
	}
	return do()
}

func (f *faulty) CreateSession(ctx context.Context, info backend.SessionInfo) error {
	if err := f.fault("CreateSession"); err != nil {
		return err
	}
	err := f.Store.CreateSession(ctx, info)
	if info.Helper != nil && f.creates != nil {
		f.creates()
	}
	return err
}

func (f *faulty) Sessions(ctx context.Context, folder string) ([]backend.SessionInfo, error) {
	return faultyly(f, "Sessions", func() ([]backend.SessionInfo, error) { return f.Store.Sessions(ctx, folder) })
}

func (f *faulty) SessionPage(ctx context.Context, q backend.SessionQuery) (backend.SessionPage, error) {
	return faultyly(f, "SessionPage", func() (backend.SessionPage, error) { return f.Store.SessionPage(ctx, q) })
}

func (f *faulty) Session(ctx context.Context, id string) (backend.SessionInfo, error) {
	return faultyly(f, "Session", func() (backend.SessionInfo, error) { return f.Store.Session(ctx, id) })
}

func (f *faulty) Helpers(ctx context.Context, parent string) ([]backend.SessionInfo, error) {
	return faultyly(f, "Helpers", func() ([]backend.SessionInfo, error) { return f.Store.Helpers(ctx, parent) })
}

func (f *faulty) DeleteSessions(ctx context.Context, ids ...string) error {
	if err := f.fault("DeleteSessions"); err != nil {
		return err
	}
	return f.Store.DeleteSessions(ctx, ids...)
}

func (f *faulty) Append(ctx context.Context, events ...agent.Event) (int64, error) {
	return faultyly(f, "Append", func() (int64, error) { return f.Store.Append(ctx, events...) })
}

func (f *faulty) Events(ctx context.Context, r backend.EventRange) ([]agent.Event, error) {
	return faultyly(f, "Events", func() ([]agent.Event, error) { return f.Store.Events(ctx, r) })
}

func (f *faulty) Costs(ctx context.Context, folder, session string) (backend.CostSummary, error) {
	return faultyly(f, "Costs", func() (backend.CostSummary, error) { return f.Store.Costs(ctx, folder, session) })
}

func (f *faulty) PendingApproval(ctx context.Context, id string) (string, error) {
	return faultyly(f, "PendingApproval", func() (string, error) { return f.Store.PendingApproval(ctx, id) })
}

func (f *faulty) Queue(ctx context.Context, session string) ([]agent.Queued, error) {
	return faultyly(f, "Queue", func() ([]agent.Queued, error) { return f.Store.Queue(ctx, session) })
}

func (f *faulty) AddQueued(ctx context.Context, session string, m agent.Queued) error {
	if err := f.fault("AddQueued"); err != nil {
		return err
	}
	return f.Store.AddQueued(ctx, session, m)
}

func (f *faulty) EditQueued(ctx context.Context, m agent.Queued) error {
	if err := f.fault("EditQueued"); err != nil {
		return err
	}
	return f.Store.EditQueued(ctx, m)
}

func (f *faulty) OrderQueued(ctx context.Context, order []agent.Queued) error {
	if err := f.fault("OrderQueued"); err != nil {
		return err
	}
	return f.Store.OrderQueued(ctx, order)
}

func (f *faulty) RemoveQueued(ctx context.Context, id string) error {
	if err := f.fault("RemoveQueued"); err != nil {
		return err
	}
	return f.Store.RemoveQueued(ctx, id)
}

func (f *faulty) SetSetting(ctx context.Context, key, value string) error {
	if err := f.fault("SetSetting"); err != nil {
		return err
	}
	return f.Store.SetSetting(ctx, key, value)
}

func (f *faulty) Setting(ctx context.Context, key string) (string, error) {
	return faultyly(f, "Setting", func() (string, error) { return f.Store.Setting(ctx, key) })
}

func (f *faulty) Lease(session string) (func(), error) {
	return faultyly(f, "Lease", func() (func(), error) { return f.Store.Lease(session) })
}

// Whichever call of the store fails during a request, the answer is that
// failure: no request reports as done what could not be read or saved.
func TestEveryFaultIsReported(t *testing.T) {
	t.Parallel()
	var f *faulty
	p := newPageOn(t, environment(llmtest.Serve(t), "sk-test"), func(s *storage.Store) backend.Store {
		f = &faulty{Store: s}
		return f
	})
	must[hooks.HooksReply](p, "hooks.list", hooks.HooksRequest{}) // so that no session reads them later
	id := p.session("compat")
	fresh := func() string { // a session that is not in memory
		return must[backend.SessionInfo](p, "sessions.create", backend.Empty{}).ID
	}
	ref := func(id string) any { return workbench.SessionRef{Session: id} }
	waiting := func() agent.Queued {
		waits := p.queue(id, agent.Steer, "mind")
		return waits[len(waits)-1]
	}
	for _, tt := range []struct {
		method string
		args   func() any
		calls  []string // the calls that can fail; nil for all
	}{
		{"sessions.list", func() any { return backend.Empty{} }, nil},
		{"sessions.create", func() any { return backend.Empty{} }, []string{"CreateSession", "Append", "Session"}},
		{"sessions.rename", func() any { return sessionlist.RenameRequest{Session: id, Title: "x"} }, nil},
		{"sessions.remove", func() any { return ref(fresh()) }, []string{"Session", "Helpers", "DeleteSessions"}},
		{"conversation.open", func() any { return conversation.OpenRequest{Session: id} }, nil},
		{"conversation.history", func() any { return reading.HistoryRequest{Session: id, After: 1} }, nil},
		{"conversation.event", func() any { return place.EventRef{Session: id, Seq: 1} }, nil},
		{"conversation.breakdown", func() any { return ref(fresh()) }, []string{"Session", "Events"}},
		{"conversation.continue", func() any { return ref(id) }, nil},
		{"conversation.compact", func() any { return workbench.CompactRequest{Session: id} }, nil},
		{"conversation.answer", func() any {
			return workbench.AnswerRequest{Session: id, Approval: "x", Answer: agent.Answer{Decision: agent.Deny}}
		}, []string{"PendingApproval"}},
		{"conversation.configure", func() any {
			return conversation.ConfigureRequest{Session: fresh(), Settings: agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeDefault}}
		}, []string{"Events", "Queue", "Helpers"}},
		{"queue.add", func() any { return conversation.QueueAddRequest{Session: fresh(), Verb: agent.Steer, Text: "x"} }, []string{"Session", "Events", "Queue", "AddQueued"}},
		{"queue.edit", func() any { return conversation.QueueEditRequest{Session: id, Message: waiting()} }, nil},
		{"queue.move", func() any { return conversation.QueueMoveRequest{Session: id, ID: waiting().ID} }, nil},
		{"queue.remove", func() any { return conversation.QueueRemoveRequest{Session: id, ID: waiting().ID} }, nil},
		{"queue.list", func() any { return ref(fresh()) }, []string{"Session", "Events", "Queue"}},
		{"endpoints.list", func() any { return backend.Empty{} }, nil},
		{"costs.summary", func() any { return sessionlist.CostsRequest{} }, nil},
		{"preferences.get", func() any { return backend.Empty{} }, []string{"Setting"}},
		{"preferences.change", func() any {
			return workbench.PreferencesChange{After: backend.Preferences{Compact: backend.CompactNever}}
		}, []string{"SetSetting"}},
		// These begin turns, which use the store as well. They come last.
		{"conversation.send", func() any { return conversation.SendRequest{Session: fresh(), Text: "go"} }, []string{"Events", "Queue"}},
		{"conversation.command", func() any { return workbench.CommandRequest{Session: fresh(), Command: "true"} }, []string{"Events", "Queue"}},
		{"queue.run", func() any { return ref(fresh()) }, []string{"Session", "Events", "Queue"}},
	} {
		for n := 1; ; n++ {
			args := tt.args()
			f.arm(n, tt.calls)
			_, err := call[json.RawMessage](p, tt.method, args)
			if !f.disarm() {
				if n == 1 {
					t.Errorf("%s does not use the store", tt.method)
				}
				break
			}
			if err == nil || err.Code != errFault.Code {
				t.Errorf("%s: answered %v although call %d failed", tt.method, err, n)
			}
		}
	}
}

// A change of the queue that cannot be stored is not made in memory either.
func TestFailedChangesOfTheQueue(t *testing.T) {
	t.Parallel()
	var f *faulty
	p := newPageOn(t, environment(llmtest.Serve(t), "sk-test"), func(s *storage.Store) backend.Store {
		f = &faulty{Store: s}
		return f
	})
	id := p.session("compat")
	p.queue(id, agent.Steer, "first")
	before := p.queue(id, agent.Steer, "second")
	for method, args := range map[string]any{
		"queue.edit":   conversation.QueueEditRequest{Session: id, Message: agent.Queued{ID: before[0].ID, Verb: agent.Steer, Text: "other"}},
		"queue.move":   conversation.QueueMoveRequest{Session: id, ID: before[0].ID, To: 1},
		"queue.remove": conversation.QueueRemoveRequest{Session: id, ID: before[0].ID},
	} {
		f.arm(1, []string{"EditQueued", "OrderQueued", "RemoveQueued"})
		_, err := call[conversation.QueueReply](p, method, args)
		if !f.disarm() || err == nil {
			t.Errorf("%s: no fault was reported", method)
		}
		waits := p.bench.Sessions().Find(id).Queue().Items()
		if diff := cmp.Diff(before, waits); diff != "" {
			t.Errorf("%s (-before +after):\n%s", method, diff)
		}
	}
}

// An agent that could not be started leaves no session behind.
func TestAgentThatCouldNotStart(t *testing.T) {
	t.Parallel()
	for _, calls := range [][]string{{"Append"}, {"Lease"}} {
		var f *faulty
		server := llmtest.Serve(t)
		p := newPageOn(t, environment(server, "sk-test"), func(s *storage.Store) backend.Store {
			f = &faulty{Store: s}
			return f
		})
		server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Write the tests.", nil)}}, llmtest.Round{Text: "I do it myself."})
		id := p.session("openai")
		f.creates = func() { f.arm(1, calls) }
		p.send(id, "Go.")
		end := await(p, func(e agent.ToolCallEnd) bool { return e.Tool == "Agent" })
		await(p, anyOf[agent.ProcessingEnd])
		if !end.IsError || !f.disarm() {
			t.Fatalf("%s: %+v", calls, end)
		}
		if left, err := f.Store.Helpers(t.Context(), id); err != nil || len(left) > 0 {
			t.Errorf("%s: %d agents are left, %v", calls, len(left), err)
		}
	}
}
