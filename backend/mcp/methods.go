package mcp

import "atelier.dev/atelier/backend/dispatch"

// Register registers the methods of MCP servers, but for their list, which depends on a session.
func (s *Servers) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "mcp.show", s.Show)
	dispatch.Handle(d, "mcp.switch", s.Switch)
	dispatch.Handle(d, "mcp.reconnect", s.Reconnect)
	dispatch.Handle(d, "mcp.accept_tool", s.AcceptTool)
	dispatch.Handle(d, "mcp.save", s.Save)
	dispatch.Handle(d, "mcp.remove", s.Remove)
	dispatch.Handle(d, "mcp.test", s.Test)
	dispatch.Handle(d, "mcp.authorise", s.Authorise)
	dispatch.Handle(d, "mcp.forget", s.Forget)
	dispatch.Handle(d, "mcp.importable", s.Importable)
	dispatch.Handle(d, "mcp.import", s.Import)
	dispatch.Handle(d, "mcp.answer", s.Answer)
	dispatch.Handle(d, "commands.expand", s.Expand)
	dispatch.Handle(d, "commands.complete", s.Complete)
}
