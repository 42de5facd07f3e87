package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/sandbox"
)

// run is a hook that is considered, and what became of it.
type run struct {
	handler Handler
	session string
	call    agent.HookCall // for functions
	about   About
	input   json.RawMessage
	own     bool              // the input is the call's own
	output  func(text string) // receives what a command prints; may be nil
	begin   time.Time
	took    time.Duration

	// what became of it
	result
}

// result is how a run ended.
type result struct {
	outcome Outcome
	cause   Cause
	detail  string
	printed *Printed
	answer  Answer
	// secrets were used, and must not be logged.
	secrets []string
}

func (r *result) fail(cause Cause, detail string) {
	r.outcome, r.cause, r.detail, r.answer = OutcomeFailed, cause, detail, Answer{}
}

// failClosed denies the call if the failure of the hook does.
func (r *run) failClosed() {
	if r.closes() {
		r.answer = Answer{Decision: agent.Deny, Reason: r.why()}
	}
}

// closes reports whether the failure of a hook denies the call (K-34): it guards
// calls, and it could not say what it thinks of this one.
func (r *run) closes() bool {
	if !guards(r.about.Point) {
		return false
	}
	switch r.outcome {
	case OutcomeTimedOut, OutcomeInterrupted:
		return true
	case OutcomeFailed:
		return r.cause != CauseExit
	}
	return false
}

// why says in a sentence why the hook failed.
func (r *run) why() string {
	why := map[Cause]string{
		CauseStart: "did not start", CauseSignal: "was ended by signal", CauseMissing: "cannot run its program", CauseOutput: "printed too much",
		CauseJSON: "gave an answer that cannot be read", CauseStatus: "got an answer with status", CauseRequest: "did not reach its server",
		CausePanic: "panicked", CauseFunction: "failed", CauseBusy: "still runs for earlier calls", CauseKind: "has nothing to run",
		CauseView:       "changed the input of a tool that it knows by another name, which only hooks that name the tool itself can",
		CauseUpdate:     "could not change the rules",
		CauseNotAllowed: "needs a variable that it does not get", CauseExit: "failed with exit code",
	}[r.cause]
	switch r.outcome {
	case OutcomeTimedOut:
		why = fmt.Sprintf("did not end within %s", r.handler.Terms.Timeout)
	case OutcomeInterrupted:
		why = "was interrupted"
	}
	switch {
	case r.detail == "":
	case r.outcome == OutcomeFailed && slices.Contains([]Cause{CauseExit, CauseSignal, CauseStatus}, r.cause): // a number
		why += " " + r.detail
	default:
		why += ": " + r.detail
	}
	return fmt.Sprintf("the hook %s %s", r.handler.Name, why)
}

// execute runs a hook and sets how it ended.
func (e *Engine) execute(ctx context.Context, r *run) {
	r.begin = now()
	started := time.Now()
	defer func() { r.took = time.Since(started) }()
	r.outcome, r.cause, r.detail = OutcomeRan, "", ""
	switch {
	case r.handler.Defect == DefectKind:
		r.fail(CauseKind, string(r.handler.Kind))
	case r.handler.Kind == KindCommand && r.handler.Command != nil:
		e.command(ctx, r)
	case r.handler.Kind == KindHTTP && r.handler.Request != nil:
		e.request(ctx, r)
	case r.handler.Kind == KindFunction && r.handler.Func != nil:
		e.function(ctx, r)
	default:
		r.fail(CauseKind, string(r.handler.Kind))
	}
}

// outputLimit is how much of each stream of a command, or of an answer, is kept.
const outputLimit = 1 << 20

