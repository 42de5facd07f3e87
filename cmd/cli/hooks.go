package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/hooks"
	"atelier.dev/atelier/backend/review"
)

// maxHookInput limits the input that a hook is tested with, in bytes.
const maxHookInput = 16 << 20

const hooksUsage = `Usage: atelier hooks list [flags] [DIR]
       atelier hooks test [flags] EVENT

  list  lists the hooks of all settings files, and whether they run
  test  runs the hooks of an event with an input, and says what they would do
`

// hooks lists the hooks of a project, or tests them.
func (c *command) hooks(args []string) int {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	switch name {
	case "list":
		return c.listHooks(args[1:])
	case "test":
		return c.testHooks(args[1:])
	case "help", "--help", "-h":
		fmt.Fprint(c.err, hooksUsage)
		return exitDone
	}
	fmt.Fprint(c.err, hooksUsage)
	return exitUsage
}

// withApp runs something with the application of a folder. Nothing is recovered by
// looking.
func (c *command) withApp(dir string, do func(a *app) error) int {
	folder, home, err := c.places(dir)
	if err != nil {
		return c.fail(err)
	}
	defer c.logTo(home)()
	cfg := c.config(folder, home)
	cfg.Unattended = true
	a, err := openApp(c.ctx, cfg)
	if err != nil {
		return c.fail(err)
	}
	err = do(a)
	if closing := a.Close(context.WithoutCancel(c.ctx)); err == nil {
		err = closing
	}
	switch {
	case errors.Is(err, errSaid):
		return exitFailed
	case err != nil:
		return c.fail(err)
	}
	return exitDone
}

// errSaid ends a command that has said why it failed.
var errSaid = errors.New("this was reported")

// ask calls a method of the application.
func ask[T any](ctx context.Context, host Host, method string, in any) (T, error) {
	var reply struct {
		OK    T              `json:"ok"`
		Error *backend.Error `json:"error"`
	}
	args, err := json.Marshal(in)
	if err != nil {
		return reply.OK, fmt.Errorf("encode a request: %w", err)
	}
	if err := json.Unmarshal([]byte(host.Call(ctx, method, string(args))), &reply); err != nil {
		return reply.OK, fmt.Errorf("decode the answer of %s: %w", method, err)
	}
	if reply.Error != nil {
		return reply.OK, reply.Error
	}
	return reply.OK, nil
}

func (c *command) listHooks(args []string) int {
	flags := c.flags("atelier hooks list [flags] [DIR]")
	asJSON := flags.Bool("json", false, "print one JSON object")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() > 1 {
		return c.misused(flags, "one folder at a time")
	}
	return c.withApp(flags.Arg(0), func(a *app) error {
		reply, err := ask[hooks.HooksReply](c.ctx, a, "hooks.list", hooks.HooksRequest{})
		if err != nil {
			return err
		}
		items, err := trustItems(c.ctx, a)
		if err != nil {
			return err
		}
		if *asJSON {
			return writeJSON(c.out, struct {
				hooks.HooksReply
				Trust []review.TrustRow `json:"trust,omitempty"`
			}{reply, items})
		}
		printHooks(c.out, reply, items)
		return nil
	})
}

func trustItems(ctx context.Context, a *app) ([]review.TrustRow, error) {
	reply, err := ask[review.TrustReply](ctx, a, "trust.list", backend.Empty{})
	return reply.Items, err
}

// stateWords say whether a hook runs.
var stateWords = map[hooks.HookState]string{
	hooks.StateRuns: "runs", hooks.StateOff: "switched off", hooks.StateForeign: "written for Claude Code, switched off",
	hooks.StateUntrusted: "waits for your trust", hooks.StateChanged: "changed since you trusted it", hooks.StateRefused: "refused",
	hooks.StateBroken: "cannot run",
}

