package workbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/internal/text"
)

// A session of a caller names this provider and this model.
const (
	callerProvider = "caller"
	callerModel    = "program"
)

const (
	// maxCallerCalls and maxCallerBytes end a caller's session: the next call begins
	// another one, because nobody compacts a conversation without a model.
	maxCallerCalls = 200
	maxCallerBytes = 256 << 10
	// maxCallerWaiting limits the calls that wait for those that run.
	maxCallerWaiting = 64
	// maxCallerName limits what a program calls itself, in bytes.
	maxCallerName = 80
)

// Caller is a program that calls tools itself, in place of a model. Its calls are
// turns of a session like any other: judged, asked about, hooked and logged. It is
// safe for concurrent use.
type Caller struct {
	bench    *Workbench
	name     string
	settings agent.Settings
	ask      func(context.Context, agent.ApprovalRequest) agent.Answer

	ctx  context.Context // ends with the caller
	end  context.CancelFunc
	wake chan struct{} // signals that calls wait; holds one
	jobs sync.WaitGroup
	callerState
}

// callerState is the state of a caller.
type callerState struct {
	mu      sync.Mutex // guards what follows
	session string     // empty until a call needs one
	waiting []*callerCall
	running map[string]*callerCall
	calls   int    // in the session
	bytes   int    // of its results
	why     string // what the newest turn was warned of last, or why it failed
}

// callerCall is one call of a caller.
type callerCall struct {
	llm.ToolCall
	ctx    context.Context
	output func(text string)
	done   chan agent.ToolCallEnd // holds one
}

// callers are the callers of a workbench.
type callers struct {
	mu        sync.Mutex
	bySession map[string]*Caller
}

// find returns the caller of a session; nil if it has none.
func (c *callers) find(session string) *Caller {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bySession[session]
}

func (c *callers) set(session string, by *Caller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by == nil {
		delete(c.bySession, session)
		return
	}
	if c.bySession == nil {
		c.bySession = map[string]*Caller{}
	}
	c.bySession[session] = by
}

// NewCaller returns a caller, by what the program calls itself. Mode is the
// permission mode of its calls. Ask answers what a person is asked about, also on
// behalf of the agents that the caller started; its context ends with the caller.
// Close ends the caller.
func (w *Workbench) NewCaller(name string, mode agent.Mode, ask func(context.Context, agent.ApprovalRequest) agent.Answer) *Caller {
	c := &Caller{
		bench: w, name: text.Head(name, maxCallerName), ask: ask, wake: make(chan struct{}, 1),
		callerState: callerState{running: map[string]*callerCall{}},
		settings:    agent.Settings{Provider: callerProvider, Model: callerModel, Mode: mode},
	}
	c.ctx, c.end = context.WithCancel(w.ctx)
	c.jobs.Go(c.work)
	return c
}

// Tools returns the tools that the caller can call, under their canonical names.
func (c *Caller) Tools() ([]agent.Spec, error) {
	local, err := env.NewLocal(c.bench.cfg.Folder)
	if err != nil {
		return nil, err
	}
	var specs []agent.Spec
	for _, t := range c.bench.tools(backend.SessionInfo{Settings: c.settings}, workplace{env: local, tasks: c.bench.newTasks("")}, nil) {
		specs = append(specs, t.Spec())
	}
	return specs, nil
}

// errClosing answers a call when the caller is closed.
var errClosing = errors.New("the program that offers the tools is closing")

// errCallerBusy answers a call that too many others wait before.
var errCallerBusy = errors.New("too many calls wait already; wait for one of them first")

// Call runs one call. Output receives what it prints, as it appears; it may be nil.
// An error means that the call did not come to an end; its tool's failure is part
// of the end. When ctx ends, the call is interrupted, with those that run beside it.
func (c *Caller) Call(ctx context.Context, tool string, input json.RawMessage, output func(text string)) (agent.ToolCallEnd, error) {
	call := &callerCall{
		ToolCall: llm.ToolCall{ID: newID(), Name: tool, Arguments: input}, ctx: ctx, output: output, done: make(chan agent.ToolCallEnd, 1),
	}
	if err := c.enqueue(call); err != nil {
		return agent.ToolCallEnd{}, err
	}
	select {
	case end := <-call.done:
		return end, nil
	case <-ctx.Done():
	case <-c.ctx.Done():
	}
	c.abandon(call)
	if ctx.Err() != nil {
		return agent.ToolCallEnd{}, context.Cause(ctx)
	}
	return agent.ToolCallEnd{}, errClosing
}

