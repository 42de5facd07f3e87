package tool

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/screen"
)

// DefaultCommandTimeout and MaxCommandTimeout limit commands. The
// specification's own default is SpecCommandTimeout; builds and tests need more
// (K-44, LOOP-121).
const (
	SpecCommandTimeout    = 10 * time.Second
	DefaultCommandTimeout = 2 * time.Minute
	MaxCommandTimeout     = 600 * time.Second
)

// maxStreamed limits the output that is shown while a command runs, in bytes.
const maxStreamed = 1 << 20

// BashDescription is what a model is told of Bash, once [StateShell], [StateTimeout] and
// [StateEnd] have completed it.
//
//go:embed bash.md
var BashDescription string

// BashInput is the input of Bash.
type BashInput struct {
	Command         string `json:"command" jsonschema:"the command line to run"`
	Timeout         int64  `json:"timeout,omitempty" jsonschema:"time limit in milliseconds, at most 600000"`
	Description     string `json:"description,omitempty" jsonschema:"what the command does, in five to ten words"`
	Workdir         string `json:"workdir,omitempty" jsonschema:"the directory to run in, if not the working directory"`
	RunInBackground bool   `json:"run_in_background,omitempty" jsonschema:"return at once and let the command run on as a task"`
	YieldTimeMs     int64  `json:"yield_time_ms,omitempty" jsonschema:"return after so many milliseconds and let the command run on as a task if it has not ended"`
	Input           bool   `json:"input,omitempty" jsonschema:"let WriteStdin type to the task"`
	TTY             bool   `json:"tty,omitempty" jsonschema:"run it on a terminal, for programs that need one; WriteStdin can type to it"`
	Unconfined      bool   `json:"unconfined,omitempty" jsonschema:"ask the user to let this command run unconfined, after it failed because commands are confined here"`
	// MaxOutputTokens is for the binding that writes the result; see [Progress].
	MaxOutputTokens int64 `json:"max_output_tokens,omitempty" jsonschema:"how much of the output to show"`
}

// bash implements the Bash tool (LOOP-26, OAS-306). The data of its results is
// an [env.CommandResult], or a [Progress] for a command that may keep running.
type bash struct {
	definition
	env     env.Environment
	timeout time.Duration // for commands without their own
	tasks   *Tasks
	outlive bool // see [Options]
	seen    *Memory
	reduce  func(tool, text string, wanted int) string
}

func newBash(e env.Environment, o Options, seen *Memory) *bash {
	timeout := min(o.CommandTimeout, MaxCommandTimeout)
	description := StateEnd(StateTimeout(StateShell(BashDescription, e.Platform()), timeout), o.Outlive)
	shared := define[BashInput]("Bash", description)
	shared.spec.OpenWorld = true
	return &bash{shared, e, timeout, o.Tasks, o.Outlive, seen, o.Reduce}
}

// StateShell inserts the shell of a platform, a GOOS value, into a text about
// commands: {shell}.
func StateShell(text, platform string) string {
	shell := "bash"
	if platform == "windows" {
		shell = "cmd.exe, which takes a single line,"
	}
	return strings.ReplaceAll(text, "{shell}", shell)
}

// StateTimeout inserts the default time limit into a text about commands:
// {timeout} in words, {timeout_ms} in milliseconds.
func StateTimeout(text string, limit time.Duration) string {
	words := count(int(limit.Milliseconds()), "millisecond")
	switch {
	case limit >= 2*time.Minute && limit%time.Minute == 0:
		words = count(int(limit/time.Minute), "minute")
	case limit%time.Second == 0:
		words = count(int(limit/time.Second), "second")
	}
	return strings.NewReplacer("{timeout}", words, "{timeout_ms}", strconv.FormatInt(limit.Milliseconds(), 10)).Replace(text)
}

// StateEnd inserts what happens to a command at its time limit into a text about commands:
// {end}.
func StateEnd(text string, outlive bool) string {
	end := "One that runs out of time is ended together with everything it started."
	if outlive {
		end = "One that takes longer is not lost: it goes on as a background task, and the result says how to follow and end it."
	}
	return strings.ReplaceAll(text, "{end}", end)
}

