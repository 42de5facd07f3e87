package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/mcp"
)

// connectTime limits how long a list waits for servers.
const connectTime = 15 * time.Second

// serverStates say what a server is like.
var serverStates = map[mcp.ServerState]string{
	mcp.StateConnected: "connected", mcp.StateConnecting: "connecting", mcp.StateIdle: "not connected yet", mcp.StateFailed: "failed", mcp.StateNeedsAuth: "waits to be authorised",
	mcp.StateOff: "switched off", mcp.StateUntrusted: "waits for your trust", mcp.StateChanged: "changed since you trusted it",
	mcp.StateRefused: "refused", mcp.StateBroken: "cannot be connected", mcp.StateShadowed: "shadowed",
}

// listServers lists the servers of all files, and what each of them is like now.
func (c *command) listServers(args []string) int {
	flags := c.flags("atelier mcp list [flags] [DIR]")
	asJSON := flags.Bool("json", false, "print one JSON object")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() > 1 {
		return c.misused(flags, "one folder at a time")
	}
	return c.withApp(flags.Arg(0), func(a *app) error {
		ctx, cancel := context.WithTimeout(c.ctx, connectTime)
		defer cancel()
		a.SettleServers(ctx)
		reply, err := ask[mcp.ServersReply](c.ctx, a, "mcp.list", mcp.ServersRequest{})
		if err != nil {
			return err
		}
		if *asJSON {
			return writeJSON(c.out, reply)
		}
		printServers(c.out, reply)
		return nil
	})
}

func printServers(out io.Writer, reply mcp.ServersReply) {
	for _, f := range reply.Files {
		if f.Problem != nil {
			fmt.Fprintf(out, "%s\n  %s\n", f.Path, f.Problem.Message)
		}
	}
	if len(reply.Servers) == 0 {
		fmt.Fprintln(out, "No servers are configured. Add one with atelier mcp add, or in the panel MCP servers.")
	}
	for _, s := range reply.Servers {
		fmt.Fprintf(out, "%s  %s", s.Name, serverStates[s.State])
		if s.State == mcp.StateConnected {
			fmt.Fprintf(out, ", %d tools, about %d tokens", s.Counts.Tools, s.Counts.Tokens)
		}
		target := s.Draft.URL
		if target == "" {
			target = strings.Join(append([]string{s.Draft.Command}, s.Draft.Args...), " ")
		}
		fmt.Fprintf(out, "\n  %s: %s\n  %s:%d (%s)\n", s.Draft.Transport, target, s.Origin.File, s.Origin.Line, s.Origin.Scope)
		if s.Problem != nil {
			fmt.Fprintf(out, "  %s %s\n", s.Problem.Message, s.Problem.Next)
		}
		for _, f := range s.Findings {
			fmt.Fprintf(out, "  %s\n", f.Message)
		}
	}
}

// testServer connects a server once, and says how that went. It fails if it did not
// go well.
func (c *command) testServer(args []string) int {
	flags := c.flags("atelier mcp test NAME [DIR]")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() < 1 || flags.NArg() > 2 {
		return c.misused(flags, "name one server")
	}
	return c.withApp(flags.Arg(1), func(a *app) error {
		list, err := ask[mcp.ServersReply](c.ctx, a, "mcp.list", mcp.ServersRequest{})
		if err != nil {
			return err
		}
		var row *mcp.ServerRow
		for i, s := range list.Servers {
			if s.Name == flags.Arg(0) && (row == nil || row.State == mcp.StateShadowed) {
				row = &list.Servers[i]
			}
		}
		if row == nil {
			return backend.Problem(backend.ProblemServerMissing, flags.Arg(0))
		}
		reply, err := ask[mcp.ServerTestReply](c.ctx, a, "mcp.test", mcp.ServerTestRequest{Draft: row.Draft, Replaces: row.Name, File: row.Origin.File})
		if err != nil {
			return err
		}
		return c.reportTest(reply)
	})
}

func (c *command) reportTest(reply mcp.ServerTestReply) error {
	for _, step := range reply.Steps {
		mark := "ok    "
		if !step.OK {
			mark = "FAILED"
		}
		fmt.Fprintf(c.out, "%s  %-10s %6d ms\n", mark, step.Step, step.MS)
	}
	if reply.Peer.Name != "" {
		fmt.Fprintf(c.out, "It calls itself %s %s and speaks %s.\n", reply.Peer.Name, reply.Peer.Version, reply.Peer.Protocol)
	}
	for _, t := range reply.Tools {
		fmt.Fprintf(c.out, "  %s  about %d tokens\n", t.Name, t.Tokens)
	}
	if reply.Error == nil {
		return nil
	}
	fmt.Fprintln(c.err, reply.Error.Message, reply.Error.Next)
	if reply.Error.Details != "" {
		fmt.Fprintf(c.err, "(%s)\n", reply.Error.Details)
	}
	if reply.Stderr != "" {
		fmt.Fprintf(c.err, "It printed:\n%s\n", reply.Stderr)
	}
	return errSaid
}

// addServer adds a server to a settings file.
func (c *command) addServer(args []string) int {
	flags := c.flags("atelier mcp add [flags] NAME URL | NAME -- COMMAND [ARGUMENT…]")
	scope := scopeFlag(flags)
	transport := flags.String("transport", "", "http or sse, for an address (default http)")
	env := flags.StringArray("env", nil, "NAME=VALUE, a variable for the program; ${NAME} takes it from the environment")
	headers := flags.StringArray("header", nil, "NAME=VALUE, a header for an address; ${NAME} takes it from the environment")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	rest := flags.Args()
	if len(rest) < 2 {
		return c.misused(flags, "name the server, then its address, or its command behind --")
	}
	draft := mcp.ServerDraft{Name: rest[0], Transport: "stdio", Command: rest[1], Args: rest[2:]}
	if strings.HasPrefix(rest[1], "http://") || strings.HasPrefix(rest[1], "https://") {
		if len(rest) > 2 {
			return c.misused(flags, "an address takes no arguments")
		}
		draft = mcp.ServerDraft{Name: rest[0], Transport: cmp.Or(*transport, "http"), URL: rest[1]}
	}
	var err error
	if draft.Env, err = pairs(*env); err == nil {
		draft.Headers, err = pairs(*headers)
	}
	if err != nil {
		return c.misused(flags, err.Error())
	}
	draft.Secrets = map[string]string{}
	for _, values := range []map[string]string{draft.Env, draft.Headers} {
		for name, value := range values {
			if mcp.IsSecret(name, value) {
				draft.Secrets[name], values[name] = value, ""
			}
		}
	}
	return c.withApp("", func(a *app) error {
		_, err := ask[backend.Empty](c.ctx, a, "mcp.save", mcp.ServerSaveRequest{Draft: draft, Scope: agent.Scope(*scope)})
		return err
	})
}

// removeServer removes a server from its settings file.
func (c *command) removeServer(args []string) int {
	flags := c.flags("atelier mcp remove NAME")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() != 1 {
		return c.misused(flags, "name one server")
	}
	return c.withApp("", func(a *app) error {
		_, err := ask[backend.Empty](c.ctx, a, "mcp.remove", mcp.ServerRequest{Name: flags.Arg(0)})
		return err
	})
}

func scopeFlag(flags *pflag.FlagSet) *string {
	return flags.String("scope", string(agent.ScopeUser), "user: all your projects; project: .mcp.json, shared with the repository;\nlocal: this project, for you alone")
}

// pairs reads NAME=VALUE.
func pairs(list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, entry := range list {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not NAME=VALUE", entry)
		}
		out[name] = value
	}
	return out, nil
}
