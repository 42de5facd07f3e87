package cli

import "fmt"

const mcpUsage = `Usage: atelier mcp serve [flags] [DIR]

  serve  offers Atelier's tools to a client of the Model Context Protocol
`

// mcp is about servers of the Model Context Protocol, Atelier's own among them.
func (c *command) mcp(args []string) int {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	switch name {
	case "serve":
		return c.serveTools(args[1:])
	case "help", "--help", "-h":
		fmt.Fprint(c.err, mcpUsage)
		return exitDone
	}
	fmt.Fprint(c.err, mcpUsage)
	return exitUsage
}
