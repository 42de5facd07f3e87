package mcp

import (
	"context"

	"atelier.dev/atelier/backend"
)

// waiting lists the questions of servers that a person has to answer.
func (s *Servers) waiting(string) []ServerQuestion { return nil }

// commandName is the name of a prompt as a slash command.
func commandName(server, prompt string) string { return "mcp__" + server + "__" + prompt }

// Answer is mcp.answer.
func (s *Servers) Answer(context.Context, ServerAnswer) (backend.Empty, error) {
	return backend.Empty{}, nil
}

// Commands is commands.list.
func (s *Servers) Commands(context.Context, ServersRequest) (CommandsReply, error) {
	return CommandsReply{}, nil
}

// Expand is commands.expand.
func (s *Servers) Expand(context.Context, ExpandRequest) (ExpandReply, error) {
	return ExpandReply{}, nil
}

// Complete is commands.complete.
func (s *Servers) Complete(context.Context, CompleteRequest) (CompleteReply, error) {
	return CompleteReply{}, nil
}