// command runs a command to its end (OAS-663).
func (e *Engine) command(ctx context.Context, r *run) {
	if e.Runner == nil {
		r.fail(CauseStart, "commands are switched off here")
		return
	}
	argv, err := e.argv(runtime.GOOS, *r.handler.Command)
	if err != nil {
		r.fail(CauseStart, err.Error())
		return
	}
	x, err := e.Runner.Run(ctx, Program{
		Argv: argv, Dir: e.Folder, Env: append(e.environ(r.handler.Origin.Scope), e.variables(r.about, r.session)...),
		Input: r.input, Timeout: r.handler.Terms.Timeout, Limit: outputLimit, Output: r.output,
	})
	switch {
	case err != nil && ctx.Err() != nil:
		r.fail("", "")
		r.outcome = OutcomeInterrupted
		return
	case err != nil:
		r.fail(CauseStart, err.Error())
		return
	}
	r.printed = &Printed{Code: x.Code, Stdout: x.Stdout, Stderr: x.Stderr, Cut: x.Dropped}
	switch {
	case x.TimedOut:
		r.outcome = OutcomeTimedOut
	case x.Interrupted:
		r.outcome = OutcomeInterrupted
	default:
		r.read(readExit(r.about.Point, x))
	}
}

// read sets what the hook said, or why that does not count.
func (r *run) read(a Answer, fail *failure) {
	if fail != nil {
		r.fail(fail.cause, fail.detail)
		return
	}
	r.answer = a
	if a.Decision == agent.Deny && a.Reason == "" {
		r.answer.Reason = fmt.Sprintf("the hook %s blocks this", r.handler.Name)
	}
}

// argv returns the program to start and its arguments. In a list of arguments,
// placeholders are replaced; a shell has variables for that.
func (o *Options) argv(system string, c Command) ([]string, error) {
	if c.Args != nil {
		argv := []string{o.placed(c.Line)}
		for _, arg := range c.Args {
			argv = append(argv, o.placed(arg))
		}
		return argv, nil
	}
	switch {
	case c.Shell == "powershell":
		for _, program := range []string{"pwsh", "powershell"} {
			if path := sandbox.LookPath(program); path != "" {
				return []string{path, "-NoProfile", "-NonInteractive", "-Command", c.Line}, nil
			}
		}
		return nil, errors.New("PowerShell was not found")
	case system == "windows" && c.Shell == "":
		if strings.ContainsAny(strings.TrimSpace(c.Line), "\r\n") {
			return nil, errors.New("cmd.exe runs one line at a time")
		}
		return []string{"cmd.exe", "/d", "/s", "/c", strings.TrimSpace(c.Line)}, nil
	}
	for _, program := range []string{"bash", "sh"} {
		if path := sandbox.LookPath(program); path != "" {
			return []string{path, "-c", c.Line}, nil
		}
	}
	return nil, errors.New("no shell was found")
}

// environ returns the variables that hooks of a scope inherit. Those of a project
// get only what programs need to run (K-16, K-35).
func (o *Options) environ(scope Scope) []string {
	filter := sandbox.Filter{Allow: o.Allow}
	if scope.foreign() {
		filter.Inherit = sandbox.InheritCore
	}
	return slices.DeleteFunc(filter.Apply(sandbox.Environ()), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name == "BASH_ENV" || name == "ENV" || strings.HasPrefix(name, "BASH_FUNC_")
	})
}

// ended describes a run for the session's log.
func (e *Engine) ended(r run, name string) agent.HookEnd {
	clean := cleaner(r.secrets)
	end := agent.HookEnd{
		Point: r.about.Point, Name: name, CallID: r.about.CallID, Failed: r.outcome != OutcomeRan, DurationMs: r.took.Milliseconds(),
		Decision: r.answer.Decision, Input: string(r.answer.Input), Said: clean(r.answer.Said), Notice: r.answer.Notice,
		Message: clean(join("\n\n", r.answer.Reason, r.answer.Context, r.answer.Message, r.answer.Stop)),
		Stopped: r.answer.Stopped,
	}
	switch {
	case end.Failed:
		end.Message = clean(r.why())
	case r.cause != "":
		end.Message = join("\n\n", end.Message, clean(r.why()))
	}
	if n := end.Notice; n != nil {
		end.Notice = &agent.HookNotice{Title: clean(n.Title), Body: clean(n.Body), Level: n.Level}
	}
	return end
}
