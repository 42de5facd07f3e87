package offer

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/mcp"
)

// The limits of what a model is told about a tool.
const (
	maxDescription = 2 << 10 // bytes
	maxProgress    = 500     // lines of progress of one call
	maxReport      = 200     // bytes of one
)

// remote is a server's tool as one of the session's (OAS-406).
type remote struct {
	session *Session
	owner
	spec   agent.Spec
	status mcp.ToolStatus
	shape  shape
	title  string
	tokens int
	always bool // it is never deferred
}

// remote makes a tool. Only of a server that the user trusts it is believed that
// the tool changes nothing (OAS-417).
func (s *Session) remote(server mcp.ServerTools, t mcp.ToolStatus) (*remote, error) {
	form, err := prepared(t.Schema)
	if err != nil {
		return nil, err
	}
	if !llm.ValidToolName(t.Model) {
		return nil, fmt.Errorf("offer a tool: %q is not a name that models accept", t.Model)
	}
	reads := server.Trusted && t.ReadOnly && !t.Destructive
	return &remote{
		session: s, owner: owner{server.Server, t.Name}, status: t, shape: form, tokens: t.Tokens, title: line(t.Title, maxTitle),
		spec: agent.Spec{
			Name: t.Model, Description: plain(t.Description, maxDescription), Schema: form.schema,
			ReadOnly: reads, Concurrent: reads, Idempotent: reads, Checked: true,
			Origin: &agent.ToolOrigin{
				Server: server.Server, Tool: t.Name, Title: line(t.Title, maxTitle), Description: line(t.Description, maxSnippet),
				ReadOnly: t.ReadOnly && !t.Destructive, Destructive: t.Destructive,
			},
		},
	}, nil
}

// Spec implements [agent.Tool].
func (r *remote) Spec() agent.Spec { return r.spec }

// Run implements [agent.Tool].
func (r *remote) Run(ctx context.Context, call agent.Invocation) agent.Result {
	if why := r.session.held(r.server, &r.status); why != "" {
		return agent.Fail("This call was not made. " + why)
	}
	input, err := r.shape.input(call.Input)
	if err != nil {
		return agent.Fail(fmt.Sprintf("The arguments cannot be sent: %v.", err))
	}
	if began := r.session.cfg.Began; began != nil && call.Spent != nil {
		defer began(call.CallID, call.Spent)()
	}
	answer, err := r.session.cfg.Servers.Call(ctx, mcp.CallRequest{
		Server: r.server, Tool: r.tool, Input: input, Session: r.session.cfg.Session, CallID: call.CallID,
		Progress: reports(call.Output),
	})
	if err != nil {
		return agent.Fail(failed(ctx, r.server, err))
	}
	return result(r.owner, answer)
}

// reports shows a call's progress as output, one line for each report that says
// something new.
func reports(output func(string)) func(mcp.Progress) {
	lines, last := 0, ""
	return func(p mcp.Progress) {
		text := line(p.Message, maxReport)
		if p.Total > 0 {
			text = fmt.Sprintf("%s/%s %s", number(p.Done), number(p.Total), text)
		} else if text == "" {
			text = number(p.Done)
		}
		if text == last || lines >= maxProgress {
			return
		}
		lines, last = lines+1, text
		output(text + "\n")
	}
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// failed tells a model why a server did not do something.
func failed(ctx context.Context, server string, err error) string {
	var fault *mcp.Fault
	if ctx.Err() != nil || !errors.As(err, &fault) {
		return fmt.Sprintf("The call of the server %s was stopped before it answered. Whether it had any effect is unknown.", quoted(server))
	}
	detail := plain(fault.Detail, maxDescription)
	switch fault.Kind {
	case mcp.FaultAnswer:
		return fmt.Sprintf("The server %s answered with an error: %s", quoted(server), detail)
	case mcp.FaultTimeout:
		return fmt.Sprintf("The server %s did not answer in time (%s), and was told to stop. Whether the call had any effect is unknown.", quoted(server), detail)
	case mcp.FaultTooLarge:
		return fmt.Sprintf("The answer of the server %s was too large and was left out (%s). Ask for less.", quoted(server), detail)
	case mcp.FaultAuth:
		return fmt.Sprintf("The server %s needs the user's authorisation first. Ask the user for it.", quoted(server))
	case mcp.FaultOff:
		return fmt.Sprintf("The user switched the server %s off. Do without it.", quoted(server))
	case mcp.FaultUnknown:
		return fmt.Sprintf("The server %s does not have that any more.", quoted(server))
	}
	if detail != "" {
		detail = ": " + detail
	}
	return fmt.Sprintf("The server %s failed (%s%s). Whether the call had any effect is unknown.", quoted(server), fault.Kind, detail)
}
