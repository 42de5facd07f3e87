package workbench

// serverMethods registers the methods of MCP servers and of slash commands.
func (w *Workbench) serverMethods(d *Dispatcher) {
	handle(d, "mcp.list", w.servers.List)
	handle(d, "mcp.show", w.servers.Show)
	handle(d, "mcp.switch", w.servers.Switch)
	handle(d, "mcp.reconnect", w.servers.Reconnect)
	handle(d, "mcp.accept_tool", w.servers.AcceptTool)
	handle(d, "mcp.save", w.servers.Save)
	handle(d, "mcp.remove", w.servers.Remove)
	handle(d, "mcp.test", w.servers.Test)
	handle(d, "mcp.authorise", w.servers.Authorise)
	handle(d, "mcp.forget", w.servers.Forget)
	handle(d, "mcp.importable", w.servers.Importable)
	handle(d, "mcp.import", w.servers.Import)
	handle(d, "mcp.answer", w.servers.Answer)
	handle(d, "commands.list", w.servers.Commands)
	handle(d, "commands.expand", w.servers.Expand)
	handle(d, "commands.complete", w.servers.Complete)
}