// Access implements [agent.Accessor].
func (b *bash) Access(ctx context.Context, input json.RawMessage) agent.Access {
	in, err := parse(input, BashInput{})
	if err != nil {
		return agent.Access{}
	}
	access := agent.Access{Command: in.Command}
	if in.Workdir != "" {
		if dir := absolute(b.env, in.Workdir); dir != absolute(b.env, "") {
			access.Dir = dir
		}
	}
	if confining, ok := env.ConfinementOf(ctx, b.env); ok {
		access.Confinement, access.InAuto = confinement(confining, in.Unconfined)
		access.Hosts = b.lacks(confining, in)
	}
	if foreseen, ok := b.foresee(ctx, in); ok && access.Confinement != agent.Unconfined {
		access.OnlyReads, access.Reads = true, foreseen.Reads
	}
	return access
}

// confinement returns how a command would be confined, and how in the mode auto, in
// which confined commands need no consent.
func confinement(c env.Confining, outside bool) (now, inAuto agent.Confinement) {
	if c.Always {
		now = agent.Confined
		if c.Free {
			now = agent.ConfinedFree
		}
	}
	inAuto = now
	if c.Auto {
		inAuto = agent.ConfinedFree
	}
	if outside && c.Outside {
		if c.Always {
			now = agent.Unconfined
		}
		inAuto = agent.Unconfined
	}
	return now, inAuto
}

// foresee returns what a read-only command will read. It reports false for
// every other command, for a background task, and for a command on a terminal,
// where programs behave differently.
func (b *bash) foresee(ctx context.Context, in BashInput) (env.Foreseen, bool) {
	f, ok := b.env.(env.Foreseer)
	if !ok || in.RunInBackground || in.TTY {
		return env.Foreseen{}, false
	}
	return f.Foresee(ctx, in.Command, absolute(b.env, in.Workdir))
}

// Run implements [agent.Tool].
func (b *bash) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := parse(call.Input, BashInput{})
	if err != nil {
		return failed(err)
	}
	if strings.TrimSpace(in.Command) == "" {
		return agent.Fail("The command is empty.")
	}
	if err := b.enter(ctx, in.Workdir); err != nil {
		return failed(err)
	}
	timeout, clamped := b.limit(in.Timeout)
	command := env.Command{
		Line: in.Command, Dir: in.Workdir, TTY: in.TTY, Timeout: timeout, Merge: true, Output: atMost(maxStreamed, call.Output), Hosts: call.Hosts,
		Unconfined: call.Unconfined,
	}
	if in.Unconfined {
		if confining, confined := env.ConfinementOf(ctx, b.env); confined && !confining.Outside && !call.Unconfined {
			return agent.Fail("Commands cannot run unconfined here: the settings do not allow it. Find a way inside the confinement, or ask the user to run the command.")
		}
	}
	var printed shownFiles
	if foreseen, ok := b.foresee(ctx, in); ok {
		command.Env = env.Harmless
		printed = b.seen.before(ctx, b.env, foreseen.Files)
	}
	var result agent.Result
	var end env.CommandResult
	over := true
	if in.RunInBackground || in.YieldTimeMs > 0 {
		begin := time.Now()
		result = asked(b.runOn(ctx, in, command), begin, in.MaxOutputTokens)
		p, ok := result.Data.(Progress)
		end, over = p.CommandResult, ok && !p.Running
	} else {
		if result, end, over = b.wait(ctx, command); result.IsError && over && result.Data == nil {
			return result
		}
		if clamped && over {
			result.Output = withRemarks(result.Output, []string{fmt.Sprintf("[The timeout was set to %d ms, the longest allowed.]", timeout.Milliseconds())})
		}
	}
	if over && succeeded(end) {
		b.seen.after(ctx, b.env, printed)
	}
	if strings.Contains(result.Output, "@@ -") {
		b.seen.sawDiffs(ctx, b.env, absolute(b.env, in.Workdir), b.reduce("Bash", result.Output, result.Wanted))
	}
	return result
}

