package mcp

import (
	"context"
	"slices"

	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/backend"
)

// Offer says which tools a session may be shown and may call, at one moment.
type Offer struct {
	servers *Servers
	ctx     context.Context //nolint:containedctx // an offer lives as long as the request that needs it
	wanted  map[string]*definition
	global  switches
	session switches
}

// Offer returns what a session may be shown now. Connections begin with it.
func (s *Servers) Offer(ctx context.Context, session string) (*Offer, error) {
	s.Begin()
	o := &Offer{servers: s, ctx: ctx}
	var err error
	if o.global, err = s.switches(ctx); err != nil {
		return nil, err
	}
	if o.session, err = s.switchesIn(ctx, session); err != nil {
		return nil, err
	}
	s.mu.Lock()
	o.wanted = s.last.wanted
	s.mu.Unlock()
	return o, nil
}

// Server says why nothing of a server may be used; nil if it may.
func (o *Offer) Server(server string) *backend.Error {
	d := o.wanted[server]
	switch {
	case d == nil:
		return backend.Problem(backend.ProblemServerMissing, clip(server))
	case !o.global.on(key(d), "", !d.off) || !o.session.on(key(d), "", true):
		return backend.Problem(backend.ProblemServerOff, server)
	}
	return nil
}

// Tool says why a tool may not be used; nil if it may.
func (o *Offer) Tool(server string, tool client.ToolStatus) *backend.Error {
	if p := o.Server(server); p != nil {
		return p
	}
	d := o.wanted[server]
	if !o.global.on(key(d), tool.Name, d.toolOn(tool.Name)) || !o.session.on(key(d), tool.Name, true) {
		return backend.Problem(backend.ProblemServerToolOff, server, clip(tool.Name))
	}
	if _, changed := o.servers.pinsOf(o.ctx, d, []client.ToolStatus{tool}).changed(tool); changed {
		return backend.Problem(backend.ProblemServerToolChanged, server, clip(tool.Name))
	}
	return nil
}

// toolOn reports whether the configuration has a tool on.
func (d *definition) toolOn(tool string) bool {
	return !slices.Contains(d.offTools, tool) && (d.onlyTools == nil || slices.Contains(d.onlyTools, tool))
}
