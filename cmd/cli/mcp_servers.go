package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/mcp"
	"atelier.dev/atelier/cmd/cli/output"
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
			return output.WriteJSON(c.out, reply)
		}
		printServers(c.out, reply)
		return nil
	})
}

func printServers(out io.Writer, reply mcp.ServersReply) {
	for _, f := range reply.Files {
		if f.Problem != nil {
			fmt.Fprintf(out, "%s\n  %s\n", line(f.Path), line(f.Problem.Message))
		}
	}
	if len(reply.Servers) == 0 {
		fmt.Fprintln(out, "No servers are configured. Add one with atelier mcp add, or in the panel MCP servers.")
	}
	for _, s := range reply.Servers {
		fmt.Fprintf(out, "%s  %s", output.OneLine(s.Name), serverStates[s.State])
		if s.State == mcp.StateConnected {
			fmt.Fprintf(out, ", %d tools, about %d tokens", s.Counts.Tools, s.Counts.Tokens)
		}
		target := s.Draft.URL
		if target == "" {
			target = strings.Join(append([]string{s.Draft.Command}, s.Draft.Args...), " ")
		}
		fmt.Fprintf(out, "\n  %s: %s\n  %s:%d (%s)\n", output.OneLine(s.Draft.Transport), line(target), line(s.Origin.File), s.Origin.Line, s.Origin.Scope)
		if s.Problem != nil {
			fmt.Fprintf(out, "  %s %s\n", line(s.Problem.Message), s.Problem.Next)
		}
		for _, f := range s.Findings {
			fmt.Fprintf(out, "  %s\n", line(f.Message))
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
		list, err := ask[mcp.ServersReply](c.ctx, a, "mcp.list", mcp.ServersRequest{NoConnect: true}) // the others are left alone
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
		count := ""
		if step.OK && step.Step != "handshake" && step.Step != "ping" {
			count = fmt.Sprintf("  %d", step.Count)
		}
		fmt.Fprintf(c.out, "%s  %-10s %6d ms%s\n", mark, step.Step, step.MS, count)
	}
	if reply.Peer.Name != "" {
		fmt.Fprintf(c.out, "It calls itself %s %s and speaks %s.\n", output.OneLine(reply.Peer.Name), output.OneLine(reply.Peer.Version), output.OneLine(reply.Peer.Protocol))
	}
	for _, t := range reply.Tools {
		fmt.Fprintf(c.out, "  %s  about %d tokens\n", output.OneLine(t.Name), t.Tokens)
	}
	if reply.Error == nil {
		return nil
	}
	fmt.Fprintln(c.err, line(reply.Error.Message), reply.Error.Next)
	if reply.Error.Details != "" {
		fmt.Fprintf(c.err, "(%s)\n", line(reply.Error.Details))
	}
	if reply.Stderr != "" {
		fmt.Fprintf(c.err, "It printed:\n%s\n", reply.Stderr)
	}
	return errSaid
}