func (c *Caller) enqueue(call *callerCall) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return errClosing
	}
	if len(c.waiting) >= maxCallerWaiting {
		return errCallerBusy
	}
	c.waiting = append(c.waiting, call)
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

// abandon stops a call that nobody waits for any more.
func (c *Caller) abandon(call *callerCall) {
	c.mu.Lock()
	for i, other := range c.waiting {
		if other == call {
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
			break
		}
	}
	runs, session := c.running[call.ID] != nil, c.session
	c.mu.Unlock()
	if runs {
		c.bench.Interrupt(session)
	}
}

// Close interrupts what runs and waits until it has ended.
func (c *Caller) Close() {
	c.mu.Lock()
	c.end()
	session := c.session
	c.mu.Unlock()
	c.jobs.Wait()
	c.bench.callers.set(session, nil)
}

// work begins a turn whenever calls wait and none runs. It ends with the caller.
func (c *Caller) work() {
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.wake:
		}
		for c.hasWaiting() && c.ctx.Err() == nil {
			if err := c.turn(); err != nil {
				slog.Warn("could not run the calls of a program", "err", err)
				c.fail(err)
			}
		}
	}
}

func (c *Caller) hasWaiting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting) > 0
}

// turn runs the calls that wait, and those that arrive meanwhile.
func (c *Caller) turn() error {
	session, err := c.place()
	if err != nil {
		return err
	}
	l, release, err := c.bench.sessions.Open(c.ctx, session)
	if err != nil {
		return err
	}
	defer release()
	prompt := fmt.Sprintf("The program %s calls the tools of this session itself.", strconv.Quote(c.name))
	waited := c.beginTurn()
	err = l.Start(func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] { return s.Run(ctx, prompt) })
	if err != nil {
		return err
	}
	defer context.AfterFunc(c.ctx, func() { c.bench.Interrupt(session) })() // also if Close was called before it began
	if err := l.Wait(context.WithoutCancel(c.ctx)); err != nil {
		return err
	}
	c.endTurn(waited)
	return nil
}

// beginTurn returns the calls that wait for a turn that is about to begin.
func (c *Caller) beginTurn() []*callerCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why = ""
	return slices.Clone(c.waiting)
}

// endTurn ends the calls that a turn left: those that it did not run, and those that
// waited for it and that it did not take, because a hook refused it or it could not be
// saved. Another turn would end like that as well.
func (c *Caller) endTurn(waited []*callerCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := slices.Collect(maps.Values(c.running))
	clear(c.running)
	c.waiting = slices.DeleteFunc(c.waiting, func(call *callerCall) bool {
		if !slices.Contains(waited, call) {
			return false
		}
		left = append(left, call)
		return true
	})
	output := strings.TrimSpace("The call did not run: the turn ended before it. " + c.why)
	for _, call := range left {
		call.done <- agent.ToolCallEnd{CallID: call.ID, Tool: call.Name, Output: output, IsError: true, Outcome: agent.OutcomeInterrupted}
	}
}

// fail ends the calls that wait.
func (c *Caller) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.waiting {
		call.done <- agent.ToolCallEnd{CallID: call.ID, Tool: call.Name, Output: backend.AsError(err).Error(), IsError: true, Outcome: agent.OutcomeFailed}
	}
	c.waiting = nil
}

