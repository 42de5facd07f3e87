package mcp

import (
	"context"

	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/backend"
)

// Reconnect is mcp.reconnect. It restarts a program.
func (s *Servers) Reconnect(ctx context.Context, in ServerRequest) (backend.Empty, error) {
	s.Begin()
	all, err := s.judge(ctx)
	if err != nil {
		return backend.Empty{}, err
	}
	x, err := find(all, in.Name, in.File)
	if err != nil {
		return backend.Empty{}, err
	}
	if p := x.problem(); p != nil {
		return backend.Empty{}, p
	}
	s.mu.Lock()
	d := s.last.wanted[in.Name]
	s.mu.Unlock()
	if d == nil || d.id() != x.id() {
		s.again() // something that it needs was missing, such as a secret
		return backend.Empty{}, nil
	}
	if err := s.manager.Reconnect(ctx, in.Name); err != nil {
		return backend.Empty{}, reason(client.Status{Name: in.Name, Reason: err})
	}
	return backend.Empty{}, nil
}

// Test is mcp.test: a draft is connected once, with the secrets of the server that it
// replaces. An untrusted server is not connected here either.
func (s *Servers) Test(ctx context.Context, in ServerTestRequest) (ServerTestReply, error) {
	d, err := s.drafted(ctx, in.Draft, in.Replaces, in.File)
	if err != nil {
		return ServerTestReply{}, err
	}
	server, missing := s.connectable(d.definition, d.secret)
	for _, f := range missing {
		if !f.Harmless {
			return ServerTestReply{}, backend.Problem(backend.ProblemServerDraft, f.Message)
		}
	}
	trial := s.manager.Try(ctx, server)
	reply := ServerTestReply{
		Peer:   ServerPeer{trial.Status.Peer.Protocol, trial.Status.Peer.Name, trial.Status.Peer.Version, trial.Status.Peer.Instructions},
		Stderr: trial.Stderr, Error: reason(trial.Status),
	}
	for _, t := range trial.Status.Tools {
		reply.Tools = append(reply.Tools, ServerTool{
			Name: t.Name, Model: t.Model, Title: t.Title, Description: t.Description, Schema: t.Schema, Tokens: t.Tokens,
			Hints: ServerToolHints{t.ReadOnly, t.Destructive},
		})
	}
	for _, step := range trial.Steps {
		reply.Steps = append(reply.Steps, ServerTestStep{string(step.Name), step.Took.Milliseconds(), step.Err == nil, step.Count})
	}
	if err := ctx.Err(); err != nil {
		return reply, err
	}
	return reply, nil
}
