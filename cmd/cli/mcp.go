package cli

import "fmt"

const mcpUsage = `Usage: atelier mcp list|test|add|remove|serve [flags]

  list    lists the servers of this project and of yours, and connects them to say what they are like
  test    connects one server, and says how that went step by step
  add     adds a server
  remove  removes a server
  serve   offers Atelier's tools to other programs
`

// mcp is about servers of the Model Context Protocol, Atelier's own among them.
func (c *command) mcp(args []string) int {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	switch name {
	case "list":
		return c.listServers(args[1:])
	case "test":
		return c.testServer(args[1:])
	case "add":
		return c.addServer(args[1:])
	case "remove":
		return c.removeServer(args[1:])
	case "serve":
		return c.serveTools(args[1:])
	case "help", "--help", "-h":
		fmt.Fprint(c.err, mcpUsage)
		return exitDone
	}
	fmt.Fprint(c.err, mcpUsage)
	return exitUsage
}