// place returns the session for the next turn, which it creates where the caller
// has none or has filled it.
func (c *Caller) place() (string, error) {
	c.mu.Lock()
	session, full := c.session, c.calls >= maxCallerCalls || c.bytes >= maxCallerBytes
	c.mu.Unlock()
	if session != "" && !full {
		return session, nil
	}
	info, err := c.bench.CreateSession(c.ctx, c.settings)
	if err != nil {
		return "", err
	}
	c.bench.callers.set(info.ID, c)
	if session != "" {
		c.bench.callers.set(session, nil)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.calls, c.bytes = info.ID, 0, 0
	return info.ID, nil
}

// take returns the calls that wait, which run now.
func (c *Caller) take() []llm.Part {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []llm.Part
	for _, call := range c.waiting {
		c.running[call.ID] = call
		parts = append(parts, llm.Part{Kind: llm.PartToolCall, Call: &call.ToolCall})
	}
	c.waiting = nil
	return parts
}

// observe follows the session's events. It is called from the goroutine that owns
// the session.
func (c *Caller) observe(ev agent.Event) {
	switch d := ev.Data.(type) {
	case agent.ToolCallOutput:
		if call := c.find(d.CallID); call != nil && call.output != nil {
			call.output(d.Text)
		}
	case agent.ToolCallEnd:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calls, c.bytes = c.calls+1, c.bytes+len(d.Output)
		if call := c.running[d.CallID]; call != nil {
			delete(c.running, d.CallID)
			call.done <- d
		}
	case agent.Warning:
		c.note(d.Message)
	case agent.Failure:
		c.note(d.Message + " " + d.Next)
	case agent.ApprovalRequest:
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ctx.Err() == nil { // nothing begins once Close waits
			c.jobs.Go(func() { c.answer(ev.Session, d) })
		}
	}
}

// note notes what a turn is warned of, or why it fails.
func (c *Caller) note(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why = why
}

func (c *Caller) find(call string) *callerCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running[call]
}

// answer asks about a call, and delivers the answer.
func (c *Caller) answer(session string, r agent.ApprovalRequest) {
	a := c.ask(c.ctx, r)
	if c.ctx.Err() != nil {
		return // the question stays; the session ends with it
	}
	if _, err := c.bench.answer(c.ctx, AnswerRequest{Session: session, Approval: r.ID, Answer: a}); err != nil {
		slog.Warn("could not deliver an answer", "session", session, "err", err)
	}
}

// observeCaller passes an event to the caller of its session, or the questions of
// an agent to the caller that started it.
func (w *Workbench) observeCaller(ev agent.Event) {
	c := w.callers.find(ev.Session)
	if c == nil && ev.Kind() == agent.KindApprovalRequest {
		if l := w.sessions.Find(ev.Session); l != nil && l.Parent() != "" {
			c = w.callers.find(l.Parent())
		}
	}
	if c != nil {
		c.observe(ev)
	}
}

// answering answers the requests of sessions: by a provider's model, or by the
// caller of the session.
type answering struct {
	*models.Providers
	callers *callers
}

// Stream implements [agent.Model].
func (a answering) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	if req.Provider != callerProvider {
		return a.Providers.Stream(ctx, req)
	}
	return func(yield func(llm.Event, error) bool) {
		caller := a.callers.find(req.CacheKey)
		if caller == nil {
			yield(llm.Event{}, &llm.Error{
				Class: llm.ClassNotFound, Provider: callerProvider,
				Message: "the program that called the tools of this session has left; choose a model to go on",
			})
			return
		}
		message := llm.Message{Role: llm.RoleAssistant, Parts: caller.take(), Origin: &llm.Origin{Provider: callerProvider, Model: callerModel}}
		finish := llm.Finish{Reason: llm.FinishToolCalls}
		if len(message.Parts) == 0 {
			message.Parts, finish.Reason = []llm.Part{{Kind: llm.PartText, Text: "The program has no further calls."}}, llm.FinishStop
		}
		if yield(llm.Event{Type: llm.EventStart}, nil) {
			yield(llm.Event{Type: llm.EventFinish, Answer: &llm.Answer{Message: message, Usage: llm.Usage{Known: true}, Finish: finish}}, nil)
		}
	}
}

// Price implements [agent.ModelFacts]. A caller's own calls cost nothing.
func (a answering) Price(provider, model string, u llm.Usage, at time.Time) *llm.Cost {
	if provider == callerProvider {
		return new(llm.Cost)
	}
	return a.Providers.Price(provider, model, u, at)
}