func printHooks(out io.Writer, reply hooks.HooksReply, items []review.TrustRow) {
	if len(reply.Files) == 0 {
		fmt.Fprintln(out, "There are no settings files.")
	}
	for _, f := range reply.Files {
		fmt.Fprintf(out, "%s (%s)\n", oneLine(f.Path), f.Scope)
		if f.Problem != nil {
			fmt.Fprintf(out, "  ! %s\n", line(f.Problem.Message))
		}
		for _, n := range f.Findings {
			fmt.Fprintf(out, "  ! line %d: %s\n", n.Line, line(n.Message))
		}
		empty := len(f.Missing) == 0
		for _, x := range f.Missing {
			fmt.Fprintf(out, "  %s  %s: cannot be found in the file any more. The calls that it guarded are asked about.\n", x.ID, line(x.Name))
		}
		for _, h := range reply.Hooks {
			if h.Origin.File == f.Path {
				empty = false
				printHook(out, h, items)
			}
		}
		if empty && f.Problem == nil {
			fmt.Fprintln(out, "  no hooks")
		}
	}
}

func printHook(out io.Writer, h hooks.HookRow, items []review.TrustRow) {
	matcher := cmp.Or(h.Draft.Matcher, "*")
	fmt.Fprintf(out, "  %s  %s %s: %s\n", h.ID, h.Draft.Point, oneLine(matcher), stateWords[h.State])
	fmt.Fprintf(out, "    %s\n", line(cmp.Or(does(h.Draft), h.Draft.Name)))
	for _, n := range h.Findings {
		fmt.Fprintf(out, "    ! %s\n", line(n.Message))
	}
	i := slices.IndexFunc(items, func(r review.TrustRow) bool { return r.ID == h.Trust })
	if i < 0 || h.Trust == "" {
		return
	}
	for _, file := range items[i].Files {
		fmt.Fprintf(out, "    runs %s\n", oneLine(file))
	}
	for _, n := range items[i].Notes {
		fmt.Fprintf(out, "    ! %s\n", line(n.Message))
	}
}

// does returns what a hook runs; empty if there is nothing.
func does(d hooks.HookDraft) string {
	command := strings.Join(append([]string{d.Action.Command}, d.Action.Args...), " ")
	return cmp.Or(strings.TrimSpace(command), d.Action.URL)
}

// line returns foreign text on one line.
func line(text string) string { return lineOf(text, 500) }

// hookTest are the flags of atelier hooks test.
type hookTest struct {
	folder, input, hook, command string
	trust                        bool
}

func (c *command) testHooks(args []string) int {
	var f hookTest
	flags := c.flags("atelier hooks test [flags] EVENT")
	flags.StringVarP(&f.folder, "directory", "C", "", "project folder (default: the current one)")
	flags.StringVar(&f.input, "input", "", "a file with the JSON that the hook is told, or - (default: an example)")
	flags.StringVar(&f.hook, "hook", "", "only the hook with this id, or the beginning of it")
	flags.StringVar(&f.command, "command", "", "this command line instead of a hook")
	flags.BoolVar(&f.trust, "trust-hooks", false, "trust the project's hooks as they stand there now, for this test")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() != 1 {
		return c.misused(flags, "name one event, such as PreToolUse")
	}
	if f.hook != "" && f.command != "" {
		return c.misused(flags, "--hook and --command exclude each other")
	}
	input, err := c.hookInput(f.input)
	if err != nil {
		fmt.Fprintln(c.err, err)
		return exitFailed
	}
	return c.withApp(f.folder, func(a *app) error {
		points, err := ask[hooks.HookPointsReply](c.ctx, a, "hooks.points", backend.Empty{})
		if err != nil {
			return err
		}
		event := flags.Arg(0)
		i := slices.IndexFunc(points.Points, func(p hooks.HookPointInfo) bool { return p.Event == event || string(p.Point) == event })
		if i < 0 {
			fmt.Fprintf(c.err, "There is no event %s. These are the events:\n", oneLine(event))
			for _, p := range points.Points {
				fmt.Fprintf(c.err, "  %s\n", p.Event)
			}
			return errSaid
		}
		if input == nil {
			input = points.Points[i].Example
		}
		drafts, err := c.drafts(a, f, points.Points[i])
		if err != nil {
			return err
		}
		return c.tryHooks(a, drafts, input)
	})
}

