/** The server and the tool in a name such as mcp__server__tool; undefined for a tool of Atelier (OAS-407). */
export function serverCall(name: string): { server: string; tool: string } | undefined {
  const { 1: server, 2: tool } = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
  return server && tool ? { server, tool } : undefined
}
