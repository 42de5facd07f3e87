package mcp

import (
	"context"
	"log/slog"
	"net/http"

	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/backend"
)

// keeper keeps tokens where keys are kept.
type keeper struct{ keys backend.KeyStore }

// Load implements [oauth.Keeper].
func (k keeper) Load(_ context.Context, key string) (string, error) {
	value, _, err := k.keys.Key(key)
	return value, err
}

// Save implements [oauth.Keeper].
func (k keeper) Save(_ context.Context, key, secret string) error { return k.keys.SetKey(key, secret) }

// Remove implements [oauth.Keeper].
func (k keeper) Remove(_ context.Context, key string) error { return k.keys.RemoveKey(key) }

// roundTripper carries the requests to a server, with what the user authorised.
func (s *Servers) roundTripper(server client.Server) http.RoundTripper {
	base := s.cfg.Network
	if base == nil {
		base = client.NewTransport()
	}
	return s.authority.RoundTripper(server, base)
}

// remote returns a server over HTTP that should be connected.
func (s *Servers) remote(ctx context.Context, in ServerRequest) (client.Server, error) {
	all, err := s.judge(ctx)
	if err != nil {
		return client.Server{}, err
	}
	x, err := find(all, in.Name, in.File)
	if err != nil {
		return client.Server{}, err
	}
	if p := x.problem(); p != nil {
		return client.Server{}, p
	}
	server, missing := s.connectable(x.definition, s.secretsOf(x.definition))
	if fatal(missing) || server.Transport == client.TransportStdio {
		return client.Server{}, backend.Problem(backend.ProblemServerBroken, in.Name)
	}
	return server, nil
}

// Authorise is mcp.authorise. Once the browser has come back, the server is
// connected.
func (s *Servers) Authorise(ctx context.Context, in ServerRequest) (ServerAuthoriseReply, error) {
	s.Begin()
	server, err := s.remote(ctx, in)
	if err != nil {
		return ServerAuthoriseReply{}, err
	}
	address, wait, err := s.authority.Authorise(ctx, server)
	if err != nil {
		return ServerAuthoriseReply{}, backend.Problem(backend.ProblemServerAuthorise, in.Name).Because(err)
	}
	s.work.flows.Go(func() {
		if err := wait(s.work.ctx); err != nil {
			slog.Warn("a server was not authorised", "server", in.Name, "err", err)
		} else if err := s.manager.Reconnect(s.work.ctx, in.Name); err != nil {
			slog.Warn("a server that was authorised is not connected", "server", in.Name, "err", err)
		}
		s.cfg.Changed()
	})
	return ServerAuthoriseReply{URL: address}, nil
}

// Forget is mcp.forget: the tokens for a server are removed, and it is asked again
// who we are.
func (s *Servers) Forget(ctx context.Context, in ServerRequest) (backend.Empty, error) {
	server, err := s.remote(ctx, in)
	if err != nil {
		return backend.Empty{}, err
	}
	if err := s.authority.Forget(ctx, server); err != nil {
		return backend.Empty{}, backend.Problem(backend.ProblemServerSecret, in.Name).Because(err)
	}
	s.work.flows.Go(func() {
		_ = s.manager.Reconnect(s.work.ctx, in.Name) // its state says how that went
		s.cfg.Changed()
	})
	return backend.Empty{}, nil
}
