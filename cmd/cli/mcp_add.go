package cli

import (
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/mcp"
	"atelier.dev/atelier/cmd/cli/output"
)

const scopeHelp = "user: your settings, for all projects; project: this project's .mcp.json; local: your own settings of this project"

// addFlags are the flags of atelier mcp add.
type addFlags struct {
	scope, transport string
	headers, env     []string
}

func (c *command) addServer(args []string) int {
	var f addFlags
	flags := c.flags("atelier mcp add NAME [flags] URL\n       atelier mcp add NAME [flags] -- COMMAND [ARG]...")
	flags.StringVar(&f.scope, "scope", string(agent.ScopeUser), scopeHelp)
	flags.StringVar(&f.transport, "transport", "http", "how a URL is reached: http (Streamable HTTP) or sse")
	flags.StringArrayVar(&f.headers, "header", nil, "a header for a URL, as NAME=VALUE; may be repeated")
	flags.StringArrayVar(&f.env, "env", nil, "a variable for a command, as NAME=VALUE; may be repeated. ${NAME} takes one of the environment; secrets are kept in the keyring")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	draft, why := f.draft(flags.Args(), flags.ArgsLenAtDash())
	if why != "" {
		return c.misused(flags, why)
	}
	return c.withApp("", func(a *app) error {
		request := mcp.ServerSaveRequest{Draft: draft, Scope: agent.Scope(f.scope)}
		if _, err := ask[backend.Empty](c.ctx, a, "mcp.save", request); err != nil {
			return err
		}
		rows, err := c.serversCalled(a, draft.Name, f.scope)
		if err != nil {
			return err
		}
		for _, r := range rows {
			fmt.Fprintf(c.out, "Added to %s.\n", line(r.Origin.File))
			if r.Problem != nil {
				fmt.Fprintf(c.out, "%s %s\n", line(r.Problem.Message), r.Problem.Next)
			}
		}
		return nil
	})
}

// draft returns the server that the arguments describe, or why they describe none.
// Those from dash on are a command, if it is not negative.
func (f *addFlags) draft(args []string, dash int) (d mcp.ServerDraft, why string) {
	switch {
	case dash == 1 && len(args) > 1:
		d = mcp.ServerDraft{Transport: "stdio", Command: args[1], Args: args[2:]}
	case dash < 0 && len(args) == 2 && (f.transport == "http" || f.transport == "sse"):
		d = mcp.ServerDraft{Transport: f.transport, URL: args[1]}
	case dash < 0 && len(args) == 2:
		return d, "the transport is http or sse"
	default:
		return d, "a server has a name, and either an address or, after --, a command"
	}
	d.Name, d.Secrets = args[0], map[string]string{}
	switch {
	case d.URL == "" && len(f.headers) > 0:
		return d, "a command has no headers"
	case d.URL != "" && len(f.env) > 0:
		return d, "an address has no variables"
	}
	pairs := func(in []string) map[string]string {
		out := map[string]string{}
		for _, pair := range in {
			name, value, ok := strings.Cut(pair, "=")
			if !ok || name == "" {
				why = "a header or a variable is written as NAME=VALUE"
				continue
			}
			if out[name] = value; mcp.IsSecret(name, value) {
				out[name], d.Secrets[name] = "", value
			}
		}
		return out
	}
	d.Env, d.Headers = pairs(f.env), pairs(f.headers)
	return d, why
}

// serversCalled lists the servers of a name, in one scope or in all.
func (c *command) serversCalled(a *app, name, scope string) ([]mcp.ServerRow, error) {
	reply, err := ask[mcp.ServersReply](c.ctx, a, "mcp.list", mcp.ServersRequest{NoConnect: true})
	return slices.DeleteFunc(reply.Servers, func(r mcp.ServerRow) bool {
		return r.Name != name || scope != "" && string(r.Origin.Scope) != scope
	}), err
}

func (c *command) removeServer(args []string) int {
	flags := c.flags("atelier mcp remove NAME [flags]")
	scope := flags.String("scope", "", scopeHelp)
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() != 1 {
		return c.misused(flags, "one server at a time")
	}
	return c.withApp("", func(a *app) error {
		name := flags.Arg(0)
		rows, err := c.serversCalled(a, name, *scope)
		if err != nil {
			return err
		}
		switch len(rows) {
		case 0:
			return backend.Problem(backend.ProblemServerMissing, output.OneLine(name))
		case 1:
		default:
			fmt.Fprintln(c.err, "Several files have a server of this name. Choose one with --scope.")
			for _, r := range rows {
				fmt.Fprintf(c.err, "  %s  %s:%d\n", r.Origin.Scope, line(r.Origin.File), r.Origin.Line)
			}
			return errSaid
		}
		if _, err := ask[backend.Empty](c.ctx, a, "mcp.remove", mcp.ServerRequest{Name: name, File: rows[0].Origin.File}); err != nil {
			return err
		}
		fmt.Fprintf(c.out, "Removed from %s.\n", line(rows[0].Origin.File))
		return nil
	})
}
