package cli

import (
	"fmt"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend/audit"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/cmd/cli/output"
)

// ledger lists what ran in the folder and what decided about it, the newest first.
func (c *command) ledger(args []string) int {
	flags := c.flags("atelier ledger [flags] [DIR]")
	session := flags.String("session", "", "only this session and its agents, by its id")
	asJSON := flags.Bool("json", false, "print one JSON object a line")
	limit := flags.Int("limit", 50, "how many calls at most (0: all)")
	unasked := flags.Bool("unasked", false, "only what was done without asking")
	denied := flags.Bool("denied", false, "only what was denied")
	tool := flags.String("tool", "", "only calls of this tool")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() > 1 {
		return c.misused(flags, "one folder at a time")
	}
	if *limit < 0 {
		return c.misused(flags, "--limit is not negative")
	}
	in := workbench.LedgerRequest{Session: *session, Filter: audit.LedgerFilter{Tool: *tool, Unasked: *unasked}}
	if *denied {
		in.Filter.Decision = agent.Deny
	}
	return c.withApp(flags.Arg(0), func(a *app) error { return c.printLedger(a, in, *limit, *asJSON) })
}

// printLedger prints page after page until it has printed as many calls as the limit says.
func (c *command) printLedger(host Host, in workbench.LedgerRequest, limit int, asJSON bool) error {
	for left := most(limit); left > 0 && c.ctx.Err() == nil; {
		in.Limit = min(left, maxPage)
		page, err := ask[audit.LedgerPage](c.ctx, host, "permissions.ledger", in)
		if err != nil {
			return err
		}
		for _, row := range page.Rows {
			if asJSON {
				err = output.WriteJSON(c.out, row)
			} else {
				_, err = fmt.Fprintln(c.out, ledgerLine(row))
			}
			if err != nil {
				return err
			}
		}
		left -= len(page.Rows)
		if in.Before = page.Next; in.Before == nil {
			break
		}
	}
	if in.Before != nil && c.ctx.Err() == nil {
		c.tellCut(limit)
	}
	return c.ctx.Err()
}

// maxLedgerLine is how much of a command is printed, in characters; --json has more.
const maxLedgerLine = 200

// ledgerLine is a call with what decided about it, in one line.
func ledgerLine(row audit.LedgerRow) string {
	at := time.UnixMilli(row.Place.At).Format("2006-01-02 15:04:05")
	if row.Lost {
		return at + "  the record of a call is damaged"
	}
	subject := output.LineOf(strings.Join(strings.Fields(row.Subject), " "), maxLedgerLine)
	if row.Cut {
		subject += "…"
	}
	return fmt.Sprintf("%s  %-11s  %s  %s  (%s)", at, row.Outcome, output.OneLine(row.Tool), subject, decidedBy(row))
}

// decidedBy names what decided about a call.
func decidedBy(row audit.LedgerRow) string {
	a := row.Authority
	if a == nil {
		return "not recorded what decided"
	}
	verb := "allowed"
	if a.Decision != agent.Allow {
		verb = "denied"
	}
	switch {
	case a.By == agent.ByPerson && a.Approval == "":
		return verb + " by an answer for the session"
	case a.By == agent.ByPerson && row.Answer != nil && row.Answer.Rule != "":
		return fmt.Sprintf("%s by you, with the rule %s", verb, output.OneLine(row.Answer.Rule))
	case a.By == agent.ByPerson:
		return verb + " by you"
	case a.Approval != "":
		return verb + ", as nobody could be asked"
	case a.By == agent.ByRule && a.Rule != nil:
		return fmt.Sprintf("%s by the %s rule %s", verb, a.Rule.Scope, output.OneLine(a.Rule.Text))
	case a.By == agent.ByMode:
		return fmt.Sprintf("%s by the mode %s", verb, a.Mode)
	}
	return fmt.Sprintf("%s by a %s", verb, a.By)
}
