package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// note is a tool that answers with what it is told. It reads or writes as its
// name says.
type note struct {
	name     string
	readOnly bool
	run      func(ctx context.Context, call agent.Invocation) agent.Result
}

func (n note) Spec() agent.Spec {
	return agent.Spec{
		Name: n.name, Description: "Takes a note.", ReadOnly: n.readOnly, Concurrent: n.readOnly, Idempotent: n.readOnly,
		Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`),
	}
}

func (n note) Run(ctx context.Context, call agent.Invocation) agent.Result {
	if n.run != nil {
		return n.run(ctx, call)
	}
	call.Output("noting… ")
	return agent.Result{Output: n.name + ": " + textOf(call.Input)}
}

func (n note) Access(_ context.Context, input json.RawMessage) agent.Access {
	if n.readOnly {
		return agent.Access{}
	}
	return agent.Access{Writes: []string{"/notes/" + textOf(input)}}
}

func textOf(input json.RawMessage) string {
	var in struct{ Text string }
	if err := json.Unmarshal(input, &in); err != nil {
		return err.Error()
	}
	return in.Text
}

// gate lets reads pass, asks about writes and refuses what says "forbidden".
type gate struct {
	mu      sync.Mutex
	granted map[string]bool
}

func (g *gate) Decide(_ context.Context, c agent.GateCall) agent.Verdict {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case strings.Contains(string(c.Input), "forbidden"):
		return agent.Verdict{Decision: agent.Deny, Reason: "a rule forbids it.", Final: true}
	case c.ReadOnly, c.Mode == agent.ModeBypass, g.granted[fmt.Sprint(c.Tool, c.Access)]:
		return agent.Verdict{Decision: agent.Allow}
	}
	return agent.Verdict{Decision: agent.Ask, Reason: "It writes."}
}

func (g *gate) Grant(c agent.GateCall) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.granted[fmt.Sprint(c.Tool, c.Access)] = true
}

// approver answers from a function.
type approver func(context.Context, agent.ApprovalRequest) (agent.Answer, error)

func (a approver) Approve(ctx context.Context, r agent.ApprovalRequest) (agent.Answer, error) {
	return a(ctx, r)
}

func allowAll(context.Context, agent.ApprovalRequest) (agent.Answer, error) {
	return agent.Answer{Decision: agent.Allow}, nil
}

// rig is a session on a script, with its host's side of things.
type rig struct {
	t       *testing.T
	cfg     agent.Config
	session *agent.Session
	log     []agent.Event // the durable events, as a store would hold them
	clock   time.Time
	ids     int
}

func newRig(t *testing.T, model agent.Model, tools ...agent.Tool) *rig {
	t.Helper()
	r := &rig{t: t, clock: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}
	if tools == nil {
		tools = []agent.Tool{note{name: "Look", readOnly: true}, note{name: "Note"}}
	}
	r.cfg = agent.Config{
		ID: "s1", Model: model, Gate: &gate{granted: map[string]bool{}},
		Approver: approver(allowAll), Limits: agent.DefaultLimits,
		Now:   func() time.Time { return r.clock },
		NewID: func() string { r.ids++; return fmt.Sprintf("id-%d", r.ids) },
	}
	r.use(tools...)
	return r
}

// use gives the session tools to come with.
func (r *rig) use(tools ...agent.Tool) {
	r.t.Helper()
	registry, err := agent.NewRegistry(tools...)
	if err != nil {
		r.t.Fatal(err)
	}
	r.cfg.Profiles = agent.Plain("Be brief.", registry)
}

// open makes the session anew from what is in the log.
func (r *rig) open() *agent.Session {
	session, err := agent.New(r.cfg, r.log...)
	if err != nil {
		r.t.Fatal(err)
	}
	r.session = session
	if len(r.log) == 0 {
		r.store(r.session.Record(agent.SettingsChange{Settings: agent.Settings{
			Provider: llmtest.Provider, Model: "m", Mode: agent.ModeDefault,
		}}))
	}
	return r.session
}

func (r *rig) store(ev agent.Event) agent.Event {
	if ev.Durable() {
		ev.Seq = int64(len(r.log) + 1)
		r.log = append(r.log, ev)
	}
	return ev
}

// run takes one input to its end and returns all events.
func (r *rig) run(input string) []agent.Event {
	r.t.Helper()
	if r.session == nil {
		r.open()
	}
	if r.session.Transcript().State == agent.StateClosed {
		r.store(r.session.Record(agent.SessionStart{Resumed: true}))
	}
	return r.collect(r.session.Run(r.t.Context(), input))
}

// collect stores what a session yields, and returns it.
func (r *rig) collect(yields iter.Seq2[agent.Event, error]) []agent.Event {
	r.t.Helper()
	var all []agent.Event
	for ev, err := range yields {
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, r.store(ev))
	}
	return all
}

// find returns the payloads of one kind.
func find[P agent.Payload](events []agent.Event) []P {
	var out []P
	for _, ev := range events {
		if p, ok := ev.Data.(P); ok {
			out = append(out, p)
		}
	}
	return out
}

// end returns how the last turn in events ended.
func end(t *testing.T, events []agent.Event) agent.EndReason {
	t.Helper()
	ends := find[agent.ProcessingEnd](events)
	if len(ends) == 0 {
		t.Fatal("no processing_end")
	}
	return ends[len(ends)-1].Reason
}
