// Package mcp keeps the servers of the Model Context Protocol that the user and the
// project configured: read from their files, trusted, switched, connected, tried,
// and shown as they are.
package mcp

import (
	"context"

	"atelier.dev/atelier/backend"
)

// Servers are the servers of one folder. It is safe for concurrent use.
type Servers struct{}

// List is mcp.list.
func (s *Servers) List(context.Context, ServersRequest) (ServersReply, error) {
	return ServersReply{}, nil
}

// Show is mcp.show.
func (s *Servers) Show(context.Context, ServerRequest) (ServerShown, error) {
	return ServerShown{}, nil
}

// Switch is mcp.switch.
func (s *Servers) Switch(context.Context, ServerSwitchRequest) (backend.Empty, error) {
	return backend.Empty{}, nil
}

// Reconnect is mcp.reconnect. It starts a program anew.
func (s *Servers) Reconnect(context.Context, ServerRequest) (backend.Empty, error) {
	return backend.Empty{}, nil
}

// AcceptTool is mcp.accept_tool.
func (s *Servers) AcceptTool(context.Context, ServerToolAcceptRequest) (backend.Empty, error) {
	return backend.Empty{}, nil
}

// Save is mcp.save.
func (s *Servers) Save(context.Context, ServerSaveRequest) (backend.Empty, error) {
	return backend.Empty{}, nil
}

// Remove is mcp.remove.
func (s *Servers) Remove(context.Context, ServerRequest) (backend.Empty, error) {
	return backend.Empty{}, nil
}

// Test is mcp.test.
func (s *Servers) Test(context.Context, ServerTestRequest) (ServerTestReply, error) {
	return ServerTestReply{}, nil
}

// Authorise is mcp.authorise.
func (s *Servers) Authorise(context.Context, ServerRequest) (ServerAuthoriseReply, error) {
	return ServerAuthoriseReply{}, nil
}

// Forget is mcp.forget: the tokens for a server are removed.
func (s *Servers) Forget(context.Context, ServerRequest) (backend.Empty, error) {
	return backend.Empty{}, nil
}

// Importable is mcp.importable.
func (s *Servers) Importable(context.Context, backend.Empty) (ServerImportReply, error) {
	return ServerImportReply{}, nil
}

// Import is mcp.import.
func (s *Servers) Import(context.Context, ServerImportRequest) (backend.Empty, error) {
	return backend.Empty{}, nil
}

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
