// Package mcp keeps the servers of the Model Context Protocol that the user and the
// project configured: read from their files, trusted, switched, connected, tried,
// and shown as they are.
package mcp

import (
	"context"

	"atelier.dev/atelier/backend"
)

// Importable is mcp.importable.
func (s *Servers) Importable(context.Context, backend.Empty) (ServerImportReply, error) {
	return ServerImportReply{}, nil
}

// Import is mcp.import.
func (s *Servers) Import(context.Context, ServerImportRequest) (backend.Empty, error) {
	return backend.Empty{}, nil
}
