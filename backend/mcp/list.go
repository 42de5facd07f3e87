package mcp

import (
	"context"
	"errors"
	"slices"
	"time"

	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/offer"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/trust"
)

// List is mcp.list. It begins to connect the servers, unless it is to leave them as
// they are.
func (s *Servers) List(ctx context.Context, in ServersRequest) (ServersReply, error) {
	if !in.NoConnect {
		s.Begin()
	}
	v, err := s.view(ctx, in.Session)
	if err != nil {
		return ServersReply{}, err
	}
	reply := ServersReply{Files: s.current().files, Waiting: s.waiting()}
	for _, x := range v.judged {
		row := v.row(x)
		reply.Servers = append(reply.Servers, row)
		if row.State == StateConnected && !row.SessionOff {
			reply.Tokens += row.Counts.Tokens
		}
	}
	return reply, nil
}

// view is everything that rows are made of, at one moment.
type view struct {
	ctx     context.Context //nolint:containedctx // a view lives as long as its request
	servers *Servers
	judged  []judged
	global  switches
	session switches
	status  map[string]client.Status
	lacking map[string][]ServerFinding
	wanted  map[string]*definition
	tokens  map[string]string
}

func (s *Servers) view(ctx context.Context, session string) (*view, error) {
	all, err := s.judge(ctx)
	if err != nil {
		return nil, err
	}
	v := &view{ctx: ctx, servers: s, judged: all, status: map[string]client.Status{}}
	if v.global, err = s.switches(ctx); err != nil {
		return nil, err
	}
	if v.session, err = s.switchesIn(ctx, session); err != nil {
		return nil, err
	}
	s.mu.Lock()
	v.lacking, v.wanted, v.tokens = s.last.lacking, s.last.wanted, s.last.tokens
	s.mu.Unlock()
	for _, status := range s.manager.Status() {
		v.status[status.Name] = status
	}
	return v, nil
}

// connection returns what the connection of a server says; ok is false if it has
// none.
func (v *view) connection(x judged) (client.Status, bool) {
	status, ok := v.status[x.draft.Name]
	return status, ok && x.state == StateIdle && v.wanted[x.draft.Name] != nil && v.wanted[x.draft.Name].id() == x.id()
}

// states are those of connections, for pages.
var states = map[client.State]ServerState{
	client.StateOff: StateOff, client.StateConnecting: StateConnecting, client.StateConnected: StateConnected,
	client.StateFailed: StateFailed, client.StateNeedsAuth: StateNeedsAuth,
}

func (v *view) row(x judged) ServerRow {
	draft, about := shown(x.definition)
	row := ServerRow{
		Name: x.draft.Name, Draft: draft, Origin: x.origin, State: x.state, Problem: x.problem(),
		Findings: slices.Concat(x.findings, x.more, about),
	}
	if !x.broken() && (!x.own() || x.trusted != trust.StateTrusted) {
		row.Trust = x.id()
	}
	row.SessionOff = !v.session.on(key(x.definition), "", true)
	status, connected := v.connection(x)
	switch {
	case connected:
		v.connected(&row, x, status)
	case x.state == StateIdle:
		v.unconnected(&row, x)
	}
	if x.trusted != trust.StateTrusted && !x.own() {
		for _, o := range v.judged {
			if o.draft.Name == x.draft.Name && o.trusted == trust.StateTrusted {
				row.Findings = append(row.Findings, finding(FindingTakesName, o.origin.File))
				break
			}
		}
	}
	return row
}

// unconnected says why a server that should be connected has no connection.
func (v *view) unconnected(row *ServerRow, x judged) {
	missing, tried := v.lacking[x.id()]
	if !tried {
		// The keyring is not read each time a page looks.
		_, missing = v.servers.connectable(x.definition, nil)
	}
	row.Findings = append(row.Findings, missing...)
	switch {
	case fatal(missing):
		row.State, row.Problem = StateBroken, backend.Problem(backend.ProblemServerBroken, x.draft.Name)
	case v.servers.work.begun.Load():
		row.State = StateConnecting
	}
}

