package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/internal/text"
)

// This file is the pipeline of one tool call (K-10), from top to bottom: start
// event, lookup, validation, gate and hooks, approval, execution, hooks again,
// reduction, end event.

// maxConcurrent is how many calls run in parallel (OAS-106).
const maxConcurrent = 10

// ready is a call that passed every check and may run.
type ready struct {
	call llm.ToolCall // with the tool's own arguments
	bound
	judged    Verdict    // the gate's verdict, before hooks
	outside   bool       // it was judged to run without confinement
	authority *Authority // what decided; nil until something did
	doomed    string     // why it must fail, for the model; empty if it may succeed
	remarks   []string   // of hooks, for the model
	skills    []SkillUse // in use
	hosts     []string   // that it may reach if it is allowed; see [Access]
	reply     string     // of the person who was asked, if the call is a question
	kept      json.RawMessage
	touches   Access // of the tool with the arguments looked
	looked    string
}

// remark adds a hook's message to the call's result for the model.
func (r *ready) remark(text string) {
	if text != "" {
		r.remarks = append(r.remarks, text)
	}
}

// round runs the calls of one answer.
type round struct {
	*turn
	batch []ready // concurrent calls that will run next
}

// dispatch runs the calls of one answer in their order (K-40). Consecutive
// concurrent calls run together; every other call runs alone. Each decision
// about a call knows the earlier calls: the calls of a batch are decided one
// after the other, and nobody is asked before the earlier ones have ended.
// Every call ends with a tool_call_end.
func (t *turn) dispatch(calls []llm.ToolCall) {
	t.tell(t.besides())
	r := round{turn: t}
	for _, c := range calls {
		if t.away {
			return // they run where the session is made again
		}
		r.take(c)
	}
	r.flush()
}

// take decides about a call, then runs it or adds it to the batch.
func (r *round) take(call llm.ToolCall) {
	c, fault := r.prepare(call)
	if fault == "" && !c.concurrent(r.ctx) && len(r.batch) > 0 {
		r.flush()
		c.forgetAccess()
	}
	if !r.check(&c, fault) {
		return
	}
	if c.concurrent(r.ctx) {
		r.batch = append(r.batch, c)
		return
	}
	r.flush() // a hook may have changed the call into another one
	r.execute([]ready{c})
}

// flush runs the batch.
func (r *round) flush() {
	batch := r.batch
	r.batch = nil
	r.execute(batch)
}

// namedTool writes a tool's name from a model into a sentence. A text that
// cannot be a name is quoted and cut.
func namedTool(name string) string {
	const longest = 100
	if llm.ValidToolName(name) {
		return name
	}
	return strconv.Quote(text.Shorten(name, longest))
}

// prepare reads a call. If the call cannot run, fault is the text for the
// model.
func (t *turn) prepare(call llm.ToolCall) (c ready, fault string) {
	call.Arguments, call.Custom = call.Input(), false
	c.call, c.skills = call, t.session.transcript.Skills()
	var note string
	if broken := protect(call.Name, func() { c.bound, note, fault = t.read(&c.call) }); broken != "" {
		fault = broken
	}
	c.remark(note)
	return c, fault
}

// concurrent reports whether a call may run in parallel.
func (r *ready) concurrent(ctx context.Context) bool { return r.spec.Concurrent || r.onlyReads(ctx) }

// repeatable reports whether a call may run again if nobody remembers that it ran.
func (r *ready) repeatable(ctx context.Context) bool { return r.spec.Idempotent || r.onlyReads(ctx) }

// onlyReads reports whether a call is a command that only reads.
func (r *ready) onlyReads(ctx context.Context) bool {
	access, broken := r.access(ctx)
	return broken == "" && access.OnlyReads
}

// forgetAccess forgets what a call would touch, because files may have changed meanwhile.
func (r *ready) forgetAccess() *ready {
	r.looked = ""
	return r
}

// access returns what a call would touch. If the tool cannot say, broken is the text for the
// model. The tool is asked once about the same arguments, under the turn's context.
func (r *ready) access(ctx context.Context) (access Access, broken string) {
	a, ok := r.tool.(Accessor)
	if input := string(r.call.Arguments); ok && r.looked != input {
		if broken = protect(r.spec.Name, func() { r.touches = a.Access(ctx, r.call.Arguments) }); broken != "" {
			return Access{}, broken
		}
		r.looked = input
	}
	return r.touches, ""
}

