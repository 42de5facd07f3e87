package mcp

import (
	"context"
	"log/slog"

	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/offer"
	"atelier.dev/atelier/backend"
)

// Session returns what the servers offer to a session, and begins to connect them.
func (s *Servers) Session(cfg offer.Config) *offer.Session {
	s.Begin()
	cfg.Servers, cfg.Switches = s.manager, held{s}
	return offer.New(cfg)
}

// held says what the user does not want offered.
type held struct{ servers *Servers }

// Version implements [offer.Switches].
func (h held) Version() uint64 { return h.servers.decided.Load() }

// Held implements [offer.Switches]. A server whose settings cannot be read is
// not offered.
func (h held) Held(session string) func(string, *client.ToolStatus) offer.Hold {
	o, err := h.servers.Offer(h.servers.work.ctx, session)
	if err != nil {
		slog.Warn("could not read which servers are switched off", "err", err)
		return func(string, *client.ToolStatus) offer.Hold { return offer.HeldOff }
	}
	return func(server string, tool *client.ToolStatus) offer.Hold {
		problem := o.Server(server)
		if problem == nil && tool != nil {
			problem = o.Tool(server, *tool)
		}
		switch {
		case problem == nil:
			return ""
		case problem.ID == backend.ProblemServerToolChanged:
			return offer.HeldChanged
		case o.offHere(server, tool):
			return offer.HeldSession
		}
		return offer.HeldOff
	}
}

// offHere reports whether something is off in the session alone.
func (o *Offer) offHere(server string, tool *client.ToolStatus) bool {
	d := o.wanted[server]
	if d == nil {
		return false
	}
	return !o.session.on(key(d), "", true) || tool != nil && !o.session.on(key(d), tool.Name, true)
}

// Settle waits until the files were read and every server is connected or is known
// not to be, or until ctx ends. It is for runs that nobody watches, whose only turn
// would otherwise end before their tools are there.
func (s *Servers) Settle(ctx context.Context) {
	s.manager.Hurry()
	select {
	case <-s.looked:
		s.manager.Settle(ctx)
	case <-s.work.ended:
	case <-ctx.Done():
	}
}
