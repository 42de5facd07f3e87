package cli

import (
	"fmt"

	"atelier.dev/atelier/backend/mcp"
)

// settleServers trusts the servers of the project, if the user said so, and tells
// which of them are not connected. Nobody can be asked about them.
func (c *command) settleServers(a *app, trusted bool) error {
	if trusted {
		if _, err := a.TrustServers(c.ctx); err != nil {
			return err
		}
	}
	reply, err := ask[mcp.ServersReply](c.ctx, a, "mcp.list", mcp.ServersRequest{Still: true})
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
