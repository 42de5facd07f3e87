package mcp

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"strings"

	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/oauth"
	"atelier.dev/atelier/backend"
)

// tokenStore keeps tokens where keys are kept.
type tokenStore struct{ keys backend.KeyStore }

// Load implements [oauth.TokenStore].
func (k tokenStore) Load(_ context.Context, key string) (string, error) {
	value, _, err := k.keys.Key(key)
	return value, err
}

// Save implements [oauth.TokenStore].
func (k tokenStore) Save(_ context.Context, key, secret string) error {
	return k.keys.SetKey(key, secret)
}

// Remove implements [oauth.TokenStore].
func (k tokenStore) Remove(_ context.Context, key string) error { return k.keys.RemoveKey(key) }

// roundTripper carries the requests to a server, with what the user authorised.
func (s *Servers) roundTripper(server client.Server) http.RoundTripper {
	base := s.cfg.Network
	if base == nil {
		base = client.NewTransport()
	}
	return s.authority.RoundTripper(server, base)
}

// remote returns a server over HTTP that should be connected, and the id of its
// definition.
func (s *Servers) remote(ctx context.Context, in ServerRequest) (client.Server, string, error) {
	all, err := s.judge(ctx)
	if err != nil {
		return client.Server{}, "", err
	}
	x, err := find(all, in.Name, in.File)
	if err != nil {
		return client.Server{}, "", err
	}
	if p := x.problem(); p != nil {
		return client.Server{}, "", p
	}
	server, missing := s.connectable(x.definition, s.secretsOf(x.definition))
	if fatal(missing) || server.Transport == client.TransportStdio {
		return client.Server{}, "", backend.Problem(backend.ProblemServerBroken, in.Name)
	}
	return server, x.id(), nil
}

// consent is the newest time that the user was asked to authorise a server.
type consent struct {
	url     string         // where, while that is waited for
	problem *backend.Error // why it failed
}

// consents are those of definitions, by id.
type consents map[string]*consent

// keep forgets the consents of definitions that are not connected any more.
func (c consents) keep(wanted map[string]*definition) {
	ids := map[string]bool{}
	for _, d := range wanted {
		ids[d.id()] = true
	}
	maps.DeleteFunc(c, func(id string, _ *consent) bool { return !ids[id] })
}

// asked returns the newest consent of a definition.
func (s *Servers) asked(id string) consent {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.work.consents[id]; c != nil {
		return *c
	}
	return consent{}
}

// ask replaces the consent that is shown; nil removes it.
func (s *Servers) ask(id string, c *consent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c == nil {
		delete(s.work.consents, id)
		return
	}
	s.work.consents[id] = c
}

// Authorise is mcp.authorise. Once the browser has come back, the server is
// connected, or its row says why it is not authorised.
func (s *Servers) Authorise(ctx context.Context, in ServerRequest) (ServerAuthoriseReply, error) {
	s.Begin()
	server, id, err := s.remote(ctx, in)
	if err != nil {
		return ServerAuthoriseReply{}, err
	}
	address, wait, err := s.authority.Authorise(ctx, server)
	if err != nil {
		s.ask(id, nil)
		return ServerAuthoriseReply{}, unauthorised(in.Name, err)
	}
	asked := &consent{url: address}
	s.ask(id, asked)
	s.work.flows.Go(func() {
		err := wait(s.work.ctx)
		if err != nil {
			slog.Warn("a server was not authorised", "server", in.Name, "err", err)
		} else if err := s.manager.Reconnect(s.work.ctx, in.Name); err != nil {
			slog.Warn("a server that was authorised is not connected", "server", in.Name, "err", err)
		}
		s.mu.Lock()
		if asked.url = ""; err != nil {
			asked.problem = unauthorised(in.Name, err)
		}
		s.mu.Unlock()
		s.cfg.Changed()
	})
	return ServerAuthoriseReply{URL: address}, nil
}

// wanted says why the user has to authorise a server.
func wanted(status client.Status) *backend.Error {
	id, args := backend.ProblemServerNeedsAuth, []string{status.Name}
	if needs := (*oauth.NeedsUser)(nil); errors.As(status.Reason, &needs) {
		switch needs.Why {
		case oauth.WhyEnded:
			id = backend.ProblemServerAuthEnded
		case oauth.WhyRefused:
			id = backend.ProblemServerAuthRefused
		case oauth.WhyScopes:
			id, args = backend.ProblemServerAuthScopes, append(args, clip(strings.Join(needs.Scopes, " ")))
		}
	}
	return backend.Problem(id, args...)
}

// unauthorised says why a server was not authorised.
func unauthorised(name string, err error) *backend.Error {
	var port *oauth.PortError
	id, args := backend.ProblemServerAuthorise, []string{name}
	switch {
	case errors.Is(err, oauth.ErrDenied):
		id = backend.ProblemServerAuthDenied
	case errors.Is(err, oauth.ErrExpired):
		id = backend.ProblemServerAuthExpired
	case errors.Is(err, oauth.ErrNoRegistration):
		id = backend.ProblemServerAuthClient
	case errors.Is(err, oauth.ErrUnattended):
		id = backend.ProblemServerAuthUnattended
	case errors.As(err, &port):
		id, args = backend.ProblemServerAuthPort, append(args, strconv.Itoa(port.Port))
	}
	return backend.Problem(id, args...).Because(err)
}

// Forget is mcp.forget: the tokens for a server are removed, and it is asked again
// who we are.
func (s *Servers) Forget(ctx context.Context, in ServerRequest) (backend.Empty, error) {
	server, id, err := s.remote(ctx, in)
	if err != nil {
		return backend.Empty{}, err
	}
	s.ask(id, nil)
	if err := s.authority.Forget(ctx, server); err != nil {
		return backend.Empty{}, backend.Problem(backend.ProblemServerSecret, in.Name).Because(err)
	}
	s.work.flows.Go(func() {
		_ = s.manager.Reconnect(s.work.ctx, in.Name) // its state says how that went
		s.cfg.Changed()
	})
	return backend.Empty{}, nil
}