// hookInput reads the input of a test; without a name it is nil.
func (c *command) hookInput(name string) (json.RawMessage, error) {
	if name == "" {
		return nil, nil
	}
	in := c.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read the input: %w", err)
		}
		defer file.Close()
		in = file
	}
	b, err := io.ReadAll(io.LimitReader(in, maxHookInput+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the input: %w", err)
	case len(b) > maxHookInput:
		return nil, fmt.Errorf("read the input: it is larger than %d MiB", maxHookInput>>20)
	case !json.Valid(b):
		return nil, errors.New("read the input: it is not JSON")
	}
	return bytes.TrimSpace(b), nil
}

// drafts returns what is to be tested: a command, a hook, or the hooks of the point
// that may run.
func (c *command) drafts(a *app, f hookTest, point hooks.HookPointInfo) ([]hooks.HookTestRequest, error) {
	if f.command != "" {
		return []hooks.HookTestRequest{{Draft: hooks.HookDraft{Point: point.Point, Name: f.command, Action: hooks.HookAction{Kind: hooks.KindCommand, Command: f.command}}}}, nil
	}
	if f.trust {
		if _, err := a.TrustHooks(c.ctx); err != nil {
			return nil, err
		}
	}
	reply, err := ask[hooks.HooksReply](c.ctx, a, "hooks.list", hooks.HooksRequest{})
	if err != nil {
		return nil, err
	}
	items, err := trustItems(c.ctx, a)
	if err != nil {
		return nil, err
	}
	var out []hooks.HookTestRequest
	for _, h := range reply.Hooks {
		if h.Draft.Point != point.Point || !strings.HasPrefix(h.ID, f.hook) {
			continue
		}
		name := oneLine(cmp.Or(h.Draft.Name, does(h.Draft), h.ID))
		wait := slices.ContainsFunc(items, func(r review.TrustRow) bool { return r.ID == h.Trust && r.State != review.TrustAccepted })
		switch {
		case h.State == hooks.StateBroken:
			fmt.Fprintf(c.err, "The hook %s cannot run as it is written.\n", name)
			for _, n := range h.Findings {
				fmt.Fprintf(c.err, "  %s\n", line(n.Message))
			}
		case wait:
			fmt.Fprintf(c.err, "The hook %s waits for your trust, so it was not run. Look at it with atelier hooks list. To trust it for this test, add --trust-hooks.\n", name)
		case h.State == hooks.StateRuns || f.hook != "":
			out = append(out, hooks.HookTestRequest{Draft: h.Draft, Replaces: h.ID, Matching: true})
		}
	}
	if len(out) == 0 {
		fmt.Fprintf(c.err, "There is no hook of %s to run.\n", point.Event)
		return nil, errSaid
	}
	return out, nil
}

// tryHooks runs hooks and prints what they would do. It fails if one could not run.
func (c *command) tryHooks(a *app, drafts []hooks.HookTestRequest, input json.RawMessage) error {
	failed := false
	for i, test := range drafts {
		test.Input = input
		entry, err := ask[hooks.HookLogEntry](c.ctx, a, "hooks.test", test)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(c.out)
		}
		if entry.Outcome == hooks.OutcomeNotMatched {
			fmt.Fprintf(c.out, "hook:    %s\noutcome: does not match: %s\n", line(entry.Hook.Name), unmatched(entry))
			continue
		}
		printEntry(c.out, entry)
		failed = failed || entry.ExitCode == nil || entry.Cause == hooks.CauseMissing || entry.Cause == hooks.CauseStart
	}
	if failed {
		return errSaid
	}
	return nil
}

