package mcp

import (
	"context"

	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/backend"
)

// asker answers what servers ask; nil refuses everything.
func (c Config) asker() client.Asker {
	if c.Questions == nil {
		return nil
	}
	return c.Questions
}

// waiting lists the questions of servers that a person has to answer.
func (s *Servers) waiting() []ServerQuestion {
	if s.cfg.Questions == nil {
		return nil
	}
	return s.cfg.Questions.Waiting()
}

// Answer is mcp.answer.
func (s *Servers) Answer(ctx context.Context, in ServerAnswer) (backend.Empty, error) {
	if s.cfg.Questions == nil {
		return backend.Empty{}, backend.Problem(backend.ProblemServerQuestionGone)
	}
	return s.cfg.Questions.Answer(ctx, in)
}

// commands returns the commands of the servers that are on in a session.
func (s *Servers) commands(ctx context.Context, session string) (commands, error) {
	offer, err := s.Offer(ctx, session)
	if err != nil {
		return commands{}, err
	}
	return commands{prompter: s.manager, on: func(server string) bool { return offer.Server(server) == nil }}, nil
}

// Commands is commands.list.
func (s *Servers) Commands(ctx context.Context, in ServersRequest) (backend.CommandsReply, error) {
	c, err := s.commands(ctx, in.Session)
	if err != nil {
		return backend.CommandsReply{}, err
	}
	return c.list(ctx), nil
}

// Expand is commands.expand.
func (s *Servers) Expand(ctx context.Context, in ExpandRequest) (ExpandReply, error) {
	c, err := s.commands(ctx, in.Session)
	if err != nil {
		return ExpandReply{}, err
	}
	return c.expand(ctx, in)
}

// Complete is commands.complete.
func (s *Servers) Complete(ctx context.Context, in CompleteRequest) (CompleteReply, error) {
	c, err := s.commands(ctx, "")
	if err != nil {
		return CompleteReply{}, err
	}
	return c.complete(ctx, in), nil
}
