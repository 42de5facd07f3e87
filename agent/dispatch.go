package agent

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// This file is the pipeline of one tool call (K-10), from top to bottom:
// start event, look-up, validation, gate and hooks, approval, execution, hooks
// again, reduction, end event. Later stages slot in where requirements K-10
// names them.

// maxConcurrent is how many calls run side by side (OAS-106).
const maxConcurrent = 10

// ready is a call that passed every check and may run.
type ready struct {
	call llm.ToolCall // with the tool's own arguments
	bound
	judged  Verdict  // the gate's, without what hooks made of it
	remarks []string // of hooks, for the model
}

// remark adds what a hook says to the model with the call's result.
func (r *ready) remark(text string) {
	if text != "" {
		r.remarks = append(r.remarks, text)
	}
}

// round runs the calls of one answer.
type round struct {
	*turn
	batch []ready // concurrent calls that are next to run
}

// dispatch runs the calls of one answer in their order (K-40). Consecutive calls
// that are concurrent run together, any other runs alone. Whoever decides about a
// call knows what those before it did: what is to run together is decided about
// one call after the other, and nobody is asked before the earlier ones have
// ended. Every call ends with a tool_call_end.
func (t *turn) dispatch(calls []llm.ToolCall) {
	r := round{turn: t}
	for _, c := range calls {
		r.take(c)
	}
	r.flush()
}

// take decides about a call, and runs it or adds it to the batch.
func (r *round) take(call llm.ToolCall) {
	c, fault := r.prepare(call)
	if fault == "" && !c.concurrent() {
		r.flush()
	}
	if !r.check(&c, fault) {
		return
	}
	if c.concurrent() {
		r.batch = append(r.batch, c)
		return
	}
	r.flush() // a hook may have made another call of it
	r.execute([]ready{c})
}

// flush runs the batch.
func (r *round) flush() {
	batch := r.batch
	r.batch = nil
	r.execute(batch)
}

// namedTool is a tool's name as a model gave it, for a sentence: quoted and cut
// where it could not be a name.
func namedTool(name string) string {
	const longest = 100
	switch {
	case llm.ValidToolName(name):
		return name
	case len(name) > longest:
		return fmt.Sprintf("%q…", name[:longest])
	}
	return fmt.Sprintf("%q", name)
}

// prepare reads a call. fault is the text for the model where it cannot be run.
func (t *turn) prepare(call llm.ToolCall) (c ready, fault string) {
	call.Arguments, call.Custom = call.Input(), false
	c.call = call
	var note string
	if broken := protect(call.Name, func() { c.bound, note, fault = t.read(&c.call) }); broken != "" {
		fault = broken
	}
	c.remark(note)
	return c, fault
}

// concurrent reports whether a call may run beside others that may: its tool's
// calls all do, or it is a command that only reads.
func (r *ready) concurrent() bool {
	if r.spec.Concurrent {
		return true
	}
	access, broken := r.access()
	return broken == "" && access.OnlyReads
}

// access asks the tool what a call would touch. broken is the text for the model
// where it cannot say.
func (r *ready) access() (access Access, broken string) {
	a, ok := r.tool.(Accessor)
	if !ok {
		return Access{}, ""
	}
	broken = protect(r.spec.Name, func() { access = a.Access(r.call.Arguments) })
	return access, broken
}

// check takes a call through everything that comes before its execution. A
// call that may not run has been ended when check returns false.
func (r *round) check(c *ready, fault string) bool {
	t := r.turn
	s := t.session
	if t.ctx.Err() != nil {
		t.endUnrun(c.call)
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
		t.end(c.call, c.spec.Name, Fail(denial), OutcomeDenied, 0)
		return false
	}
	return true
}

// read finds the tool that is called and puts its own arguments in the place of
// those that the model gave. note says which of them were ignored. fault is the
// text for the model when the call cannot be read.
func (t *turn) read(call *llm.ToolCall) (b bound, note, fault string) {
	tools := t.session.tools()
	b, ok := tools.get(call.Name)
	if !ok {
		return b, "", tools.unknown(call.Name) // LOOP-116
	}
	invalid := func(err error) (bound, string, string) {
		return b, "", fmt.Sprintf("The arguments of %s are not valid: %v. It takes %s. Correct them and call it again.", call.Name, err, b.takes()) // LOOP-117
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

// execute runs calls side by side and emits their events, as they come, from
// the session's goroutine.
func (t *turn) execute(batch []ready) {
	if len(batch) == 0 {
		return
	}
	if t.ctx.Err() != nil { // while others were asked about
		for _, r := range batch {
			t.endUnrun(r.call)
		}
		return
	}
	out := make(chan Payload)
	slots := make(chan struct{}, maxConcurrent)
	go func() { // ends when the batch has ended: every run sends its end
		var wg sync.WaitGroup
		for _, r := range batch {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				t.run(r, func(p Payload) { out <- p })
			})
		}
		wg.Wait()
		close(out)
	}()
	for {
		p, running := t.next(out)
		if !running {
			return
		}
		t.emit(p)
	}
}

// together is how long the end of one call waits for the ends of others, to be
// stored with them. It is far below what a person sees.
const together = time.Millisecond

// next waits for the next event of running calls. When none follows shortly,
// what is held back is passed on meanwhile.
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

// run executes one call and sends what happens to it, its end last. Several
// may run at once; send is safe for that.
func (t *turn) run(r ready, send func(Payload)) {
	begin := t.session.cfg.Now()
	printed := func(text string, offset int) {
		send(ToolCallOutput{CallID: r.call.ID, Text: text, Offset: offset})
	}
	result := watched(r.spec.Name, printed, func(output func(string)) Result {
		return r.tool.Run(t.ctx, Invocation{CallID: r.call.ID, Input: r.call.Arguments, Output: output})
	})
	outcome := OutcomeDone
	switch {
	case t.ctx.Err() != nil && result.IsError:
		outcome = OutcomeInterrupted
	case result.IsError:
		outcome = OutcomeFailed
	}
	took := t.session.cfg.Now().Sub(begin)
	end := t.ended(r.call, r.spec.Name, result, outcome, took.Milliseconds())
	if outcome != OutcomeInterrupted {
		r.remark(t.review(r, result, send))
	}
	end.ModelOutput = share(result.Output, t.told(r, result))
	send(end)
}

// told is what the model is told of a result.
func (t *turn) told(r ready, result Result) (text string) {
	if broken := protect(r.spec.Name, func() { text = r.output(result, t.reducer(r.spec.Name, result.Wanted)) }); broken != "" {
		text = broken
	}
	return strings.Join(append([]string{text}, r.remarks...), "\n\n")
}

// protect runs code of a tool or of its binding. It returns what the model is
// told where that panics, else nothing (LOOP-118).
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
	slog.Error("panic", "of", whose, "name", name, "panic", p, "stack", string(debug.Stack()))
}

// end emits the end of a call that ends in the session's goroutine.
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

// notReduced is what a model is told instead of an output whose share could not
// be determined. The output itself might be what it must not see.
const notReduced = "[The output of this call was left out: preparing it for you failed. The user can see it.]"

// reducer brings a tool's output down to the model's share.
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