func succeeded(r env.CommandResult) bool { return r.ExitCode == 0 && !r.TimedOut && !r.Interrupted }

// enter returns an error for the model if a command cannot run in dir.
func (b *bash) enter(ctx context.Context, dir string) error {
	if dir == "" {
		return nil
	}
	info, err := b.env.Stat(ctx, dir)
	if err == nil && !info.Mode.IsDir() {
		err = &env.Error{Path: dir, Problem: "is not a directory"}
	}
	if err != nil {
		return fmt.Errorf("the command did not run: %w", err)
	}
	return nil
}

// runOn starts a command as a task and waits for the requested time. A task has
// a time limit only if the call names one.
func (b *bash) runOn(ctx context.Context, in BashInput, command env.Command) agent.Result {
	command.Input = in.Input
	if in.Timeout <= 0 {
		command.Timeout = 0
	}
	wait := min(time.Duration(in.YieldTimeMs)*time.Millisecond, MaxCommandTimeout)
	window := &valve{pass: command.Output}
	command.Output = window.through
	if in.RunInBackground {
		command.Output, wait = nil, 0
	}
	t, err := b.start(ctx, command)
	if err != nil {
		return failed(fmt.Errorf("the command did not run: %w", err))
	}
	if wait == 0 {
		return t.progress("[The command is running in the background, as task "+t.id+".]", 0)
	}
	r, over := b.await(ctx, t, wait)
	window.close()
	if !over {
		return t.progress("[The command is still running, as task "+t.id+".]", 0)
	}
	result := ended(r, command.Timeout)
	result.Data = Progress{CommandResult: r, Remarks: besides(r, command.Timeout)}
	return result
}

func (b *bash) start(ctx context.Context, command env.Command) (*task, error) {
	confining, confined := env.ConfinementOf(ctx, b.env)
	return b.tasks.start(ctx, legible{b.env}, command, confined && confining.Auto && !command.Unconfined)
}

// await waits for a task whose id the model does not know yet. One that ends is no task
// any more, and one whose caller goes away is stopped.
func (b *bash) await(ctx context.Context, t *task, limit time.Duration) (r env.CommandResult, over bool) {
	r, over = t.wait(ctx, limit)
	if !over && ctx.Err() != nil {
		t.process.Stop()
		r, over = t.wait(context.WithoutCancel(ctx), 0)
	}
	if over {
		b.tasks.forget(t)
		r.Stdout = t.read(0)
	}
	return r, over
}

// wait runs a command whose end the call waits for, up to the command's time limit. Then it
// is ended, or goes on as a task. A result without data says why it did not run.
func (b *bash) wait(ctx context.Context, command env.Command) (result agent.Result, end env.CommandResult, over bool) {
	limit := command.Timeout
	if outliver, ok := b.env.(env.Outliver); ok && b.outlive && !onlySleeps(command.Line) && b.tasks.running() < maxTasks && outliver.MayOutlive(ctx, command) {
		window := &valve{pass: command.Output}
		command.Timeout, command.Output, command.Keep = 0, window.through, env.MaxKept
		t, err := b.start(ctx, command)
		if err != nil {
			return failed(fmt.Errorf("the command did not run: %w", err)), end, true
		}
		end, over = b.await(ctx, t, limit)
		window.close()
		if !over {
			return t.outlived(limit), end, false
		}
		return ended(end, limit), end, true
	}
	end, err := legible{b.env}.Exec(ctx, command)
	if err != nil {
		return failed(fmt.Errorf("the command did not run: %w", err)), end, true
	}
	return ended(end, limit), end, true
}

// onlySleeps reports whether a command line only waits, so that nobody misses its end.
func onlySleeps(line string) bool {
	words := strings.Fields(line)
	return len(words) == 2 && words[0] == "sleep"
}

// valve passes text on until it is closed. After a call has returned, nothing
// receives its output.
type valve struct {
	mu   sync.Mutex
	pass func(string)
}