// check runs every step before the execution of a call. When it returns false,
// the call may not run and has been ended.
func (r *round) check(c *ready, fault string) bool {
	t := r.turn
	s := t.session
	if t.ctx.Err() != nil {
		t.endUnrun(c.call)
		return false
	}
	if t.halt != nil {
		t.leave([]llm.ToolCall{c.call}, haltedText)
		return false
	}
	if open := s.transcript.openCall(c.call.ID); open == nil || !open.started {
		t.emit(ToolCallStart{CallID: c.call.ID, Tool: s.tools().Canonical(c.call.Name), Input: string(c.call.Arguments)})
	}
	if fault != "" {
		t.end(c.call, s.tools().Canonical(c.call.Name), Fail(fault), OutcomeFailed, 0)
		return false
	}
	if denial, denied := r.authorise(c); denied {
		if t.ctx.Err() != nil {
			t.endUnrun(c.call)
			return false
		}
		if c.doomed != "" {
			t.end(c.call, c.spec.Name, Fail(c.doomed), OutcomeFailed, 0)
			return false
		}
		end := t.ended(c.call, c.spec.Name, Fail(t.refused(c, denial)), OutcomeDenied, 0)
		end.Authority = c.authority
		t.emit(end)
		return false
	}
	t.arrive(c)
	return true
}

// haltedText tells the model that hooks ended the turn before a call.
const haltedText = "This call was not run: a hook ended the turn."

// read finds the called tool and converts the model's arguments into the tool's
// own. note names arguments that were ignored. If the call cannot be read,
// fault is the text for the model.
func (t *turn) read(call *llm.ToolCall) (b bound, note, fault string) {
	tools := t.session.tools()
	b, ok := tools.get(call.Name)
	if !ok {
		return b, "", tools.unknown(call.Name) // LOOP-116
	}
	invalid := func(err error) (bound, string, string) {
		return b, "", fmt.Sprintf("The arguments of %s are not valid: %s. It takes %s. Correct them and call it again.", namedTool(call.Name), briefly(err.Error()), b.takes()) // LOOP-117
	}
	input, dropped, err := b.input(call.Arguments)
	if err != nil {
		return invalid(err)
	}
	if len(dropped) > 0 {
		note = fmt.Sprintf("[Ignored: %s. %s takes %s.]", namedMembers(dropped), call.Name, b.takes())
	}
	if b, input = tools.redirect(b, input); b.spec.Name != tools.Canonical(call.Name) {
		call.Name = b.spec.Name
	}
	if err := b.accepts(input); err != nil {
		return invalid(err)
	}
	call.Arguments = input
	return b, note, ""
}

// execute runs calls in parallel and emits their events from the session's
// goroutine as they arrive.
func (t *turn) execute(batch []ready) {
	if len(batch) == 0 {
		return
	}
	if slices.ContainsFunc(batch, func(r ready) bool { return !r.repeatable(t.ctx) }) {
		t.settle() // a kill must not forget a call that had an effect
	}
	if t.ctx.Err() != nil { // while a person decided about others, or the host stored the start
		for _, r := range batch {
			t.endUnrun(r.call)
		}
		return
	}
	for i := range batch {
		batch[i].kept = t.session.transcript.past.kept[batch[i].spec.Name].State
	}
	out := make(chan Payload)
	advice := make(chan HookAdvice, len(batch))
	slots := make(chan struct{}, maxConcurrent)
	go func() { // ends when the batch has ended: every run sends its end
		var wg sync.WaitGroup
		for _, r := range batch {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				advice <- t.run(r, func(p Payload) { out <- p })
			})
		}
		wg.Wait()
		close(out)
	}()
	for {
		p, running := t.next(out)
		if !running {
			break
		}
		t.emit(p)
	}
	for range batch {
		t.heed(<-advice)
	}
}

// together is how long the end of one call waits for other ends, so that they
// are stored together. A person cannot notice it.
const together = time.Millisecond

// next waits for the next event of running calls. If none arrives soon, it
// first passes on the event that is held back.
func (t *turn) next(out <-chan Payload) (Payload, bool) {
	if t.held != nil {
		timer := time.NewTimer(together)
		defer timer.Stop()
		select {
		case p, running := <-out:
			return p, running
		case <-timer.C:
			t.settle()
		}
	}
	p, running := <-out
	return p, running
}

