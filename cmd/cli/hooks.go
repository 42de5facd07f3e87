package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/hooks"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/cmd/cli/output"
)

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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), closePatience)
	defer cancel()
	if closing := a.Close(ctx); err == nil {
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
			return output.WriteJSON(c.out, struct {
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
		fmt.Fprintf(out, "%s (%s)\n", output.OneLine(f.Path), f.Scope)
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
	fmt.Fprintf(out, "  %s  %s %s: %s\n", h.ID, h.Draft.Point, output.OneLine(matcher), stateWords[h.State])
	if command := does(h.Draft); h.Draft.Name != "" && command != "" && h.Draft.Name != command {
		fmt.Fprintf(out, "    %s: %s\n", line(h.Draft.Name), line(command))
	} else {
		fmt.Fprintf(out, "    %s\n", line(cmp.Or(command, h.Draft.Name)))
	}
	for _, n := range h.Findings {
		fmt.Fprintf(out, "    ! %s\n", line(n.Message))
	}
	i := slices.IndexFunc(items, func(r review.TrustRow) bool { return r.ID == h.Trust })
	if i < 0 || h.Trust == "" {
		return
	}
	for _, file := range items[i].Files {
		fmt.Fprintf(out, "    runs %s\n", output.OneLine(file))
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
func line(text string) string { return output.LineOf(text, 500) }

// settleHooks trusts the hooks of the project, if the user said so, and tells which
// of them do not run. Nobody can be asked about them. A user who trusts them counts on
// them, so it fails if one cannot be trusted.
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
		if h.State == hooks.StateBroken {
			c.tellBroken(h)
		}
		if h.State == hooks.StateUntrusted || h.State == hooks.StateChanged {
			waiting++
		}
	}
	if trusted && waiting > 0 {
		return backend.Problem(backend.ProblemHooksUntrustable)
	}
	count, them, they := fmt.Sprintf("%d hooks do", waiting), "them", "they stand"
	switch waiting {
	case 0:
		return nil
	case 1:
		count, them, they = "1 hook does", "it", "it stands"
	}
	fmt.Fprintf(c.err, "%s not run, because you did not trust %s as %s there now. Look at %[2]s with atelier hooks list. To trust %[2]s for one run, add --trust-hooks.\n", count, them, they)
	return nil
}