// unmatched says why a hook is not about its input.
func unmatched(e hooks.HookLogEntry) string {
	switch {
	case e.Cause == hooks.CauseRule:
		return fmt.Sprintf("the call is none of those of the rule %s in \"if\"", line(e.Detail))
	case e.Detail == "":
		return fmt.Sprintf("the input does not have what the matcher %s is compared with", line(e.Hook.Matcher))
	}
	return fmt.Sprintf("the matcher %s is not about %s, of which the input tells; give it another one with --input", line(e.Hook.Matcher), line(e.Detail))
}

// printEntry prints what a hook was told and what it answered.
func printEntry(out io.Writer, e hooks.HookLogEntry) {
	fmt.Fprintf(out, "hook:    %s\n", line(e.Hook.Name))
	fmt.Fprintf(out, "input:   %s\n", e.Input)
	outcome := string(e.Outcome)
	if e.Cause != "" {
		outcome += ", " + string(e.Cause)
	}
	if e.Detail != "" {
		outcome += ": " + line(e.Detail)
	}
	fmt.Fprintf(out, "outcome: %s, after %d ms\n", outcome, e.DurationMs)
	if e.ExitCode != nil {
		fmt.Fprintf(out, "exit:    %d\n", *e.ExitCode)
	}
	for _, text := range []struct{ name, text string }{{"output", e.Stdout}, {"errors", e.Stderr}} {
		if text.text != "" {
			fmt.Fprintf(out, "%s:\n%s\n", text.name, indented(text.text))
		}
	}
	fmt.Fprintf(out, "effect:  %s\n", effectOf(e.Effect))
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

// effectOf says what a hook would have done.
func effectOf(e hooks.HookEffect) string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if e.Decision != "" {
		say("%s", e.Decision)
	}
	for _, text := range []struct{ name, text string }{
		{"reason", e.Reason}, {"new input", e.Input}, {"told to the model", e.Context}, {"told instead of the result", e.Output},
		{"shown to you", e.Message}, {"shown to you and told to the model", e.Said}, {"name of the session", e.Title},
	} {
		if text.text != "" {
			say("%s: %s", text.name, line(text.text))
		}
	}
	if e.Stopped {
		say("the turn ends: %s", line(e.Stop))
	}
	if e.Notice != nil {
		say("notice: %s", line(strings.TrimSpace(e.Notice.Title+" "+e.Notice.Body)))
	}
	if e.Rule != nil {
		say("rule: %s %s", e.Rule.Decision, line(e.Rule.Rule))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, "; ")
}

// settleHooks trusts the hooks of the project, if the user said so, and tells which
// of them do not run. Nobody can be asked about them.
func (c *command) settleHooks(a *app, trusted bool) error {
	if trusted {
		if _, err := a.TrustHooks(c.ctx); err != nil {
			return err
		}
	}
	reply, err := ask[hooks.HooksReply](c.ctx, a, "hooks.list", hooks.HooksRequest{})
	if err != nil {
		return err
	}
	for _, f := range reply.Files {
		if f.Problem != nil {
			fmt.Fprintln(c.err, line(f.Problem.Message))
		}
		for _, x := range f.Missing {
			fmt.Fprintf(c.err, "The hook %s cannot be found in %s any more, so the calls that it guarded are denied.\n", line(x.Name), line(f.Path))
		}
	}
	waiting := 0
	for _, h := range reply.Hooks {
		if h.State == hooks.StateUntrusted || h.State == hooks.StateChanged {
			waiting++
		}
	}
	count, them, they := fmt.Sprintf("%d hooks do", waiting), "them", "they stand"
	switch waiting {
	case 0:
		return nil
	case 1:
		count, them, they = "1 hook does", "it", "it stands"
	}
	if trusted {
		fmt.Fprintf(c.err, "%s not run, because not everything that would run can be checked. atelier hooks list says why.\n", count)
		return nil
	}
	fmt.Fprintf(c.err, "%s not run, because you did not trust %s as %s there now. Look at %[2]s with atelier hooks list. To trust %[2]s for one run, add --trust-hooks.\n", count, them, they)
	return nil
}
