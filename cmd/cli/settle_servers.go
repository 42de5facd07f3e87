package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"atelier.dev/atelier/backend/mcp"
	"atelier.dev/atelier/cmd/cli/output"
)

const (
	// settleTime is how long a run waits for servers. Its only turn could otherwise end
	// before their tools are there.
	settleTime = 5 * time.Second
	// quietTime is how long it waits without a word.
	quietTime = time.Second
)

// awaitServers waits until each server is connected or is known not to be, or until
// the time is up. It tells which servers keep the run waiting, and which ones the turn
// begins without.
func (c *command) awaitServers(a *app) error {
	rows, pending, err := c.settled(a, quietTime)
	if err == nil && len(pending) > 0 {
		fmt.Fprintf(c.err, "Waiting up to %.0f s for MCP servers: %s\n", settleTime.Seconds(), strings.Join(pending, ", "))
		rows, _, err = c.settled(a, settleTime-quietTime)
	}
	if err != nil {
		return err
	}
	for _, r := range rows {
		switch {
		case r.State == mcp.StateConnecting && r.Problem == nil:
			fmt.Fprintf(c.err, "The server %s is still being connected. Its tools can be used once it is.\n", output.OneLine(r.Name))
		case r.Problem == nil:
		case r.State == mcp.StateConnecting, r.State == mcp.StateFailed, r.State == mcp.StateNeedsAuth, r.State == mcp.StateBroken, r.State == mcp.StateRefused:
			fmt.Fprintf(c.err, "The server %s is not connected: %s\n", output.OneLine(r.Name), line(r.Problem.Message))
		}
	}
	return nil
}

// settled waits for servers, and returns them with the names of those that are still
// pending.
func (c *command) settled(a *app, limit time.Duration) (rows []mcp.ServerRow, pending []string, err error) {
	ctx, cancel := context.WithTimeout(c.ctx, limit)
	defer cancel()
	a.SettleServers(ctx)
	if err := c.ctx.Err(); err != nil {
		return nil, nil, err
	}
	reply, err := ask[mcp.ServersReply](c.ctx, a, "mcp.list", mcp.ServersRequest{})
	for _, r := range reply.Servers {
		if r.State == mcp.StateConnecting && r.Problem == nil {
			pending = append(pending, output.OneLine(r.Name))
		}
	}
	return reply.Servers, pending, err
}

// settleServers trusts the servers of the project, if the user said so, and tells
// which of them are not connected. Nobody can be asked about them.
func (c *command) settleServers(a *app, trusted bool) error {
	if trusted {
		if _, err := a.TrustServers(c.ctx); err != nil {
			return err
		}
	}
	reply, err := ask[mcp.ServersReply](c.ctx, a, "mcp.list", mcp.ServersRequest{NoConnect: true})
	if err != nil {
		return err
	}
	for _, f := range reply.Files {
		if f.Problem != nil {
			fmt.Fprintln(c.err, line(f.Problem.Message))
		}
	}
	waiting := 0
	for _, r := range reply.Servers {
		if r.State == mcp.StateUntrusted || r.State == mcp.StateChanged {
			waiting++
		}
	}
	count, them, they := fmt.Sprintf("%d servers of this project are", waiting), "them", "they stand"
	switch waiting {
	case 0:
		return nil
	case 1:
		count, them, they = "1 server of this project is", "it", "it stands"
	}
	if trusted {
		fmt.Fprintf(c.err, "%s not connected, because not everything that would run can be checked.\n", count)
		return nil
	}
	fmt.Fprintf(c.err, "%s not connected, because you did not trust %s as %s there now. Look at %[2]s with atelier mcp list. To trust %[2]s for one run, add --trust-servers.\n", count, them, they)
	return nil
}
