package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/hooks"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/settings"
	"atelier.dev/atelier/cmd/cli/output"
)

// This file runs hooks with an input, for atelier hooks test.

// maxHookInput limits the input that a hook is tested with, in bytes.
const maxHookInput = 16 << 20

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
			fmt.Fprintf(c.err, "There is no event %s. These are the events:\n", output.OneLine(event))
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
	b = settings.Unmarked(b)
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
		name := output.OneLine(cmp.Or(h.Draft.Name, does(h.Draft), h.ID))
		wait := slices.ContainsFunc(items, func(r review.TrustRow) bool { return r.ID == h.Trust && r.State != review.TrustAccepted })
		switch {
		case h.State == hooks.StateBroken:
			c.tellBroken(h)
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

// tellBroken says why a hook cannot run.
func (c *command) tellBroken(h hooks.HookRow) {
	fmt.Fprintf(c.err, "The hook %s cannot run as it is written.\n", output.OneLine(cmp.Or(h.Draft.Name, does(h.Draft), h.ID)))
	for _, n := range h.Findings {
		if !n.Harmless {
			fmt.Fprintf(c.err, "  %s\n", line(n.Message))
		}
	}
}

// byStrictness has what hooks decide, the strictest last.
var byStrictness = []agent.Decision{agent.Allow, agent.Ask, agent.Deny}

// tryHooks runs hooks and prints what they would do. It fails if one could not run.
func (c *command) tryHooks(a *app, drafts []hooks.HookTestRequest, input json.RawMessage) error {
	failed, decided, strictest := false, 0, hooks.HookLogEntry{}
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
		if d := entry.Effect.Decision; d != "" {
			if decided++; slices.Index(byStrictness, d) > slices.Index(byStrictness, strictest.Effect.Decision) {
				strictest = entry
			}
		}
		failed = failed || entry.ExitCode == nil || entry.Cause == hooks.CauseMissing || entry.Cause == hooks.CauseStart
	}
	if decided > 1 {
		fmt.Fprintf(c.out, "\ntogether: %s, by %s\n", strictest.Effect.Decision, line(strictest.Hook.Name))
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
	fmt.Fprintf(out, "effect:  %s\n", effectOf(e))
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

// passed says what becomes of what a hook could have stopped and did not.
var passed = map[agent.HookPoint]string{
	agent.HookPreToolUse: "the call is left to the permissions", agent.HookPermissionRequest: "the question is left to the user",
	agent.HookUserPromptSubmit: "nothing is stopped", agent.HookStop: "nothing is stopped", agent.HookSubagentStop: "nothing is stopped",
	agent.HookPreCompact: "nothing is stopped", agent.HookWorktreeCreate: "nothing is stopped",
}

// effectOf says what a hook would have done.
func effectOf(entry hooks.HookLogEntry) string {
	var parts []string
	e := entry.Effect
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if e.Decision != "" {
		say("%s", e.Decision)
	} else if left := passed[entry.Place.Point]; left != "" && !e.Stopped {
		say("%s", left)
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