// run executes one call and sends its events, the end last. It returns what hooks
// advise afterwards. Several calls may run at once; send is safe for concurrent
// use.
func (t *turn) run(r ready, send func(Payload)) (advice HookAdvice) {
	begin := t.session.cfg.Now()
	printed := func(text string, offset int) {
		send(ToolCallOutput{CallID: r.call.ID, Text: text, Offset: offset})
	}
	spent := spending{send: send}
	access, _ := r.access(t.ctx)
	recorded := t.session.cfg.begin(t.ctx, r.call.ID, GateCall{Tool: r.spec.Name, ReadOnly: r.spec.ReadOnly, Input: r.call.Arguments, Access: access})
	result := watched(r.spec.Name, printed, func(output func(string)) Result {
		return r.tool.Run(t.ctx, Invocation{CallID: r.call.ID, Input: r.call.Arguments, Output: output, Spent: spent.add, Unconfined: r.outside, Skills: r.skills, Hosts: r.hosts, Reply: r.reply, Kept: r.kept})
	})
	spent.end()
	outcome := OutcomeDone
	switch {
	case t.ctx.Err() != nil && result.IsError:
		outcome = OutcomeInterrupted
	case result.IsError:
		outcome = OutcomeFailed
	}
	took := t.session.cfg.Now().Sub(begin)
	end := t.ended(r.call, r.spec.Name, result, outcome, took.Milliseconds())
	end.Authority = r.authority
	if outcome != OutcomeInterrupted {
		advice = t.review(r, result, took, send)
	}
	end.Files = recorded().then(advice.Changed) // the step ends here, so that it is known after a crash in a hook, too
	r.remark(joined(t.session.cfg.rewritten(t.ctx, "", end.Files), advice.afterwards()))
	end.Withheld = advice.Output != nil && len(result.Media) > 0
	if shorten := t.session.cfg.Shorten; shorten != nil && advice.Output == nil && outcome == OutcomeDone && result.Wanted == 0 {
		advice.Output = shorten(t.ctx, r.spec.Name, result.Output, func(made SideRequest) { send(made) })
	}
	end.ModelOutput = share(result.Output, t.told(r, result, advice.Output))
	send(end)
	return advice
}

// spending passes on what a call spent, until the call ends.
type spending struct {
	send func(Payload)
	mu   sync.Mutex
	over bool
}

func (s *spending) add(r SideRequest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.send(r)
	}
	return !s.over
}

func (s *spending) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// told returns what the model is told about a result, or instead of it. If that
// cannot be written, the model is told only so: the panic's value may hold what it
// must not see.
func (t *turn) told(r ready, result Result, instead *string) (text string) {
	reduce := t.reducer(r.spec.Name, result.Wanted)
	if instead != nil {
		text = reduce(*instead)
	} else if broken := protect(r.spec.Name, func() { text = r.output(result, reduce) }); broken != "" {
		text = notReduced
	}
	return strings.Join(append([]string{text}, r.remarks...), "\n\n")
}

// protect runs code of a tool or its binding. If that code panics, protect
// returns the text for the model, otherwise an empty text (LOOP-118).
func protect(tool string, run func()) (broken string) {
	defer func() {
		if p := recover(); p != nil {
			logPanic("tool", tool, p)
			broken = fmt.Sprintf("Tool error (%s): %v", tool, p)
		}
	}()
	run()
	return ""
}

func logPanic(whose, name string, p any) {
	slog.Error("recovered a panic", "of", whose, "name", name, "panic", p, "stack", string(debug.Stack()))
}

// end emits the end of a call that did not run in a goroutine of its own.
func (t *turn) end(call llm.ToolCall, tool string, r Result, o Outcome, ms int64) {
	t.emit(t.ended(call, tool, r, o, ms))
}

// endUnrun ends a call that was never run because the turn is ending.
func (t *turn) endUnrun(call llm.ToolCall) {
	t.end(call, t.session.tools().Canonical(call.Name), Fail("The user interrupted the turn before this call ran."), OutcomeInterrupted, 0)
}

func (t *turn) ended(call llm.ToolCall, tool string, r Result, o Outcome, ms int64) ToolCallEnd {
	return ToolCallEnd{
		CallID: call.ID, Tool: tool, Output: r.Output, IsError: r.IsError,
		Outcome: o, DurationMs: ms, Details: r.Details, Media: r.Media,
	}
}

// notReduced replaces an output whose reduction failed. The output itself might
// contain what the model must not see.
const notReduced = "[The output of this call was left out: preparing it for you failed. The user can see it.]"

// reducer reduces a tool's output to the model's share.
func (t *turn) reducer(tool string, wanted int) func(string) string {
	reduce := t.session.cfg.Reduce
	if reduce == nil {
		return func(output string) string { return output }
	}
	return func(output string) (told string) {
		if broken := protect(tool, func() { told = reduce(tool, output, wanted) }); broken != "" {
			return notReduced
		}
		return told
	}
}