func (v *valve) through(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.pass != nil {
		v.pass(text)
	}
}

func (v *valve) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pass = nil
}

// ended returns the result of a command that has ended.
// The user is shown its colours.
func ended(r env.CommandResult, timeout time.Duration) agent.Result {
	result := agent.Result{
		Output:  withRemarks(r.Stdout, remarks(r, timeout)),
		IsError: r.TimedOut || r.Interrupted,
		Details: &agent.Details{Command: commandResult(r)},
	}
	r.Stdout = screen.Shown(r.Stdout)
	result.Data = r
	return result
}

func commandResult(r env.CommandResult) *agent.CommandResult {
	return &agent.CommandResult{ExitCode: r.ExitCode, TimedOut: r.TimedOut, Dropped: r.Dropped, Confined: r.Confined != nil}
}

// limit returns the time limit for a call that asks for ms milliseconds.
func (b *bash) limit(ms int64) (limit time.Duration, clamped bool) {
	switch {
	case ms <= 0:
		return min(b.timeout, MaxCommandTimeout), false
	case ms > MaxCommandTimeout.Milliseconds():
		return MaxCommandTimeout, true
	}
	return time.Duration(ms) * time.Millisecond, false
}

// remarks explains how the command ended if its output alone would mislead
// (LOOP-41). The exit code comes last, where the page leaves it out, because its
// card shows it.
func remarks(r env.CommandResult, timeout time.Duration) []string {
	notes := besides(r, timeout)
	switch {
	case r.Interrupted || r.TimedOut: // no exit code of its own
	case r.ExitCode != 0:
		notes = append(notes, fmt.Sprintf("[Exit code %d]", r.ExitCode))
	case r.Stdout == "":
		notes = append(notes, "[The command succeeded and printed nothing.]")
	}
	return notes
}

// besides explains how the command ended if its output and exit code would
// mislead.
func besides(r env.CommandResult, timeout time.Duration) (notes []string) {
	switch {
	case r.Interrupted:
		notes = append(notes, "[The user interrupted the command. Partial output is shown above.]")
	case r.TimedOut:
		notes = append(notes, fmt.Sprintf("[ERROR: Command timed out after %dms. Partial output is shown above. "+
			"You can retry with a longer timeout by setting the timeout parameter.]", timeout.Milliseconds()))
	}
	notes = append(notes, blocked(r)...)
	for _, note := range r.Notes {
		notes = append(notes, "["+note+"]")
	}
	if r.Left {
		notes = append(notes, "[A process was left running in the background; what it prints from now on is lost. "+
			"To keep it, use run_in_background.]")
	}
	if r.Spill.Path != "" {
		notes = append(notes, spillRemark(r.Spill))
	}
	return notes
}

// blocked says what the confinement of a command kept it from, as far as that is
// known.
func blocked(r env.CommandResult) []string {
	if r.Confined == nil {
		return nil
	}
	if refusals := r.Confined.Refusals(); refusals != "" {
		return []string{"[" + refusals + "]"}
	}
	if b, ok := r.Confined.Explain(r.Stdout, r.ExitCode != 0); ok {
		return []string{"[" + b.Sentence() + "]"}
	}
	return nil
}

// spillRemark says where the output is that exceeded the memory limit.
func spillRemark(s env.Spill) string {
	if s.Cut {
		return fmt.Sprintf("[The output was too long to be kept whole. Its beginning is in %s.]", s.Path)
	}
	return fmt.Sprintf("[The whole output is in %s.]", s.Path)
}

func withRemarks(output string, notes []string) string {
	if len(notes) == 0 {
		return output
	}
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return output + strings.Join(notes, "\n")
}

// atMost passes on the first limit bytes of a text that arrives in pieces.
func atMost(limit int, pass func(string)) func(string) {
	return func(text string) {
		if limit <= 0 {
			return
		}
		if len(text) > limit {
			text = text[:limit]
			for !utf8.ValidString(text) { // the cut fell into a rune
				text = text[:len(text)-1]
			}
			limit = 0
		}
		limit -= len(text)
		pass(text)
	}
}