// connected says what a connection is like.
func (v *view) connected(row *ServerRow, x judged, status client.Status) {
	row.Findings = append(row.Findings, v.lacking[x.id()]...)
	row.State = states[status.State]
	row.Problem = reason(status)
	if key, remote := v.tokens[row.Name]; remote {
		asked := v.servers.asked(x.id())
		row.Auth = ServerAuth{Kept: v.servers.authority.Holds(key), URL: asked.url}
		if row.State == StateNeedsAuth && asked.problem != nil {
			row.Problem = asked.problem
		}
	}
	row.Peer = ServerPeer{status.Peer.Protocol, status.Peer.Name, status.Peer.Version, status.Peer.Instructions}
	h := status.Health
	row.Health = ServerHealth{
		Since: milli(status.Since), Next: milli(status.Next), PID: h.PID, Restarts: h.Restarts, Pinged: milli(h.Pinged),
		LatencyUS: h.Latency.Microseconds(), Answered: milli(h.Answered), Calls: h.Calls, Failures: h.Failures,
	}
	row.Counts = ServerCounts{Tools: len(status.Tools), Resources: status.Resources, Prompts: status.Prompts}
	for _, t := range v.tools(x, status) {
		switch {
		case t.Before != nil:
			row.Counts.Changed++
		case t.Offer.Off || t.Offer.SessionOff:
			row.Counts.ToolsOff++
		case t.Offer.Problem == nil:
			row.Counts.Tokens += t.Tokens
		}
	}
}

// unusable says why models cannot be offered a tool; empty if they can.
func unusable(t client.ToolStatus) string {
	if t.Problem != "" {
		return t.Problem
	}
	if err := offer.Check(t); err != nil {
		return err.Error()
	}
	return ""
}

// tools says of each tool of a server whether models are offered it.
func (v *view) tools(x judged, status client.Status) (out []ServerTool) {
	known := v.servers.pinsOf(v.ctx, x.definition, status.Tools)
	for _, t := range status.Tools {
		tool := ServerTool{
			Name: t.Name, Model: t.Model, Title: t.Title, Description: t.Description, Schema: t.Schema, Tokens: t.Tokens,
			Hints: ServerToolHints{t.ReadOnly, t.Destructive}, Calls: t.Calls, Failures: t.Failures,
			Offer: ServerToolOffer{Off: !v.toolOn(x.definition, t.Name), SessionOff: !v.session.on(key(x.definition), t.Name, true)},
		}
		if problem := unusable(t); problem != "" {
			tool.Offer.Problem = backend.Problem(backend.ProblemServerToolUnusable, t.Name).Detailed(problem)
		}
		if before, changed := known.changed(t); changed {
			tool.Before, tool.Seal = &before, sealOf(definitionOf(t))
			tool.Offer.Problem = backend.Problem(backend.ProblemServerToolChanged, x.draft.Name, t.Name)
		}
		out = append(out, tool)
	}
	return out
}

// toolOn reports whether a tool is on everywhere.
func (v *view) toolOn(d *definition, tool string) bool {
	return v.global.on(key(d), tool, d.toolOn(tool))
}

