package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/cmd/cli/output"
)

// run is one run of atelier run.
type run struct {
	*command
	flags    *runFlags
	prompt   string // empty if the lines of the input have all messages
	out      *output.Gather
	report   output.Report
	observer *output.Observer
	ended    chan agent.ProcessingEnd
	schema   *output.Schema // nil without --json-schema
	driver   *output.Driver // nil without --input stream-json
	refused  bool           // a line of the input was not carried out
}

// newRun returns the run of a command line. An error is a mistake in that.
func (c *command) newRun(f *runFlags, args []string) (r *run, err error) {
	r = &run{command: c, flags: f, out: output.NewGather(c.out), ended: make(chan agent.ProcessingEnd, 1)}
	if r.schema, err = output.ReadSchema(f.form.schema); err != nil {
		return nil, err
	}
	if r.report, err = output.NewReport(f.form.output, r.schema != nil, r.out, output.Flushed{Writer: c.err, Before: r.out}); err != nil {
		return nil, err
	}
	switch f.form.input {
	case "stream-json":
		if r.schema != nil || slices.Contains(args, "-") {
			return nil, errors.New("--input stream-json excludes --json-schema, and a prompt from the standard input")
		}
		r.driver = output.NewDriver()
		r.driver.Ended, r.driver.Refused = r.ended, r.refuse
	case "text":
	default:
		return nil, fmt.Errorf("--input is text or stream-json, not %q", f.form.input)
	}
	if r.driver == nil || len(args) > 0 {
		if r.prompt, err = c.prompt(args); err != nil {
			return nil, err
		}
	}
	r.observer = output.NewObserver(r.report, r.out, r.ended, r.notice)
	return r, nil
}

// notice takes the events of the run.
func (r *run) notice(ev agent.Event, own bool) {
	if r.driver != nil {
		r.driver.Observe(ev)
	}
	if r.schema != nil && own {
		r.schema.Observe(ev)
	}
}

// refuse tells that a line of the input was not carried out.
func (r *run) refuse(number int, err error) {
	r.refused = true
	fmt.Fprintf(r.err, "Line %d of the input was not carried out: %s\n", number, output.Said(err))
	if r.flags.form.output == "stream-json" {
		output.Refused(r.out, number, err)
		_ = r.out.Flush() // a reader that has left was noticed
	}
}

// maxAgain is how often a model is asked again for an answer in the form that it must have.
const maxAgain = 2

// turns runs the turns in the session that the flags name. A first interrupt
// ends the turn in order; a second one ends the program.
func (r *run) turns(app *app) (output.End, error) {
	id, err := r.session(app, r.flags, r.ended)
	if err != nil {
		return output.End{}, err
	}
	host := driven{app, id}
	leave := context.AfterFunc(r.ctx, r.stop)
	defer leave()
	if r.driver != nil {
		end, err := r.driver.Run(r.ctx, host, r.prompt, r.in)
		return output.End{ProcessingEnd: end}, err
	}
	prompt := r.prompt
	if r.schema != nil {
		prompt = r.schema.Asking(prompt)
	}
	var before llm.Usage
	for again := 0; ; again++ {
		if err := host.Begin(r.ctx, prompt); err != nil {
			return output.End{}, err
		}
		end := output.End{}
		select {
		case end.ProcessingEnd = <-r.ended:
		case <-r.ctx.Done():
			app.Interrupt(id)
			end.ProcessingEnd = <-r.ended
		}
		if again > 0 {
			end.Usage = before.Add(end.Usage)
		}
		if r.schema == nil || end.Reason != agent.EndDone {
			return end, nil
		}
		value, problem := r.schema.Value()
		if end.Structured = value; problem == nil {
			return end, nil
		}
		if again == maxAgain {
			end.Problem = "The answer is not in the form of --json-schema: " + problem.Error()
			return end, nil
		}
		before, prompt = end.Usage, r.schema.Again(problem)
	}
}

// finish prints the end of the run, and returns the exit code.
func (r *run) finish(end output.End, err error) int {
	if err != nil && r.interrupted(err) {
		err = output.ErrInterrupted
	}
	if err != nil {
		r.report.Failed(err)
		_ = r.out.Flush() // a reader that has left was noticed
		if code := r.fail(err); code != exitFailed {
			return code
		}
		switch backend.AsError(err).Code {
		case backend.CodeNoModel, backend.CodeKeyUnavailable, backend.CodeKeyNeeded:
			return exitSetup
		}
		return exitFailed
	}
	r.report.Finish(end)
	_ = r.out.Flush()
	switch end.Reason {
	case agent.EndDone:
		switch {
		case end.Problem != "":
			return exitForm
		case r.refused:
			return exitUsage
		}
		return exitDone
	case agent.EndLimit, agent.EndBudget:
		return exitLimit
	case agent.EndInterrupted:
		return exitInterrupted
	}
	return failureCode(llm.Class(r.observer.Code()))
}

// failureCode is the exit code of a turn's failure.
func failureCode(class llm.Class) int {
	switch class {
	case llm.ClassAuth, llm.ClassPermission, llm.ClassNotFound, llm.ClassQuota, llm.ClassConfig:
		return exitSetup
	case llm.ClassRateLimit, llm.ClassOverloaded, llm.ClassServer, llm.ClassTimeout, llm.ClassNetwork, llm.ClassTruncated:
		return exitAway
	}
	return exitFailed
}

// driven is the session of a run.
type driven struct {
	app *app
	id  string
}

// Begin implements [output.Host].
func (d driven) Begin(ctx context.Context, text string) error {
	if err := d.app.Rest(ctx, d.id); err != nil {
		return err
	}
	return d.app.Send(ctx, d.id, text)
}

// Steer implements [output.Host].
func (d driven) Steer(ctx context.Context, text string) error {
	_, err := ask[json.RawMessage](ctx, d.app, "queue.add", map[string]any{"session": d.id, "verb": agent.Steer, "text": text})
	return err
}

// Rest implements [output.Host].
func (d driven) Rest(ctx context.Context) (bool, error) {
	if err := d.app.Rest(ctx, d.id); err != nil {
		return false, err
	}
	waits, err := ask[struct{ Queue []agent.Queued }](ctx, d.app, "queue.list", map[string]string{"session": d.id})
	if err != nil || len(waits.Queue) == 0 {
		return false, err
	}
	_, err = ask[json.RawMessage](ctx, d.app, "queue.run", map[string]string{"session": d.id})
	return err == nil, err
}

// Answer implements [output.Host].
func (d driven) Answer(ctx context.Context, session, approval string, a agent.Answer) error {
	_, err := ask[json.RawMessage](ctx, d.app, "conversation.answer", workbench.AnswerRequest{Session: session, Approval: approval, Answer: a})
	return err
}

// Interrupt implements [output.Host].
func (d driven) Interrupt() { d.app.Interrupt(d.id) }