func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// faults are the problems of connections.
var faults = map[client.FaultKind]backend.ProblemID{
	client.FaultConfig: backend.ProblemServerConfig, client.FaultNotAllowed: backend.ProblemServerChanged, client.FaultNoFile: backend.ProblemServerNoFile, client.FaultStart: backend.ProblemServerStart,
	client.FaultExited: backend.ProblemServerExited, client.FaultSlow: backend.ProblemServerSlow, client.FaultSilent: backend.ProblemServerSilent,
	client.FaultBlocked: backend.ProblemServerBlocked, client.FaultGarbage: backend.ProblemServerGarbage, client.FaultTooLarge: backend.ProblemServerTooLarge,
	client.FaultVersion: backend.ProblemServerVersion, client.FaultRefused: backend.ProblemServerUnreached, client.FaultHTTP: backend.ProblemServerHTTP,
	client.FaultRedirect: backend.ProblemServerRedirect, client.FaultAuth: backend.ProblemServerNeedsAuth, client.FaultGaveUp: backend.ProblemServerGaveUp,
	client.FaultProtocol: backend.ProblemServerProtocol, client.FaultAnswer: backend.ProblemServerError, client.FaultTimeout: backend.ProblemServerTimeout,
	client.FaultUnknown: backend.ProblemServerMissing, client.FaultOff: backend.ProblemServerOff, client.FaultClosed: backend.ProblemServerClosed,
}

// reason says why a server is not connected; nil if it is.
func reason(status client.Status) *backend.Error {
	if status.Reason == nil {
		return nil
	}
	if errors.Is(status.Reason, client.ErrNeedsAuth) {
		return wanted(status)
	}
	var fault *client.Fault
	if errors.As(status.Reason, &fault) {
		p := backend.Problem(faults[fault.Kind], status.Name, clip(fault.Detail))
		if fault.Err != nil {
			return p.Because(fault.Err)
		}
		return p.Detailed(fault.Detail)
	}
	return backend.Problem(backend.ProblemServerFailed, status.Name).Because(status.Reason)
}

// Show is mcp.show.
func (s *Servers) Show(ctx context.Context, in ServerRequest) (ServerShown, error) {
	v, err := s.view(ctx, in.Session)
	if err != nil {
		return ServerShown{}, err
	}
	x, err := find(v.judged, in.Name, in.File)
	if err != nil {
		return ServerShown{}, err
	}
	out := ServerShown{Server: v.row(x)}
	status, ok := v.connection(x)
	if !ok {
		return out, nil
	}
	out.Tools = v.tools(x, status)
	out.Stderr, out.Log = s.log(x.draft.Name)
	if status.State != client.StateConnected {
		return out, nil
	}
	s.offers(ctx, x.draft.Name, &out)
	return out, nil
}

// offerTime limits how long a page waits for the lists of a server.
const offerTime = 3 * time.Second

// offers adds the resources and prompts that a server has. Without them the rest is
// shown.
func (s *Servers) offers(ctx context.Context, server string, out *ServerShown) {
	ctx, cancel := context.WithTimeout(ctx, offerTime)
	defer cancel()
	if resources, err := s.manager.Resources(ctx, server); err == nil {
		for _, r := range resources {
			out.Resources = append(out.Resources, ServerResource{r.URI, r.Name, r.Description, r.MIME, r.Template})
		}
	}
	prompts, err := s.manager.Prompts(ctx, server)
	if err != nil {
		return
	}
	for _, p := range prompts {
		shown := ServerPrompt{Name: p.Name, Command: slashName(p.Server, p.Name), Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			shown.Arguments = append(shown.Arguments, backend.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required})
		}
		out.Prompts = append(out.Prompts, shown)
	}
}

// log returns what happened to a connection.
func (s *Servers) log(server string) (stderr string, out []ServerLogEntry) {
	stderr, entries := s.manager.Log(server)
	for _, e := range entries {
		text := e.Text
		if e.From != "" {
			text = e.From + ": " + text
		}
		out = append(out, ServerLogEntry{At: milli(e.Time), Level: level(e.Level), ID: e.Happening, Args: e.Args, Text: text})
	}
	return stderr, out
}

// level maps a level of syslog to the nearest one that pages distinguish.
func level(syslog string) string {
	switch syslog {
	case "debug", "info", "warning", "error":
		return syslog
	case "notice":
		return "info"
	case "critical", "alert", "emergency":
		return "error"
	}
	return "info"
}
